/* SPDX-License-Identifier: Apache-2.0
 *
 * A named array of any type and rank: what files hold, what a call carries.
 * Operations take the typed views of formats/layout.h instead.
 */
#ifndef NG_FORMATS_TENSOR_H
#define NG_FORMATS_TENSOR_H

#include <stdint.h>

#include "formats/dtype.h"
#include "formats/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { NG_MAX_RANK = 4, NG_MAX_NAME = 128 };

typedef struct ng_tensor {
    char name[NG_MAX_NAME];
    ng_dtype dtype;
    int rank;                           /* 0 .. NG_MAX_RANK */
    int64_t shape[NG_MAX_RANK];         /* stored units along each axis */
    int64_t stride[NG_MAX_RANK];        /* units from one index to the next */
    void *data;                         /* the unit at index 0, 0 ... */
} ng_tensor;

/* Describe a row-major tensor without gaps; data may be null. The name is cut
 * at NG_MAX_NAME - 1 bytes. */
ng_tensor ng_tensor_dense(const char *name, ng_dtype dtype, int rank,
                          const int64_t *shape, void *data);

/* Count units and bytes that a dense tensor of this shape takes.
 * Returns NG_BAD_SHAPE, the outputs untouched, if the rank or a size is
 * negative or out of range or the product passes INT64_MAX. */
ng_status ng_tensor_extent(int64_t *units, int64_t *bytes,
                           const ng_tensor *tensor);

#ifdef __cplusplus
}
#endif

#endif
