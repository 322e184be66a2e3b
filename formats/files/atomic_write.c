/* SPDX-License-Identifier: Apache-2.0 */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700       /* realpath is in POSIX's XSI option */
#endif
#include "formats/files/atomic_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/files/file_error.h"

static ng_status fail(ng_error *error, const char *path, const char *field)
{
    const int cause = errno;

    return ng_file_fail(error, cause == ENOMEM ? NG_NO_MEMORY : NG_BAD_FILE,
                        path, NULL, field, "%s", strerror(cause));
}

/* Bytes of path up to and with its last slash. */
static size_t directory_length(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL ? 0 : (size_t)(slash - path) + 1;
}

/* Create a file beside `path` that no one else has. mkstemp would do, were its
 * files not private to their owner whatever the umask says. */
static int create_beside(char **name, const char *path)
{
    static atomic_uint counter;
    enum { SUFFIX_SIZE = 64, TRIES = 1000 };
    const size_t directory = directory_length(path);
    char *temporary = malloc(directory + SUFFIX_SIZE);

    if (temporary == NULL) {
        errno = ENOMEM;
        return -1;
    }
    memcpy(temporary, path, directory);
    for (int tries = 0; tries < TRIES; tries++) {
        snprintf(temporary + directory, SUFFIX_SIZE, ".ng-%ld-%u.tmp",
                 (long)getpid(), atomic_fetch_add(&counter, 1));
        const int descriptor =
            open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor >= 0) {
            *name = temporary;
            return descriptor;
        }
        if (errno != EEXIST)
            break;
    }
    free(temporary);
    return -1;
}

ng_status ng_atomic_begin(ng_atomic_file *file, const char *path,
                          ng_error *error)
{
    struct stat existing;
    ng_atomic_file begun = {0};

    *file = begun;
    const bool exists = stat(path, &existing) == 0;
    if (!exists && errno != ENOENT)
        return fail(error, path, "open");
    if (exists && !S_ISREG(existing.st_mode))
        return ng_file_fail(error, NG_BAD_FILE, path, NULL, "open",
                            "exists and is not a regular file");

    char *target = exists ? realpath(path, NULL) : strdup(path);
    if (target == NULL)
        return fail(error, path, "open");
    const int descriptor = create_beside(&begun.temporary, target);
    if (descriptor < 0) {
        const ng_status status = fail(error, path, "temporary file beside it");
        free(target);
        return status;
    }
    begun.path = target;
    /* Some file systems keep no permissions; a new file's are then right. */
    if (exists)
        (void)fchmod(descriptor, existing.st_mode & 0777);
    begun.stream = fdopen(descriptor, "wb");
    if (begun.stream == NULL) {
        const ng_status status = fail(error, path, "open");
        close(descriptor);
        ng_atomic_abandon(&begun);
        return status;
    }
    *file = begun;
    return NG_OK;
}

ng_status ng_atomic_write(ng_atomic_file *file, const void *bytes, size_t size,
                          ng_error *error)
{
    if (size > 0 && fwrite(bytes, 1, size, file->stream) != size)
        return fail(error, file->path, "write");
    return NG_OK;
}

/* Make the rename itself last. The new file is in place by now, and not every
 * file system can sync a directory, so that a failure here is none. */
static void sync_directory(char *path)
{
    const size_t length = directory_length(path);

    path[length] = '\0';
    const int descriptor =
        open(length == 0 ? "." : path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor >= 0) {
        (void)fsync(descriptor);
        close(descriptor);
    }
}

ng_status ng_atomic_commit(ng_atomic_file *file, ng_error *error)
{
    ng_status status = NG_OK;

    if (ferror(file->stream))
        status = ng_file_fail(error, NG_BAD_FILE, file->path, NULL, "write",
                              "an earlier write failed");
    else if (fflush(file->stream) != 0)
        status = fail(error, file->path, "write");
    else if (fsync(fileno(file->stream)) != 0)
        status = fail(error, file->path, "sync");

    const int closed = fclose(file->stream);
    file->stream = NULL;
    if (status == NG_OK && closed != 0)
        status = fail(error, file->path, "close");
    if (status == NG_OK && rename(file->temporary, file->path) != 0)
        status = fail(error, file->path, "rename");
    if (status == NG_OK) {
        sync_directory(file->path);
        free(file->temporary);      /* the name only: nothing to remove */
        file->temporary = NULL;
    }
    ng_atomic_abandon(file);
    return status;
}

void ng_atomic_abandon(ng_atomic_file *file)
{
    if (file->stream != NULL)
        fclose(file->stream);
    if (file->temporary != NULL)
        unlink(file->temporary);
    free(file->temporary);
    free(file->path);
    *file = (ng_atomic_file){0};
}
