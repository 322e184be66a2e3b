/* SPDX-License-Identifier: Apache-2.0
 *
 * A launch whose thread blocks may come while those of the kernel before it go:
 * about a microsecond less between two kernels, a tenth of what a small
 * conversion takes. On the stream nothing changes; ptx_grid.cuh says what the
 * kernel owes.
 */
#ifndef NG_CUDA_LAUNCH_NEXT_CUH
#define NG_CUDA_LAUNCH_NEXT_CUH

#include "cuda/launch.h"
#include "cuda/ptx_grid.cuh"
#include "cuda/try.cuh"

/* The same with so many bytes of shared memory, which the kernel finds as
 * extern. */
template <class... PARAMETER, class... ARGUMENT>
ng_status ng_cuda_launch_shared(void (*kernel)(PARAMETER...), unsigned grid,
                                unsigned threads, int shared,
                                const ng_cuda_launch *launch,
                                const ARGUMENT &...argument)
{
    cudaLaunchAttribute early = {};
    cudaLaunchConfig_t config = {};

    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = grid;
    config.blockDim = threads;
    config.dynamicSmemBytes = (size_t)shared;
    config.stream = (cudaStream_t)launch->stream;
    config.attrs = &early;
    config.numAttrs = 1;
    NG_CUDA_TRY(cudaLaunchKernelEx(&config, kernel, argument...));
    return NG_OK;
}

/* Enqueue kernel(argument...) on launch's stream. */
template <class... PARAMETER, class... ARGUMENT>
ng_status ng_cuda_launch_next(void (*kernel)(PARAMETER...), unsigned grid,
                              unsigned threads, const ng_cuda_launch *launch,
                              const ARGUMENT &...argument)
{
    return ng_cuda_launch_shared(kernel, grid, threads, 0, launch, argument...);
}

/* Of the current device. */
inline cudaError_t ng_cuda_multiprocessors(int *n)
{
    int device = 0;
    const cudaError_t error = cudaGetDevice(&device);

    return error != cudaSuccess ? error
                                : cudaDeviceGetAttribute(
                                    n, cudaDevAttrMultiProcessorCount, device);
}

#endif
