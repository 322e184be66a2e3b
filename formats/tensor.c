/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/tensor.h"

#include <stdio.h>

ng_tensor ng_tensor_dense(const char *name, ng_dtype dtype, int rank,
                          const int64_t *shape, void *data)
{
    ng_tensor tensor = {.dtype = dtype, .rank = rank, .data = data};
    int64_t stride = 1;

    snprintf(tensor.name, sizeof tensor.name, "%s", name);
    for (int axis = rank - 1; axis >= 0; axis--) {
        tensor.shape[axis] = shape[axis];
        tensor.stride[axis] = stride;
        stride *= shape[axis] > 0 ? shape[axis] : 1;
    }
    return tensor;
}

ng_status ng_tensor_extent(int64_t *units, int64_t *bytes,
                           const ng_tensor *tensor)
{
    int64_t n = 1, n_bytes;

    if (tensor->rank < 0 || tensor->rank > NG_MAX_RANK)
        return NG_BAD_SHAPE;
    for (int axis = 0; axis < tensor->rank; axis++)
        if (tensor->shape[axis] < 0
            || __builtin_mul_overflow(n, tensor->shape[axis], &n))
            return NG_BAD_SHAPE;
    if (__builtin_mul_overflow(n, (int64_t)ng_dtype_size(tensor->dtype),
                               &n_bytes))
        return NG_BAD_SHAPE;
    *units = n;
    *bytes = n_bytes;
    return NG_OK;
}
