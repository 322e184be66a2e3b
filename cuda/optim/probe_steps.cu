/* SPDX-License-Identifier: Apache-2.0
 *
 * The exact shortcuts of exact.cuh with the GPU's own seeds, over every
 * significand, against IEEE division and square root; see probe_steps.h.
 */
#include "cuda/optim/probe_steps.h"

#include "cuda/grid.cuh"
#include "cuda/optim/exact.cuh"
#include "cuda/try.cuh"

enum { THREADS = 256, BLOCKS = 132 * 8 };

/* Significands of b whose reciprocal depends on the seed. */
static __device__ uint32_t hard[64];
static __device__ unsigned n_hard;

/* b in [1, 2): RN(1/b); b is kept where some seed within an ulp will not do. */
static __global__ void reciprocals(unsigned long long *differences)
{
    for (int64_t i = ng_cuda_thread(); i < 1 << 23; i += ng_cuda_threads()) {
        const float b = ng_cuda_float_of(0x3F800000 | (uint32_t)i);
        const float want = __fdiv_rn(1.0f, b);
        bool depends = false;

        if (ng_cuda_reciprocal(b) != want)
            atomicAdd(&differences[0], 1ull);
        for (int ulps = -1; ulps <= 1; ulps++)
            depends |=
                ng_cuda_reciprocal_from(
                    ng_cuda_float_of(ng_cuda_bits_of(want) + (uint32_t)ulps), b)
                != want;
        if (depends)
            hard[atomicAdd(&n_hard, 1u) % 64] = ng_cuda_bits_of(b);
    }
}

/* v in [1, 4). */
static __global__ void roots(unsigned long long *differences)
{
    for (int64_t i = ng_cuda_thread(); i < 1 << 24; i += ng_cuda_threads()) {
        const float v = ng_cuda_float_of(0x3F800000 + (uint32_t)i);

        if (ng_cuda_root(v) != __fsqrt_rn(v))
            atomicAdd(&differences[1], 1ull);
    }
}

/* Every a in [1, 2) over each of the hard b, and over 4096 others. */
static __global__ void quotients(unsigned long long *differences,
                                 unsigned long long *inputs)
{
    const unsigned kept = n_hard < 64 ? n_hard : 64;
    unsigned long long found = 0, tried = 0;

    for (unsigned k = 0; k < kept + 4096; k++) {
        const float b = ng_cuda_float_of(
            k < kept ? hard[k] : 0x3F800000 | (k * 2654435761u & 0x7FFFFF));
        const float y = ng_cuda_reciprocal(b);

        for (int64_t i = ng_cuda_thread(); i < 1 << 23;
             i += ng_cuda_threads()) {
            const float a = ng_cuda_float_of(0x3F800000 | (uint32_t)i);

            found += ng_cuda_quotient(a, b, y) != __fdiv_rn(a, b);
            tried++;
        }
    }
    atomicAdd(&differences[2], found);
    atomicAdd(inputs, tried);
}

/* host: the counts of what device, of as many numbers, is for. */
static ng_status try_all(unsigned long long host[4], unsigned long long *device)
{
    const unsigned none = 0;

    NG_CUDA_TRY(cudaMemset(device, 0, 4 * sizeof *device));
    NG_CUDA_TRY(cudaMemcpyToSymbol(n_hard, &none, sizeof none));
    reciprocals<<<BLOCKS, THREADS>>>(device);
    roots<<<BLOCKS, THREADS>>>(device);
    quotients<<<BLOCKS, THREADS>>>(device, device + 3);
    NG_CUDA_TRY_LAUNCH();
    NG_CUDA_TRY(
        cudaMemcpy(host, device, 4 * sizeof *host, cudaMemcpyDeviceToHost));
    return NG_OK;
}

extern "C" ng_status ng_cuda_probe_steps(uint64_t differences[3],
                                         uint64_t *n_quotients)
{
    void *memory;
    unsigned long long host[4];

    NG_CUDA_TRY(cudaMalloc(&memory, sizeof host));

    const ng_status status = try_all(host, (unsigned long long *)memory);

    (void)cudaFree(memory);
    if (status != NG_OK)
        return status;
    for (int i = 0; i < 3; i++)
        differences[i] = host[i];
    *n_quotients = host[3];
    return NG_OK;
}
