/* SPDX-License-Identifier: Apache-2.0
 *
 * The dtypes of safetensors and ours. Private to the reader and the writer;
 * formats/files/safetensors.h describes the mapping.
 */
#ifndef NG_FORMATS_FILES_SAFETENSORS_DTYPE_H
#define NG_FORMATS_FILES_SAFETENSORS_DTYPE_H

#include <stdbool.h>

#include "formats/dtype.h"

#define NG_SAFETENSORS_DTYPE_PREFIX "dtype."    /* of a pair's name */

/* Find the type that a file's dtype stands for. Returns false, *dtype
 * untouched, if there is none. */
bool ng_safetensors_find_dtype(ng_dtype *dtype, const char *name);

/* The standard's name of a type, or null if it has none. */
const char *ng_safetensors_dtype_name(ng_dtype dtype);

/* The standard's name of the unsigned integer of `size` bytes (1, 2, 4, 8). */
const char *ng_safetensors_carrier(size_t size);

#endif
