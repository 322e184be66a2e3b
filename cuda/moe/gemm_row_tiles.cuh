/* SPDX-License-Identifier: Apache-2.0
 *
 * The tiles of a product with ragged rows, in the order in which pairs of CTAs
 * take them. Two neighbouring blocks of 128 rows of a group go to the two CTAs
 * of a pair and share their columns of B; a last block without a neighbour is
 * taken by both, for two blocks of columns, and they share its rows of A.
 * `band` pairs of row blocks go through all columns together, so that what is
 * at work at one time stays in the L2 cache; each band begins two blocks of
 * columns further on, so that a last one, narrower than the others, does not
 * fall to the same CTAs every time.
 *
 * A block that the group's end cuts short reaches back: it covers the 128 rows
 * before that end, and its first `skip` rows are another tile's, or nobody's.
 * So no row at or past a group's end is ever read.
 */
#ifndef NG_CUDA_MOE_GEMM_ROW_TILES_CUH
#define NG_CUDA_MOE_GEMM_ROW_TILES_CUH

#include <cstdint>

#include "cuda/host_device.cuh"

enum { NG_GEMM_ROWS = 128 };

struct ng_gemm_row_tiles {
    const int64_t *offsets; /* null: one group of all rows */
    int n_groups, n_col_blocks, band, rank;
    /* where the walk is: tiles and rows are below 2^31 (gemm_launch.cuh) */
    int group, first, start, bands, end, pairs;
    bool odd;
    /* the tile that seek found */
    int row, col_block, skip;
    bool shares_b;

    NG_HOST_DEVICE ng_gemm_row_tiles(const int64_t *offsets, int n_groups,
                                     int rows, int n_col_blocks, int band,
                                     int rank)
        : offsets(offsets), n_groups(n_groups), n_col_blocks(n_col_blocks),
          band(band), rank(rank), group(0), first(0), start(0), bands(0),
          end(offsets != nullptr ? (int)offsets[1] : rows)
    {
        split();
    }

    NG_HOST_DEVICE void split()
    {
        const int blocks = (end - start + NG_GEMM_ROWS - 1) / NG_GEMM_ROWS;

        pairs = blocks / 2;
        odd = blocks % 2 != 0;
    }

    NG_HOST_DEVICE int count() const
    {
        return pairs * n_col_blocks + (odd ? (n_col_blocks + 1) / 2 : 0);
    }

    /* Go to that tile, at or after the last one. Returns false past the end. */
    NG_HOST_DEVICE bool seek(int tile)
    {
        while (tile >= first + count()) {
            first += count();
            bands += (pairs + band - 1) / band;
            if (++group >= n_groups)
                return false;
            start = end;
            end = (int)offsets[group + 1];
            split();
        }

        const int u = tile - first;

        shares_b = u < pairs * n_col_blocks;
        if (shares_b) {
            const int b = u / (band * n_col_blocks);
            const int left = pairs - b * band;
            const int height = left < band ? left : band;
            const int v = u - b * band * n_col_blocks;
            const int column = v / height;
            const int pair = b * band + v - column * height;

            col_block = column + (bands + b) % n_col_blocks * 2 % n_col_blocks;
            if (col_block >= n_col_blocks)
                col_block -= n_col_blocks;
            row = start + (2 * pair + rank) * NG_GEMM_ROWS;
        } else {
            col_block = 2 * (u - pairs * n_col_blocks) + rank;
            row = start + 2 * pairs * NG_GEMM_ROWS;
        }

        const int over = row + NG_GEMM_ROWS - end;

        skip = over > 0 ? over : 0;
        row -= skip;
        return true;
    }
};

#endif
