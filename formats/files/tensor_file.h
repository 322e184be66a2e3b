/* SPDX-License-Identifier: Apache-2.0
 *
 * What a tensor file holds: named tensors in their order, and pairs of text.
 */
#ifndef NG_FORMATS_FILES_TENSOR_FILE_H
#define NG_FORMATS_FILES_TENSOR_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "formats/files/atomic_write.h"
#include "formats/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ng_metadata {
    char *name;
    char *value;
} ng_metadata;

/* Zero bytes are an empty one. The functions below own the arrays, each
 * tensor's data and each text, all from malloc; a caller that only writes may
 * instead point the members at its own and never call them. */
typedef struct ng_tensor_file {
    ng_tensor *tensors;
    size_t n_tensors;
    ng_metadata *metadata;
    size_t n_metadata;
} ng_tensor_file;

/* Free all that *file owns and leave it empty. Null is allowed. */
void ng_tensor_file_free(ng_tensor_file *file);

/* Append a dense tensor of zero bytes. Names should differ: none is looked for
 * here, and the writers refuse a second one.
 *   data   out, may be null: the new tensor's data, owned by *file; stays valid
 *          as the list grows, which a pointer into file->tensors does not
 * Returns NG_OK; NG_BAD_FILE for a name with a fault (ng_tensor_name_fault),
 * NG_BAD_DTYPE, NG_BAD_SHAPE or NG_NO_MEMORY with *file and *data untouched. */
ng_status ng_tensor_file_add_tensor(void **data, ng_tensor_file *file,
                                    const char *name, ng_dtype dtype, int rank,
                                    const int64_t *shape);

/* Append a pair; both texts are copied. Names should differ, as above.
 * Returns NG_OK, or NG_NO_MEMORY with *file untouched. */
ng_status ng_tensor_file_add_metadata(ng_tensor_file *file, const char *name,
                                      const char *value);

/* The first tensor of that name, owned by *file, or null. */
ng_tensor *ng_tensor_file_find(const ng_tensor_file *file, const char *name);

/* The value of the first pair of that name, owned by *file, or null. */
const char *ng_tensor_file_metadata(const ng_tensor_file *file,
                                    const char *name);

/* What keeps a text from naming a tensor, as a phrase ("is empty"), or null: 1
 * to NG_MAX_NAME - 1 bytes of UTF-8 without control characters may. At most
 * NG_MAX_NAME bytes are looked at, so that tensor.name may be given as is. */
const char *ng_tensor_name_fault(const char *name);

/* True if the rank is 0 .. NG_MAX_RANK, no size is negative, and strides and
 * bytes of a dense tensor fit int64_t. Unlike ng_tensor_extent this counts a
 * size of 0 as 1, for the strides' sake: [0][2^62][4] does not fit. */
bool ng_tensor_shape_fits(ng_dtype dtype, int rank, const int64_t *shape);

/* Write the units in row-major order without gaps, gathered by the strides.
 * The tensor's shape fits and its data is there. Errors: ng_atomic_write. */
ng_status ng_tensor_write_data(ng_atomic_file *file, const ng_tensor *tensor,
                               ng_error *error);

#ifdef __cplusplus
}
#endif

#endif
