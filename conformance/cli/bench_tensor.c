/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/cli/bench_tensor.h"

#include <stdlib.h>

ng_tensor *ng_bench_add(ng_bench_case *bench, bool input, const char *name,
                        ng_dtype dtype, int rank, int64_t rows, int64_t cols)
{
    const int64_t shape[2] = {rows, cols};
    ng_call *call = &bench->call;
    ng_tensor *tensor = input ? &call->input[call->n_inputs++]
                              : &call->output[call->n_outputs++];
    int64_t units, bytes;

    *tensor = ng_tensor_dense(name, dtype, rank, shape, NULL);
    if (ng_tensor_extent(&units, &bytes, tensor) == NG_OK)
        tensor->data = calloc((size_t)bytes + 1, 1);
    if (tensor->data != NULL)
        bench->block[bench->n_blocks++] = tensor->data;
    return tensor;
}
