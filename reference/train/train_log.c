/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/train/train_log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/files/file_error.h"

static ng_status fail(ng_error *error, const char *path, const char *field)
{
    return ng_file_fail(error, NG_BAD_FILE, path, NULL, field, "%s",
                        strerror(errno));
}

ng_status ng_train_log_open(ng_train_log *log, const char *path, int64_t size,
                            ng_error *error)
{
    struct stat facts;
    char last = '\n';
    /* A resumed run does not make the log that it misses. A pipe without a
     * reader would block here, and is refused. */
    const int descriptor = open(
        path, (size == 0 ? O_RDWR | O_CREAT : O_RDWR) | O_CLOEXEC | O_NONBLOCK,
        0666);
    ng_status status = NG_OK;

    if (descriptor < 0)
        return fail(error, path, "open");
    if (fstat(descriptor, &facts) != 0)
        status = fail(error, path, "open");
    else if (!S_ISREG(facts.st_mode))
        status = ng_file_fail(error, NG_BAD_FILE, path, NULL, "open",
                              "is not a regular file");
    /* Not every file system has locks: only another's counts. */
    else if (flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        status = ng_file_fail(error, NG_BAD_FILE, path, NULL, "lock",
                              "%s: another process writes it", strerror(EBUSY));
    else if (facts.st_size < size)
        status = ng_file_fail(error, NG_BAD_FILE, path, NULL, "log",
                              "has %" PRId64 " bytes, the checkpoint knows "
                              "%" PRId64,
                              (int64_t)facts.st_size, size);
    else if (size > 0 && pread(descriptor, &last, 1, size - 1) != 1)
        status = fail(error, path, "read");
    else if (last != '\n')
        status = ng_file_fail(error, NG_BAD_FILE, path, NULL, "log",
                              "no line ends at byte %" PRId64
                              ", where the checkpoint knows one",
                              size);
    else if (ftruncate(descriptor, size) != 0
             || lseek(descriptor, 0, SEEK_END) < 0)
        status = fail(error, path, "cut");
    if (status != NG_OK) {
        close(descriptor);
        return status;
    }
    *log = (ng_train_log){descriptor, size, path};
    return NG_OK;
}

/* Write all bytes, or take back those of them that were written. */
static ng_status append(ng_train_log *log, const char *text, size_t size,
                        ng_error *error)
{
    size_t done = 0;

    while (done < size) {
        const ssize_t n = write(log->descriptor, text + done, size - done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            const ng_status status = fail(error, log->path, "write");

            if (ftruncate(log->descriptor, log->size) == 0)
                (void)lseek(log->descriptor, 0, SEEK_END);
            return status;
        }
        done += (size_t)n;
    }
    log->size += (int64_t)size;
    return NG_OK;
}

ng_status ng_train_log_line(ng_train_log *log, const json_t *object,
                            ng_error *error)
{
    char *text = json_dumps(object, JSON_COMPACT);

    if (text == NULL)
        return ng_file_fail(error, NG_NO_MEMORY, log->path, NULL, "line",
                            "out of memory");

    const size_t length = strlen(text);

    text[length] = '\n'; /* in place of the end: no text any more */
    const ng_status status = append(log, text, length + 1, error);
    free(text);
    return status;
}

ng_status ng_train_log_sync(const ng_train_log *log, ng_error *error)
{
    /* A pipe or a terminal cannot be synced. */
    if (fsync(log->descriptor) != 0 && errno != EINVAL && errno != EROFS)
        return fail(error, log->path, "sync");
    return NG_OK;
}

ng_status ng_train_log_close(ng_train_log *log, ng_error *error)
{
    if (log == NULL || log->path == NULL)
        return NG_OK;

    ng_status status = ng_train_log_sync(log, error);

    if (close(log->descriptor) != 0 && status == NG_OK)
        status = fail(error, log->path, "close");
    *log = (ng_train_log){.descriptor = -1};
    return status;
}

json_t *ng_json_number(double x)
{
    if (isnan(x))
        return json_string("nan");
    if (isinf(x))
        return json_string(x > 0 ? "inf" : "-inf");
    return json_real(x);
}
