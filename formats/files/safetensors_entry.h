/* SPDX-License-Identifier: Apache-2.0
 *
 * One tensor as a safetensors header describes it. Private to the reader.
 */
#ifndef NG_FORMATS_FILES_SAFETENSORS_ENTRY_H
#define NG_FORMATS_FILES_SAFETENSORS_ENTRY_H

#include <jansson.h>
#include <stdint.h>

#include "formats/tensor.h"

/* Described, not yet loaded: tensor.data is null. */
typedef struct ng_safetensors_entry {
    ng_tensor tensor;
    int64_t begin, end;         /* bytes from the start of the data */
} ng_safetensors_entry;

/* What an entry is read against. */
typedef struct ng_safetensors_scope {
    const char *path;
    json_t *metadata;           /* an object of strings, or null */
    int64_t data_size;          /* bytes after the header */
} ng_safetensors_scope;

/* Check an entry's name and every field of it: its range lies in the data and
 * is what dtype and shape take.
 * Returns NG_OK, or NG_BAD_FILE with one line in *error, *entry undefined. */
ng_status ng_safetensors_read_entry(ng_safetensors_entry *entry,
                                    const char *name, json_t *object,
                                    const ng_safetensors_scope *scope,
                                    ng_error *error);

#endif
