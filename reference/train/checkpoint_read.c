/* SPDX-License-Identifier: Apache-2.0
 *
 * A checkpoint from outside is hostile: names are checked before a path is made
 * of them, sizes and checksums before a file is parsed.
 */
#include "reference/train/checkpoint.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/files/checksum.h"
#include "formats/files/file_error.h"
#include "formats/files/input_file.h"
#include "formats/files/safetensors.h"
#include "reference/train/checkpoint_files.h"

enum { MAX_MANIFEST = 64 << 20 }; /* bytes */

static ng_status no_memory(ng_error *error, const char *path)
{
    (void)ng_file_fail(error, NG_NO_MEMORY, path, NULL, "checkpoint",
                       "out of memory");
    return NG_NO_MEMORY;
}

ng_status ng_checkpoint_latest(char **path, const char *root, ng_error *error)
{
    DIR *directory = opendir(root);
    const struct dirent *entry;
    int64_t step, highest = -1;
    char name[64] = "";
    int cause;

    *path = NULL;
    if (directory == NULL)
        return errno == ENOENT ? NG_OK
                               : ng_file_fail(error, NG_BAD_FILE, root, NULL,
                                              "open", "%s", strerror(errno));
    errno = 0;
    // cppcheck-suppress readdirCalled ; of one stream it is safe in glibc
    while ((entry = readdir(directory)) != NULL)
        if (ng_checkpoint_step_of(&step, entry->d_name) && step > highest) {
            highest = step;
            strcpy(name, entry->d_name); /* of 15 bytes */
        }
    cause = errno;
    closedir(directory);
    /* A list that breaks off may lack the highest: no older one instead. */
    if (cause != 0)
        return ng_file_fail(error, NG_BAD_FILE, root, NULL, "read", "%s",
                            strerror(cause));
    if (highest < 0)
        return NG_OK;
    *path = ng_checkpoint_join(root, name, "");
    return *path == NULL ? no_memory(error, root) : NG_OK;
}

/* The bytes of a file, to be freed, or null with *status. */
static char *read_text(size_t *length, ng_status *status, const char *path,
                       ng_error *error)
{
    ng_input_file file;
    char *text = NULL;

    *status = ng_input_open(&file, path, error);
    if (*status != NG_OK)
        return NULL;
    *length = (size_t)file.size;
    if (file.size > MAX_MANIFEST)
        *status = ng_file_fail(error, NG_BAD_FILE, path, NULL, "size",
                               "%" PRId64 " bytes are more than %d", file.size,
                               MAX_MANIFEST);
    else if ((text = malloc(*length + 1)) == NULL)
        *status = no_memory(error, path);
    else
        *status = ng_input_read(text, &file, 0, *length, error);
    ng_input_close(&file);
    if (*status != NG_OK) {
        free(text);
        text = NULL;
    }
    return text;
}

/* Whether the text is what writing the object, which may lose its checksum,
 * would give: then no byte of it has changed. */
static ng_status check_seal(json_t *manifest, const char *text, size_t length,
                            const char *path, ng_error *error)
{
    json_object_del(manifest, "checksum");

    char *want = ng_checkpoint_sealed(manifest);

    if (want == NULL)
        return no_memory(error, path);

    const bool same = strlen(want) == length && memcmp(want, text, length) == 0;

    free(want);
    return same ? NG_OK
                : ng_file_fail(error, NG_BAD_FILE, path, NULL, "checksum",
                               "does not fit: the file is altered or cut");
}

static ng_status parse_manifest(json_t **out, const char *text, size_t length,
                                const char *path, ng_error *error)
{
    json_error_t fault;
    json_t *manifest = json_loadb(text, length, JSON_REJECT_DUPLICATES, &fault);
    const json_t *schema = json_object_get(manifest, "schema");
    ng_status status;

    if (manifest == NULL)
        return ng_file_fail(error, NG_BAD_FILE, path, NULL, "JSON",
                            "line %d: %s", fault.line, fault.text);
    if (!json_is_string(schema)
        || strcmp(json_string_value(schema), NG_CHECKPOINT_SCHEMA) != 0)
        status = ng_file_fail(error, NG_BAD_FILE, path, NULL, "schema",
                              "is not \"%s\"", NG_CHECKPOINT_SCHEMA);
    else
        status = check_seal(manifest, text, length, path, error);
    if (status == NG_OK)
        *out = manifest;
    else
        json_decref(manifest);
    return status;
}

