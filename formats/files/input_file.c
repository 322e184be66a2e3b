/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/files/input_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/files/file_error.h"

ng_status ng_input_open(ng_input_file *file, const char *path,
                        ng_error *error)
{
    struct stat facts;
    ng_status status = NG_OK;
    /* A pipe without a writer would block here, and is refused below. */
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (descriptor < 0)
        return ng_file_fail(error, NG_BAD_FILE, path, NULL, "open", "%s",
                            strerror(errno));
    if (fstat(descriptor, &facts) != 0)
        status = ng_file_fail(error, NG_BAD_FILE, path, NULL, "open", "%s",
                              strerror(errno));
    else if (!S_ISREG(facts.st_mode))
        status = ng_file_fail(error, NG_BAD_FILE, path, NULL, "open",
                              "not a regular file");
    if (status != NG_OK) {
        close(descriptor);
        return status;
    }
    *file = (ng_input_file){path, descriptor, (int64_t)facts.st_size};
    return NG_OK;
}

ng_status ng_input_read(void *bytes, const ng_input_file *file,
                        int64_t offset, size_t size, ng_error *error)
{
    /* Linux moves at most about 2^31 bytes a call. */
    enum { MOST_A_CALL = 1 << 30 };
    char *to = bytes;

    while (size > 0) {
        const size_t part = size < MOST_A_CALL ? size : MOST_A_CALL;
        const ssize_t n = pread(file->descriptor, to, part, (off_t)offset);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return ng_file_fail(error, NG_BAD_FILE, file->path, NULL, "read",
                                "%s", strerror(errno));
        if (n == 0)
            return ng_file_fail(error, NG_BAD_FILE, file->path, NULL, "read",
                                "the file ends at byte %lld, %zu bytes early",
                                (long long)offset, size);
        to += n;
        offset += n;
        size -= (size_t)n;
    }
    return NG_OK;
}

void ng_input_close(ng_input_file *file)
{
    close(file->descriptor);
    file->descriptor = -1;
}
