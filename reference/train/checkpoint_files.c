/* SPDX-License-Identifier: Apache-2.0 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* renameat2 */
#endif
#include "reference/train/checkpoint_files.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/files/checksum.h"
#include "formats/files/file_error.h"
#include "reference/train/checkpoint.h"

static const char STEP_PREFIX[] = "step-";
static const char PARTIAL_PREFIX[] = ".step-";

static ng_status fail(ng_error *error, const char *path, const char *field)
{
    return ng_file_fail(error, NG_BAD_FILE, path, NULL, field, "%s",
                        strerror(errno));
}

char *ng_checkpoint_join(const char *directory, const char *name,
                         const char *suffix)
{
    const size_t size = strlen(directory) + strlen(name) + strlen(suffix) + 2;
    char *path = malloc(size);

    if (path != NULL)
        snprintf(path, size, "%s/%s%s", directory, name, suffix);
    return path;
}

bool ng_checkpoint_name_fits(const char *name)
{
    size_t length = 0;

    for (; name[length] != '\0'; length++)
        if (length == NG_CHECKPOINT_MAX_SHARD
            || strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                      "0123456789-_",
                      name[length])
                   == NULL)
            return false;
    return length > 0;
}

bool ng_checkpoint_names(const json_t *files, const char *name)
{
    size_t i;
    json_t *file;

    json_array_foreach(files, i, file) {
        const json_t *own = json_object_get(file, "name");

        if (strcmp(json_string_value(own), name) == 0)
            return true;
    }
    return false;
}

bool ng_checkpoint_step_of(int64_t *step, const char *name)
{
    enum { DIGITS = 10 };
    const size_t prefix = sizeof STEP_PREFIX - 1;
    int64_t value = 0;

    if (strncmp(name, STEP_PREFIX, prefix) != 0
        || strlen(name) != prefix + DIGITS)
        return false;
    for (const char *digit = name + prefix; *digit != '\0'; digit++) {
        if (*digit < '0' || *digit > '9')
            return false;
        value = 10 * value + (*digit - '0');
    }
    *step = value;
    return true;
}

void ng_checkpoint_step_names(char *final, char *partial, size_t size,
                              int64_t step)
{
    snprintf(final, size, "%s%010" PRId64, STEP_PREFIX, step);
    snprintf(partial, size, "%s%010" PRId64 ".partial", PARTIAL_PREFIX, step);
}

void ng_checkpoint_remove(const char *path)
{
    DIR *directory = opendir(path);
    const struct dirent *entry;

    if (directory == NULL)
        return;
    // cppcheck-suppress readdirCalled ; of one stream it is safe in glibc
    while ((entry = readdir(directory)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            (void)unlinkat(dirfd(directory), entry->d_name, 0);
    closedir(directory);
    (void)rmdir(path);
}

ng_status ng_checkpoint_sweep(const char *root, ng_error *error)
{
    DIR *directory = opendir(root);
    const struct dirent *entry;

    if (directory == NULL)
        return fail(error, root, "open");
    // cppcheck-suppress readdirCalled ; of one stream it is safe in glibc
    while ((entry = readdir(directory)) != NULL) {
        if (strncmp(entry->d_name, PARTIAL_PREFIX, sizeof PARTIAL_PREFIX - 1)
            != 0)
            continue;

        char *path = ng_checkpoint_join(root, entry->d_name, "");

        if (path != NULL)
            ng_checkpoint_remove(path);
        free(path);
    }
    closedir(directory);
    return NG_OK;
}

ng_status ng_checkpoint_sync(const char *path, ng_error *error)
{
    const int descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (descriptor < 0)
        return fail(error, path, "sync");
    /* Not every file system can sync a directory. */
    const bool failed = fsync(descriptor) != 0 && errno != EINVAL;
    const ng_status status = failed ? fail(error, path, "sync") : NG_OK;
    close(descriptor);
    return status;
}

void ng_checkpoint_sync_above(const char *path)
{
    char *above = ng_checkpoint_join(path, "..", "");

    if (above != NULL)
        (void)ng_checkpoint_sync(above, NULL);
    free(above);
}

/* Whether the two were exchanged; then `from` holds what was at `to`. */
static bool exchange(const char *from, const char *to)
{
#ifdef RENAME_EXCHANGE
    return renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_EXCHANGE) == 0;
#else
    (void)from, (void)to;
    return false;
#endif
}

ng_status ng_checkpoint_place(const char *from, const char *to, ng_error *error)
{
    if (rename(from, to) == 0)
        return NG_OK;
    if (errno != ENOTEMPTY && errno != EEXIST)
        return fail(error, to, "rename");
    if (exchange(from, to)) {
        ng_checkpoint_remove(from);
        return NG_OK;
    }
    ng_checkpoint_remove(to);
    return rename(from, to) == 0 ? NG_OK : fail(error, to, "rename");
}

char *ng_checkpoint_text(const json_t *manifest)
{
    char *dumped = json_dumps(manifest, JSON_INDENT(1));

    if (dumped == NULL)
        return NULL;

    const size_t length = strlen(dumped);
    char *text = realloc(dumped, length + 2);

    if (text == NULL) {
        free(dumped);
        return NULL;
    }
    memcpy(text + length, "\n", 2);
    return text;
}

char *ng_checkpoint_sealed(json_t *manifest)
{
    char digits[NG_CHECKSUM_TEXT];
    char *text = ng_checkpoint_text(manifest);

    if (text == NULL)
        return NULL;
    ng_checksum_text(digits, ng_checksum(text, strlen(text)));
    free(text);
    if (json_object_set_new(manifest, "checksum", json_string(digits)) != 0)
        return NULL;
    return ng_checkpoint_text(manifest);
}