/* Check a file that the manifest names; add its bytes. */
static ng_status check_file(int64_t *bytes, const json_t *file,
                            const char *directory, const char *manifest,
                            ng_error *error)
{
    const char *name = json_string_value(json_object_get(file, "name"));
    const char *want = json_string_value(json_object_get(file, "xxh3"));
    const json_t *want_size = json_object_get(file, "bytes");
    char digits[NG_CHECKSUM_TEXT];
    uint64_t checksum;
    int64_t size;

    if (name == NULL || name[0] == '.' || name[0] == '\0'
        || strchr(name, '/') != NULL || want == NULL
        || !json_is_integer(want_size))
        return ng_file_fail(error, NG_BAD_FILE, manifest, NULL, "files",
                            "has a bad entry");

    char *path = ng_checkpoint_join(directory, name, "");

    if (path == NULL)
        return no_memory(error, manifest);
    ng_status status = ng_checksum_file(&checksum, &size, path, error);
    if (status == NG_OK && size != json_integer_value(want_size))
        status = ng_file_fail(error, NG_BAD_FILE, path, NULL, "size",
                              "%" PRId64 " bytes, the manifest says %" PRId64,
                              size, (int64_t)json_integer_value(want_size));
    if (status == NG_OK) {
        ng_checksum_text(digits, checksum);
        *bytes += size;
        if (strcmp(digits, want) != 0)
            status = ng_file_fail(error, NG_BAD_FILE, path, NULL, "checksum",
                                  "%s, the manifest says %.16s", digits, want);
    }
    free(path);
    return status;
}

/* The step that the manifest tells is in range, and that of the directory's
 * name where it has one. */
static ng_status check_step(ng_checkpoint *checkpoint, const char *directory,
                            const char *path, ng_error *error)
{
    const json_t *step = json_object_get(checkpoint->manifest, "step");
    const char *slash = strrchr(directory, '/');
    int64_t named;

    checkpoint->step = json_integer_value(step);
    named = checkpoint->step;
    if (!json_is_integer(step) || checkpoint->step < 0
        || checkpoint->step > NG_CHECKPOINT_MAX_STEP)
        return ng_file_fail(error, NG_BAD_FILE, path, NULL, "step",
                            "is not a number of steps");
    (void)ng_checkpoint_step_of(&named, slash == NULL ? directory : slash + 1);
    return named == checkpoint->step
               ? NG_OK
               : ng_file_fail(error, NG_BAD_FILE, path, NULL, "step",
                              "%" PRId64 ", the directory's name says %" PRId64,
                              checkpoint->step, named);
}

static ng_status check_all(ng_checkpoint *checkpoint, const char *directory,
                           const char *path, ng_error *error)
{
    const json_t *files = json_object_get(checkpoint->manifest, "files");
    const ng_status checked = check_step(checkpoint, directory, path, error);
    size_t i;
    json_t *file;

    if (checked != NG_OK)
        return checked;
    checkpoint->state = json_object_get(checkpoint->manifest, "state");
    if (!json_is_array(files))
        return ng_file_fail(error, NG_BAD_FILE, path, NULL, "files",
                            "is not an array");
    json_array_foreach(files, i, file)
    {
        const ng_status status =
            check_file(&checkpoint->bytes, file, directory, path, error);

        if (status != NG_OK)
            return status;
    }
    return NG_OK;
}

/* Read and check the manifest, and all files of the directory that it names. */
static ng_status open_manifest(ng_checkpoint *opened, const char *directory,
                               const char *manifest, ng_error *error)
{
    size_t length = 0;
    ng_status status;
    char *text = read_text(&length, &status, manifest, error);

    if (text == NULL)
        return status;
    status = parse_manifest(&opened->manifest, text, length, manifest, error);
    free(text);
    if (status != NG_OK)
        return status;
    opened->bytes = (int64_t)length;
    return check_all(opened, directory, manifest, error);
}

ng_status ng_checkpoint_open(ng_checkpoint *out, const char *path,
                             ng_error *error)
{
    ng_checkpoint opened = {0};
    char *manifest = ng_checkpoint_join(path, NG_CHECKPOINT_MANIFEST, "");

    ng_status status = manifest == NULL
                           ? no_memory(error, path)
                           : open_manifest(&opened, path, manifest, error);

    if (status == NG_OK && (opened.path = strdup(path)) == NULL)
        status = no_memory(error, path);
    free(manifest);
    if (status == NG_OK)
        *out = opened;
    else
        ng_checkpoint_close(&opened);
    return status;
}

ng_status ng_checkpoint_load(ng_tensor_file *out,
                             const ng_checkpoint *checkpoint, const char *name,
                             ng_error *error)
{
    if (!ng_checkpoint_name_fits(name))
        return ng_file_fail(error, NG_BAD_VALUE, checkpoint->path, NULL,
                            "shard", "\"%.64s\" cannot be a name", name);

    char *path =
        ng_checkpoint_join(checkpoint->path, name, NG_CHECKPOINT_SUFFIX);

    if (path == NULL)
        return no_memory(error, checkpoint->path);
    const json_t *files = json_object_get(checkpoint->manifest, "files");
    const ng_status status =
        ng_checkpoint_names(files, strrchr(path, '/') + 1)
            ? ng_safetensors_read(out, path, error)
            : ng_file_fail(error, NG_BAD_FILE, path, NULL, "manifest",
                           "does not name this shard");

    free(path);
    return status;
}

void ng_checkpoint_close(ng_checkpoint *checkpoint)
{
    if (checkpoint == NULL)
        return;
    json_decref(checkpoint->manifest);
    free(checkpoint->path);
    *checkpoint = (ng_checkpoint){0};
}
