/* nvcc -arch=sm_90 -Xcompiler -fPIC -shared -Iconformance/subject -o example_cuda.so docs/example_cuda.cu
 *
 * A subject over device memory: FP32 to BF16, ties to even, one stream. */
#include "plugin.h"

__global__ void encode(uint16_t *y, const uint32_t *x, int64_t n)
{
    const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = (x[i] & 0x7FFFFFFF) > 0x7F800000 ? 0x7FFF /* the canonical NaN */
                                                : (x[i] + 0x7FFF + (x[i] >> 16 & 1)) >> 16;
}

static int32_t run(const ng_plugin_call *call)
{
    const ng_plugin_tensor *x = ng_plugin_input(call, "x");
    const ng_plugin_tensor *y = ng_plugin_output(call, "y");
    const int64_t n = x->shape[0]; /* shapes lie on the host, data on the GPU */

    if (n > 0)
        encode<<<(unsigned)((n + 255) / 256), 256, 0, (cudaStream_t)call->stream>>>(
            (uint16_t *)y->data, (const uint32_t *)x->data, n);
    return cudaGetLastError() == cudaSuccess ? NG_PLUGIN_OK : NG_PLUGIN_FAILED;
}

extern "C" int32_t ng_plugin(ng_plugin_table *table)
{
    static const char *const takes[] = {"rounding=nearest-even", "overflow=ieee", NULL};
    static ng_plugin_operation operation;
    operation.name = "encode_bf16";
    operation.memory = NG_PLUGIN_CUDA;
    operation.limits = NG_PLUGIN_DENSE_ONLY;
    operation.takes = takes;
    table->abi = NG_PLUGIN_ABI;
    table->name = "example on the GPU";
    table->version = "1.0";
    table->n_operations = 1;
    table->operation_size = sizeof operation;
    table->operations = &operation;
    table->run = run;
    return NG_PLUGIN_OK;
}
