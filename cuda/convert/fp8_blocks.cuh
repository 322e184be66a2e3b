/* SPDX-License-Identifier: Apache-2.0
 *
 * The blocks of an FP8 tensor, of any form, by number: which elements each has
 * and where its scale lies. What general paths walk over.
 */
#ifndef NG_CUDA_CONVERT_FP8_BLOCKS_CUH
#define NG_CUDA_CONVERT_FP8_BLOCKS_CUH

#include "cuda/options.cuh"
#include "formats/layout.h"

struct ng_cuda_block {
    int64_t first_row, last_row; /* first .. last - 1; none: equal */
    int64_t first_col, last_col;
    int64_t line, scale; /* its place in the plane of scales */
    int64_t n_scales;    /* of that line */
};

/* Blocks of 128 rows that the tensor has. */
NG_HOST_DEVICE int64_t ng_cuda_row_blocks(const ng_cuda_options &o,
                                          int64_t rows)
{
    if (o.offsets == nullptr)
        return (rows + NG_FP8_BLOCK - 1) / NG_FP8_BLOCK;

    int64_t blocks = 0;

    for (int64_t g = 0; g < o.n_groups; g++)
        blocks +=
            (o.offsets[g + 1] - o.offsets[g] + NG_FP8_BLOCK - 1) / NG_FP8_BLOCK;
    return blocks;
}

/* Block i of `form`, blocks of a row of blocks counted first: i runs to
 * n_outer * n_inner with n_inner = ceil(cols / 128), in the col form cols, and
 * n_outer the rows, or the blocks of rows. */
NG_HOST_DEVICE int64_t ng_cuda_inner_blocks(ng_fp8_form form, int64_t cols)
{
    return form == NG_FP8_COL ? cols : (cols + NG_FP8_BLOCK - 1) / NG_FP8_BLOCK;
}

NG_HOST_DEVICE ng_cuda_block ng_cuda_block_at(ng_fp8_form form, int64_t rows,
                                              int64_t cols,
                                              const ng_cuda_options &o,
                                              int64_t outer, int64_t inner)
{
    ng_cuda_block block = {};

    if (form == NG_FP8_ROW) {
        block.first_row = outer;
        block.last_row = outer + (outer < ng_cuda_rows(o, rows));
    } else {
        const ng_cuda_row_range range =
            ng_cuda_row_block(o, rows, NG_FP8_BLOCK, outer);

        block.first_row = range.first;
        block.last_row = range.last;
    }
    block.first_col = form == NG_FP8_COL ? inner : inner * NG_FP8_BLOCK;
    block.last_col = block.first_col + (form == NG_FP8_COL ? 1 : NG_FP8_BLOCK);
    block.last_col = block.last_col < cols ? block.last_col : cols;
    block.line = form == NG_FP8_COL ? inner : outer;
    block.scale = form == NG_FP8_COL ? outer : inner;
    block.n_scales = form == NG_FP8_COL ? ng_cuda_row_blocks(o, rows)
                                        : ng_cuda_inner_blocks(form, cols);
    return block;
}

/* At least as many as there are rows or blocks of rows, known to the host too.
 */
NG_HOST_DEVICE int64_t ng_cuda_outer_blocks(ng_fp8_form form, int64_t rows,
                                            const ng_cuda_options &o)
{
    return form == NG_FP8_ROW ? rows
                              : ng_cuda_most_row_blocks(o, rows, NG_FP8_BLOCK);
}

#endif
