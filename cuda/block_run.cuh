/* SPDX-License-Identifier: Apache-2.0
 *
 * A run of consecutive blocks of rows, which a thread block takes one after the
 * other. Blocks are numbered on from group to group, and a group begins where
 * the one before ends: so does every block.
 */
#ifndef NG_CUDA_BLOCK_RUN_CUH
#define NG_CUDA_BLOCK_RUN_CUH

#include "cuda/find_row_block.cuh"

/* n blocks, 0 .. MOST: fewer than were asked for past the last one. */
template <int MOST> struct ng_cuda_block_run {
    int64_t first; /* row */
    int n;
    int end[MOST]; /* of each, counted from `first`; the first's 0 if n is */
    bool is_last;  /* the last of them is the tensor's */
};

#ifdef __CUDACC__
/* Fill *run, in shared memory; one whole warp calls it, and a barrier follows.
 * Blocks of `size` rows, from number `first` on, at most n <= MOST. */
template <int MOST>
__device__ inline void
ng_cuda_find_block_run(ng_cuda_block_run<MOST> *run, const ng_cuda_options &o,
                       int64_t rows, int size, int64_t first, int n)
{
    int64_t group_end = rows, group = o.n_groups;
    const ng_cuda_row_range block =
        ng_cuda_find_row_block(o, rows, size, first, &group, &group_end);
    const int64_t used = ng_cuda_rows(o, rows);

    if (threadIdx.x % 32 != 0)
        return;

    int64_t end = block.first;
    int i = 0;

    run->end[0] = 0;
    for (; i < n && end < used && block.last > block.first; i++) {
        while (group + 1 < o.n_groups && end >= group_end)
            group_end = o.offsets[++group + 1];
        end = group_end - end < size ? group_end : end + size;
        run->end[i] = (int)(end - block.first);
    }
    run->first = block.first;
    run->n = i;
    run->is_last = end >= used;
}
#endif

#endif
