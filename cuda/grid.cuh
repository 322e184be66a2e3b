/* SPDX-License-Identifier: Apache-2.0
 *
 * Sizes of one-dimensional grids. Work is counted in 64 bits; a grid never
 * passes 2^31 - 1 blocks, and threads stride over what lies beyond.
 */
#ifndef NG_CUDA_GRID_CUH
#define NG_CUDA_GRID_CUH

#include <cstdint>

/* Blocks for n pieces of work, `each` a block, at most `most`; at least 1. */
inline unsigned ng_cuda_blocks(int64_t n, int64_t each,
                               int64_t most = INT32_MAX)
{
    const int64_t blocks = n / each + (n % each != 0);

    return (unsigned)(blocks < 1 ? 1 : blocks > most ? most : blocks);
}

#ifdef __CUDACC__
/* This thread's number in a one-dimensional grid, and how many there are. */
__device__ __forceinline__ int64_t ng_cuda_thread()
{
    return (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ __forceinline__ int64_t ng_cuda_threads()
{
    return (int64_t)gridDim.x * blockDim.x;
}
#endif

#endif
