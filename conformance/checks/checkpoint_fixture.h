/* SPDX-License-Identifier: Apache-2.0
 *
 * A root of checkpoints in a test's scratch directory, and ways to spoil it.
 */
#ifndef NG_CONFORMANCE_CHECKS_CHECKPOINT_FIXTURE_H
#define NG_CONFORMANCE_CHECKS_CHECKPOINT_FIXTURE_H

#include <check.h>

#include "conformance/checks/scratch.h"
#include "reference/train/checkpoint.h"
#include "reference/train/checkpoint_files.h"

static ng_error error;

/* Remove a root and its checkpoints; the scratch directory takes the rest. */
static inline void tear_down(void)
{
    DIR *directory = opendir(scratch_path("root"));
    const struct dirent *entry;
    char path[1024];

    while (directory != NULL && (entry = readdir(directory)) != NULL)
        if (strcmp(entry->d_name, ".") != 0
            && strcmp(entry->d_name, "..") != 0) {
            snprintf(path, sizeof path, "%s/root/%s", scratch, entry->d_name);
            ng_checkpoint_remove(path);
        }
    if (directory != NULL)
        closedir(directory);
    scratch_remove();
}

static inline const char *root(void)
{
    return scratch_path("root");
}

/* Without assertions, for a child that is killed would garble Check's pipe. */
static inline ng_status write_tensors(const ng_tensor_file *tensors,
                                      int64_t step)
{
    ng_checkpoint_writer writer;
    json_t *state = json_pack("{s:s}", "note", "any");
    ng_status status = ng_checkpoint_begin(&writer, root(), step, &error);

    if (status == NG_OK) {
        status = ng_checkpoint_add(&writer, "optimizer", tensors, &error);
        if (status == NG_OK)
            status = ng_checkpoint_commit(&writer, state, &error);
        else
            ng_checkpoint_abandon(&writer);
    }
    json_decref(state);
    return status;
}

/* The latest checkpoint's path, which must be there; to be freed. */
static inline char *latest(void)
{
    char *path;

    ck_assert_int_eq(ng_checkpoint_latest(&path, root(), &error), NG_OK);
    ck_assert_ptr_nonnull(path);
    return path;
}

static inline void overwrite(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");

    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
}

/* The entries of the root. */
static inline int root_count(void)
{
    DIR *directory = opendir(root());
    int n = -2;

    ck_assert_ptr_nonnull(directory);
    while (readdir(directory) != NULL)
        n++;
    closedir(directory);
    return n;
}

/* Write a manifest anew with some members changed, its checksum made to fit. */
static inline void forge(const char *manifest, const char *change)
{
    json_error_t fault;
    json_t *object = json_load_file(manifest, 0, &fault);
    json_t *changed = json_loads(change, 0, &fault);

    ck_assert_ptr_nonnull(changed);
    json_object_update(object, changed);
    json_object_del(object, "checksum");

    char *text = ng_checkpoint_sealed(object);

    overwrite(manifest, text, strlen(text));
    free(text);
    json_decref(object);
    json_decref(changed);
}

#endif
