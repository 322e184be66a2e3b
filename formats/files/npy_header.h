/* SPDX-License-Identifier: Apache-2.0
 *
 * The dict literal of a .npy file. Private to formats/files/npy.c.
 */
#ifndef NG_FORMATS_FILES_NPY_HEADER_H
#define NG_FORMATS_FILES_NPY_HEADER_H

#include <stddef.h>
#include <stdint.h>

#include "formats/tensor.h"

typedef struct ng_npy_header {
    ng_dtype dtype;
    int rank;
    int64_t shape[NG_MAX_RANK];
} ng_npy_header;

/* Parse the dict literal text[0 .. length): the keys descr, fortran_order and
 * shape, once each, in any order, and white space after it. Types and shapes
 * that formats/files/npy.h does not list are refused.
 * Returns NG_OK, or NG_BAD_FILE with one line in *error and *header untouched;
 * path is only named there. */
ng_status ng_npy_parse_header(ng_npy_header *header, const char *text,
                              size_t length, const char *path,
                              ng_error *error);

/* The descr of a type, or null if .npy has none. */
const char *ng_npy_descr(ng_dtype dtype);

#endif
