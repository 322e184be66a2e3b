/* SPDX-License-Identifier: Apache-2.0
 *
 * How the row kernels share out a matrix: a thread takes one place in each of
 * several neighbouring rows, so that it finds its place once, addresses move on
 * by a stride, and the rows' loads are all in flight together. Threads run
 * along a row first.
 */
#ifndef NG_CUDA_ROW_GROUP_CUH
#define NG_CUDA_ROW_GROUP_CUH

#include "cuda/divider.cuh"
#include "cuda/grid.cuh"

/* Whether threads and the elements of a row can be counted in 32 bits. */
inline bool ng_cuda_row_groups_fit(int64_t rows, int64_t places)
{
    return places < INT32_MAX / 32 && rows <= UINT32_MAX / 2 / places;
}

/* Thread blocks for all groups of a matrix. */
inline unsigned ng_cuda_row_group_blocks(int64_t rows, int64_t places,
                                         int group, int threads)
{
    return ng_cuda_blocks((rows + group - 1) / group * places, threads);
}

#ifdef __CUDACC__
/* This thread's place and the first row of its group. */
struct ng_cuda_row_place {
    uint32_t row, place;
};

__device__ __forceinline__ ng_cuda_row_place
ng_cuda_row_place_of(const ng_cuda_divider &places, int group)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    const uint32_t g = ng_cuda_divide(i, places);

    return {g * (uint32_t)group, i - g * places.divisor};
}
#endif

#endif
