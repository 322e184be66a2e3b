/* SPDX-License-Identifier: Apache-2.0
 *
 * A file from outside, read at given places: size known, nothing mapped (a
 * file cut short while it is mapped kills its reader).
 */
#ifndef NG_FORMATS_FILES_INPUT_FILE_H
#define NG_FORMATS_FILES_INPUT_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "formats/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ng_input_file {
    const char *path;       /* borrowed from the caller of ng_input_open */
    int descriptor;
    int64_t size;           /* bytes, when it was opened */
} ng_input_file;

/* Open a regular file for reading; a directory, a pipe or a device is refused.
 * Returns NG_OK, to be undone by ng_input_close, or NG_BAD_FILE with *file
 * untouched and the cause in *error. path must outlive *file. */
ng_status ng_input_open(ng_input_file *file, const char *path,
                        ng_error *error);

/* Read exactly `size` bytes from `offset` (0 or more) on.
 * Returns NG_OK or NG_BAD_FILE: an error of the system, or too few bytes. */
ng_status ng_input_read(void *bytes, const ng_input_file *file,
                        int64_t offset, size_t size, ng_error *error);

void ng_input_close(ng_input_file *file);

#ifdef __cplusplus
}
#endif

#endif
