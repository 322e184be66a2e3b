/* SPDX-License-Identifier: Apache-2.0
 *
 * The tiles of a product whose contraction is ragged: every group has the same
 * tiles of its matrix, in the order in which pairs of CTAs take them; the two
 * of a pair share rows of A and have neighbouring blocks of columns. `band`
 * blocks of rows go through all columns together, so that what is at work at
 * one time stays in the L2 cache.
 */
#ifndef NG_CUDA_MOE_GEMM_BLOCK_TILES_CUH
#define NG_CUDA_MOE_GEMM_BLOCK_TILES_CUH

#include <cstdint>

#include "cuda/host_device.cuh"

struct ng_gemm_block_tiles {
    const int64_t *offsets; /* null: one group of all rows */
    int n_groups, n_row_blocks, n_col_pairs, band, rank;
    /* where the walk is: first_block counts blocks of 128 over groups; all are
     * below 2^31 (gemm_launch.cuh) */
    int group, first, start, end, first_block;
    /* the tile that seek found */
    int row_block, col_block;

    NG_HOST_DEVICE ng_gemm_block_tiles(const int64_t *offsets, int n_groups,
                                       int rows, int n_row_blocks,
                                       int n_col_blocks, int band, int rank)
        : offsets(offsets), n_groups(n_groups), n_row_blocks(n_row_blocks),
          n_col_pairs((n_col_blocks + 1) / 2), band(band), rank(rank), group(0),
          first(0), start(0), end(offsets != nullptr ? (int)offsets[1] : rows),
          first_block(0)
    {
    }

    NG_HOST_DEVICE int blocks() const
    {
        return (end - start + 127) / 128;
    }

    /* Go to that tile, at or after the last one. Returns false past the end. */
    NG_HOST_DEVICE bool seek(int tile)
    {
        const int count = n_row_blocks * n_col_pairs;

        while (tile >= first + count) {
            first += count;
            if (++group >= n_groups)
                return false;
            first_block += blocks();
            start = end;
            end = (int)offsets[group + 1];
        }

        const int u = tile - first;
        const int b = u / (band * n_col_pairs);
        const int left = n_row_blocks - b * band;
        const int height = left < band ? left : band;
        const int v = u - b * band * n_col_pairs;
        const int pair = v / height;

        row_block = b * band + v - pair * height;
        col_block = 2 * pair + rank;
        return true;
    }
};

#endif
