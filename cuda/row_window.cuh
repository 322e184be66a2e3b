/* SPDX-License-Identifier: Apache-2.0
 *
 * 128 consecutive rows, window w being rows 128 w ... of the tensor, and the
 * blocks that they belong to: how the kernels that align scales cut ragged
 * rows.
 *
 * A block of a group starts wherever the group does, so its 128 codes of a
 * column straddle lines of memory, and bytes of a 32-byte sector written by two
 * thread blocks cost the L2 far more than whole ones (measured on an H200:
 * about 27 ps each over the whole chip). A window of a column is a line. It
 * meets two blocks as a rule, and each row goes by the scale of its own; the
 * rows of these blocks outside the window matter by their scales alone, which
 * are few bytes.
 *
 * All is found on the device, by one pass over the offsets, 32 groups at a
 * time: which group holds the first row, and how many blocks lie before it.
 */
#ifndef NG_CUDA_ROW_WINDOW_CUH
#define NG_CUDA_ROW_WINDOW_CUH

#include <cstdint>

#include "cuda/options.cuh"

enum { NG_CUDA_WINDOW = NG_FP8_BLOCK };

struct ng_cuda_window {
    int64_t row;         /* the first */
    int64_t first_block; /* of the tensor's, that holds it */
    int n;               /* rows, 1 .. 128; none: 0 */
    int n_blocks;        /* that these rows are of */
    int low, high;       /* rows row + low .. row + high - 1 are all rows of
                            these blocks: -127 .. 0 and n .. n + 127 */
    bool last;           /* the last of these blocks is the tensor's */
    uint8_t block[NG_CUDA_WINDOW]; /* of each row, counted from first_block */
};

#ifdef __CUDACC__

/* Fill *w, in shared memory; all threads call it, and a barrier follows. */
__device__ inline void ng_cuda_find_window(ng_cuda_window *w,
                                           const ng_cuda_options &o,
                                           int64_t rows, int number)
{
    const int64_t *offsets = o.offsets;
    const int64_t n_groups = o.n_groups;
    const int t = (int)threadIdx.x;
    const int64_t row = (int64_t)number * NG_CUDA_WINDOW;

    if (offsets == nullptr) {
        const int64_t left = rows - row;

        if (t < NG_CUDA_WINDOW)
            w->block[t] = 0;
        if (t == 0) {
            w->row = row;
            w->first_block = number;
            w->n = w->high =
                left < NG_CUDA_WINDOW ? (int)left : (int)NG_CUDA_WINDOW;
            w->n_blocks = 1;
            w->low = 0;
            w->last = left <= NG_CUDA_WINDOW;
        }
        return;
    }
    if (t >= 32)
        return;

    /* Groups that end at or before the first row, and their blocks. */
    int groups = 0, blocks = 0;

    for (int64_t g = t; g < n_groups; g += 32) {
        const int64_t begin = offsets[g], end = offsets[g + 1];

        groups += end <= row;
        if (end <= row)
            blocks += (int)((end - begin + NG_FP8_BLOCK - 1) / NG_FP8_BLOCK);
    }
    groups = __reduce_add_sync(0xFFFFFFFF, groups);
    blocks = __reduce_add_sync(0xFFFFFFFF, blocks);

    const int64_t used = offsets[n_groups], left = used - row;

    if (left <= 0) {
        if (t == 0)
            w->n = 0;
        return;
    }

    /* Four rows a lane, in order: each goes on from the group of the one
     * before, and counts the blocks that it passes. */
    const int n = left < NG_CUDA_WINDOW ? (int)left : (int)NG_CUDA_WINDOW;
    const int64_t first_begin = offsets[groups];
    const int inside = (int)((row - first_begin) / NG_FP8_BLOCK);
    int64_t g = groups, begin = first_begin, end = offsets[g + 1];
    int passed = -inside; /* blocks of whole groups, from the first */

    for (int i = 4 * t; i < 4 * t + 4 && i < n; i++) {
        while (row + i >= end) {
            passed += (int)((end - begin + NG_FP8_BLOCK - 1) / NG_FP8_BLOCK);
            begin = end;
            end = offsets[++g + 1];
        }

        const int64_t number_in = (row + i - begin) / NG_FP8_BLOCK;
        const int block = passed + (int)number_in;
        const int64_t block_begin = begin + number_in * NG_FP8_BLOCK;

        w->block[i] = (uint8_t)block;
        if (i == 0) {
            w->row = row;
            w->first_block = blocks + inside;
            w->n = n;
            w->low = (int)(block_begin - row);
        }
        if (i == n - 1) {
            const int64_t block_end = block_begin + NG_FP8_BLOCK < end
                                          ? block_begin + NG_FP8_BLOCK
                                          : end;

            w->n_blocks = block + 1;
            w->high = (int)(block_end - row);
            w->last = block_end == used;
        }
    }
}

/* The block of row w.row + i, low <= i < high, of which the window's are block
 * 0 .. n_blocks - 1. */
__device__ __forceinline__ int ng_cuda_block_of(const ng_cuda_window &w, int i)
{
    return i < 0 ? 0 : i < w.n ? w.block[i] : w.n_blocks - 1;
}

#endif

#endif
