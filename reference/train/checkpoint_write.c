/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/train/checkpoint.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/files/atomic_write.h"
#include "formats/files/checksum.h"
#include "formats/files/file_error.h"
#include "formats/files/safetensors.h"
#include "reference/train/checkpoint_files.h"

static ng_status no_memory(ng_error *error, const char *root)
{
    (void)ng_file_fail(error, NG_NO_MEMORY, root, NULL, "checkpoint",
                       "out of memory");
    return NG_NO_MEMORY;
}

static ng_status directory_fault(const char *path, ng_error *error)
{
    return ng_file_fail(error, NG_BAD_FILE, path, NULL, "directory", "%s",
                        strerror(errno));
}

/* Make the root, if it is not there. */
static ng_status make_root(const char *root, ng_error *error)
{
    if (mkdir(root, 0777) != 0)
        return errno == EEXIST ? NG_OK : directory_fault(root, error);
    ng_checkpoint_sync_above(root);
    return NG_OK;
}

/* Free what the writer owns; leave the disk alone. */
static void forget(ng_checkpoint_writer *writer)
{
    free(writer->root);
    free(writer->partial);
    free(writer->final);
    json_decref(writer->files);
    *writer = (ng_checkpoint_writer){0};
}

ng_status ng_checkpoint_begin(ng_checkpoint_writer *writer, const char *root,
                              int64_t step, ng_error *error)
{
    char name[64], partial[64];
    ng_checkpoint_writer begun = {.step = step};

    *writer = begun;
    if (step < 0 || step > NG_CHECKPOINT_MAX_STEP)
        return ng_file_fail(error, NG_BAD_VALUE, root, NULL, "step",
                            "%" PRId64 " is not in 0 .. %" PRId64, step,
                            NG_CHECKPOINT_MAX_STEP);
    ng_checkpoint_step_names(name, partial, sizeof name, step);
    begun.root = strdup(root);
    begun.final = ng_checkpoint_join(root, name, "");
    begun.partial = ng_checkpoint_join(root, partial, "");
    begun.files = json_array();

    ng_status status = NG_OK;

    if (begun.root == NULL || begun.final == NULL || begun.partial == NULL
        || begun.files == NULL)
        status = no_memory(error, root);
    if (status == NG_OK)
        status = make_root(root, error);
    if (status == NG_OK)
        status = ng_checkpoint_sweep(root, error);
    if (status == NG_OK && mkdir(begun.partial, 0777) != 0)
        status = directory_fault(begun.partial, error);
    if (status == NG_OK)
        *writer = begun;
    else
        forget(&begun);
    return status;
}

ng_status ng_checkpoint_add(ng_checkpoint_writer *writer, const char *name,
                            const ng_tensor_file *tensors, ng_error *error)
{
    char file[NG_CHECKPOINT_MAX_SHARD + sizeof NG_CHECKPOINT_SUFFIX];
    char digits[NG_CHECKSUM_TEXT];
    uint64_t checksum;
    int64_t size;

    if (!ng_checkpoint_name_fits(name))
        return ng_file_fail(error, NG_BAD_VALUE, writer->final, NULL, "shard",
                            "\"%.64s\" cannot be a name", name);
    snprintf(file, sizeof file, "%s%s", name, NG_CHECKPOINT_SUFFIX);
    if (ng_checkpoint_names(writer->files, file))
        return ng_file_fail(error, NG_BAD_VALUE, writer->final, NULL, "shard",
                            "\"%.64s\" is there already", name);

    char *path = ng_checkpoint_join(writer->partial, file, "");

    if (path == NULL)
        return no_memory(error, writer->root);
    ng_status status = ng_safetensors_write(path, tensors, error);
    if (status == NG_OK)
        status = ng_checksum_file(&checksum, &size, path, error);
    if (status == NG_OK) {
        ng_checksum_text(digits, checksum);
        if (json_array_append_new(writer->files,
                                  json_pack("{s:s, s:I, s:s}", "name", file,
                                            "bytes", (json_int_t)size, "xxh3",
                                            digits))
            != 0)
            status = no_memory(error, writer->root);
    }
    free(path);
    return status;
}

static ng_status write_text(const char *path, const char *text, ng_error *error)
{
    ng_atomic_file file;
    ng_status status = ng_atomic_begin(&file, path, error);

    if (status != NG_OK)
        return status;
    status = ng_atomic_write(&file, text, strlen(text), error);
    if (status == NG_OK)
        return ng_atomic_commit(&file, error);
    ng_atomic_abandon(&file);
    return status;
}

static ng_status write_manifest(const ng_checkpoint_writer *writer,
                                const json_t *state, ng_error *error)
{
    json_t *copy = state == NULL ? json_null() : json_deep_copy(state);
    json_t *manifest = json_pack(
        "{s:s, s:I, s:o, s:O}", "schema", NG_CHECKPOINT_SCHEMA, "step",
        (json_int_t)writer->step, "state", copy, "files", writer->files);
    char *path =
        ng_checkpoint_join(writer->partial, NG_CHECKPOINT_MANIFEST, "");
    char *text = manifest == NULL ? NULL : ng_checkpoint_sealed(manifest);
    ng_status status = path == NULL || text == NULL
                           ? no_memory(error, writer->root)
                           : write_text(path, text, error);

    free(text);
    free(path);
    json_decref(manifest);
    return status;
}

ng_status ng_checkpoint_commit(ng_checkpoint_writer *writer,
                               const json_t *state, ng_error *error)
{
    ng_status status = write_manifest(writer, state, error);

    if (status == NG_OK)
        status = ng_checkpoint_sync(writer->partial, error);
    if (status == NG_OK)
        status = ng_checkpoint_place(writer->partial, writer->final, error);
    if (status != NG_OK) {
        ng_checkpoint_abandon(writer);
        return status;
    }
    status = ng_checkpoint_sync(writer->root, error);
    forget(writer);
    return status;
}

void ng_checkpoint_abandon(ng_checkpoint_writer *writer)
{
    if (writer->partial != NULL)
        ng_checkpoint_remove(writer->partial);
    forget(writer);
}
