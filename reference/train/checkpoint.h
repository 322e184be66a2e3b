/* SPDX-License-Identifier: Apache-2.0
 *
 * Checkpoints: a directory ROOT/step-NNNNNNNNNN of safetensors shards and a
 * manifest that holds the checksum of each. It appears whole or not at all:
 * made as ROOT/.step-NNNNNNNNNN.partial, every file synced, then renamed. A run
 * that is killed at any moment leaves the checkpoints before it as they were;
 * what it was writing is cleared away by the next one. A root belongs to one
 * run.
 *
 * manifest.json, as json_dumps(JSON_INDENT(1)) writes it and a line feed:
 *   schema    "narrowgauge-checkpoint-1"
 *   step      the number in the directory's name
 *   state     the loop's own object, any JSON
 *   files     [{name, bytes, xxh3}], shards in the order they were added
 *   checksum  XXH3 of this text without this member
 * Reading refuses a manifest that is not byte for byte what would be written or
 * whose step is not that of its directory's name (which may be another kind of
 * name: a copy kept aside), and a shard whose size or checksum differ, with one
 * line that names the file. Files that the manifest does not name are ignored.
 *
 *     ng_checkpoint_begin(&writer, root, step, &error);
 *     ng_checkpoint_add(&writer, "optimizer", &tensors, &error);
 *     ng_checkpoint_commit(&writer, state, &error);      or abandon
 *
 *     ng_checkpoint_latest(&path, root, &error);
 *     ng_checkpoint_open(&checkpoint, path, &error);
 *     ng_checkpoint_load(&tensors, &checkpoint, "optimizer", &error);
 *     ng_checkpoint_close(&checkpoint);
 *
 * Nothing here knows what a number means.
 */
#ifndef NG_REFERENCE_TRAIN_CHECKPOINT_H
#define NG_REFERENCE_TRAIN_CHECKPOINT_H

#include <jansson.h>
#include <stdint.h>

#include "formats/files/tensor_file.h"
#include "formats/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { NG_CHECKPOINT_MAX_SHARD = 64 }; /* bytes of a shard's name */

/* Zero bytes are the idle state. */
typedef struct ng_checkpoint_writer {
    int64_t step;
    char *root, *partial, *final;
    json_t *files;
} ng_checkpoint_writer;

/* Start a checkpoint: make the root if it is not there (not its parents), clear
 * away what killed runs left in it, and make the partial directory.
 *   step   0 .. 9,999,999,999
 * Returns NG_OK, to be ended by commit or abandon; NG_BAD_FILE, NG_BAD_VALUE
 * (the step) or NG_NO_MEMORY with *writer idle. */
ng_status ng_checkpoint_begin(ng_checkpoint_writer *writer, const char *root,
                              int64_t step, ng_error *error);

/* Write a shard, NAME.safetensors, sync it, and take its checksum.
 *   name   letters, digits, '-' and '_'; no two alike
 * Returns NG_OK, or what ng_safetensors_write does, NG_BAD_VALUE (the name);
 * the caller then abandons. */
ng_status ng_checkpoint_add(ng_checkpoint_writer *writer, const char *name,
                            const ng_tensor_file *tensors, ng_error *error);

/* Write the manifest, sync, rename. A checkpoint of that step that is already
 * there, from before a resume, is replaced: exchanged in one step where the
 * system can (elsewhere a kill between two renames can lose that one).
 *   state   in, borrowed; null is null
 * Returns NG_OK, or NG_BAD_FILE or NG_NO_MEMORY with nothing but the older
 * checkpoints left; but where the root itself cannot be synced at the end (the
 * line names it, and "sync"), the new one is there and may not outlive a loss
 * of power. *writer is idle afterwards either way. */
ng_status ng_checkpoint_commit(ng_checkpoint_writer *writer,
                               const json_t *state, ng_error *error);

/* Remove what was written. *writer is idle afterwards; an idle one may be
 * given. */
void ng_checkpoint_abandon(ng_checkpoint_writer *writer);

/* The path of the checkpoint of the highest step, to be freed; null, and NG_OK,
 * if there is none or no root. Returns NG_OK, NG_BAD_FILE or NG_NO_MEMORY. */
ng_status ng_checkpoint_latest(char **path, const char *root, ng_error *error);

/* After the checkpoint of step `newest` was written: remove those of higher
 * steps, which a run left that has since gone on from an earlier one (its log no
 * longer has their steps), then those of the lowest until n > 0 are left; n = 0
 * keeps all. Returns NG_OK, NG_BAD_FILE or NG_NO_MEMORY. */
ng_status ng_checkpoint_keep(const char *root, int64_t newest, int64_t n,
                             ng_error *error);

typedef struct ng_checkpoint {
    int64_t step;
    int64_t bytes; /* of all files, manifest included */
    json_t *state; /* borrowed from manifest */
    json_t *manifest;
    char *path;
} ng_checkpoint;

/* Read the manifest of the checkpoint directory `path` and check every file
 * that it names, so that a damaged checkpoint is refused before anything is
 * used. Returns NG_OK, to be undone by ng_checkpoint_close; NG_BAD_FILE or
 * NG_NO_MEMORY with *out untouched. */
ng_status ng_checkpoint_open(ng_checkpoint *out, const char *path,
                             ng_error *error);

/* Read a shard. *out is overwritten, never freed; the caller frees it.
 * Returns NG_OK, or NG_BAD_FILE or NG_NO_MEMORY with *out untouched. */
ng_status ng_checkpoint_load(ng_tensor_file *out,
                             const ng_checkpoint *checkpoint, const char *name,
                             ng_error *error);

/* Null is allowed. */
void ng_checkpoint_close(ng_checkpoint *checkpoint);

#ifdef __cplusplus
}
#endif

#endif
