/* SPDX-License-Identifier: Apache-2.0
 *
 * ng_cuda_row_block by a whole warp: 32 groups at a time, for kernels whose
 * every block asks.
 */
#ifndef NG_CUDA_FIND_ROW_BLOCK_CUH
#define NG_CUDA_FIND_ROW_BLOCK_CUH

#include "cuda/options.cuh"

/* Every lane of the warp calls it with the same arguments and gets the answer,
 * and, of a ragged tensor, the group that the block is of and its end. */
__device__ __forceinline__ ng_cuda_row_range ng_cuda_find_row_block(
    const ng_cuda_options &o, int64_t rows, int64_t size, int64_t block,
    int64_t *group = nullptr, int64_t *group_end = nullptr)
{
    const int lane = threadIdx.x % 32;
    int64_t end = 0;

    if (o.offsets == nullptr)
        return ng_cuda_row_block(o, rows, size, block);
    for (int64_t base = 0; base < o.n_groups; base += 32) {
        const bool here = base + lane < o.n_groups;
        const int64_t first = here ? o.offsets[base + lane] : 0;
        const int64_t last = here ? o.offsets[base + lane + 1] : 0;
        int64_t sum = (last - first + size - 1) / size;
        const int64_t own = sum;

        for (int step = 1; step < 32; step *= 2) {
            const int64_t below = __shfl_up_sync(0xFFFFFFFFu, sum, step);

            sum += lane >= step ? below : 0;
        }

        const unsigned found = __ballot_sync(0xFFFFFFFFu, block < sum);

        if (found != 0) {
            const int owner = __ffs((int)found) - 1;
            const int64_t from = first + (block - (sum - own)) * size;
            const int64_t to = last - from < size ? last : from + size;

            if (group != nullptr) {
                *group = base + owner;
                *group_end = __shfl_sync(0xFFFFFFFFu, last, owner);
            }
            return {__shfl_sync(0xFFFFFFFFu, from, owner),
                    __shfl_sync(0xFFFFFFFFu, to, owner)};
        }
        block -= __shfl_sync(0xFFFFFFFFu, sum, 31);
        end = __shfl_sync(0xFFFFFFFFu, last, 31);
    }
    return {end, end};
}

#endif
