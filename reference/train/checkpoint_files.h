/* SPDX-License-Identifier: Apache-2.0
 *
 * Directories and the manifest's text. Private to checkpoint*.c.
 */
#ifndef NG_REFERENCE_TRAIN_CHECKPOINT_FILES_H
#define NG_REFERENCE_TRAIN_CHECKPOINT_FILES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/status.h"

#define NG_CHECKPOINT_SCHEMA "narrowgauge-checkpoint-1"
#define NG_CHECKPOINT_MANIFEST "manifest.json"
#define NG_CHECKPOINT_SUFFIX ".safetensors"
#define NG_CHECKPOINT_MAX_STEP INT64_C(9999999999)

/* DIRECTORY/NAME SUFFIX, to be freed; null without memory. */
char *ng_checkpoint_join(const char *directory, const char *name,
                         const char *suffix);

/* Whether a shard may have this name. */
bool ng_checkpoint_name_fits(const char *name);

/* Whether a manifest's files, whose names are texts, have one of this name. */
bool ng_checkpoint_names(const json_t *files, const char *name);

/* Whether a file's name is that of a checkpoint; its step, if so. */
bool ng_checkpoint_step_of(int64_t *step, const char *name);

/* The name of the checkpoint of a step, and of what is not one yet, or no more;
 * size 64 is enough. */
void ng_checkpoint_step_names(char *final, char *partial, size_t size,
                              int64_t step);

/* Remove a directory and the files in it (no deeper); nothing there is fine. */
void ng_checkpoint_remove(const char *path);

/* Remove all that killed runs left in a root, as far as it can be removed.
 * Returns NG_OK, or NG_BAD_FILE where the root cannot be read. */
ng_status ng_checkpoint_sweep(const char *root, ng_error *error);

/* Make what was done to a directory's entries last. */
ng_status ng_checkpoint_sync(const char *path, ng_error *error);

/* Make a directory's own name in the one above it last. Not everyone who may
 * write to that one may open it: a failure is none. */
void ng_checkpoint_sync_above(const char *path);

/* Give `from` the name `to`; a directory there is taken away. */
ng_status ng_checkpoint_place(const char *from, const char *to,
                              ng_error *error);

/* A manifest's text without and with its checksum member, to be freed (free);
 * null without memory. sealed adds the member to the object too. */
char *ng_checkpoint_text(const json_t *manifest);
char *ng_checkpoint_sealed(json_t *manifest);

#endif
