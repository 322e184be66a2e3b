/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/convert/ref_fp8_blocks.h"

#include <stddef.h>
#include <stdlib.h>

ng_ref_range ng_ref_run_of(int64_t i, int64_t size, int64_t n)
{
    const int64_t begin = i * size;

    return (ng_ref_range){begin, n - begin < size ? n : begin + size};
}

/* Number the blocks of all groups on from one to the next. Each group's blocks
 * start at its own first row; an empty group has none. */
static void lay_out_rows(ng_ref_range *row_blocks, const ng_groups *groups,
                         int64_t rows)
{
    const int64_t dense[2] = {0, rows};
    const int64_t *offsets = groups != NULL ? groups->offsets : dense;
    const int64_t n_groups = groups != NULL ? groups->n_groups : 1;
    int64_t block = 0;

    for (int64_t g = 0; g < n_groups; g++) {
        const int64_t first = offsets[g], n = offsets[g + 1] - first;

        for (int64_t i = 0; i * NG_FP8_BLOCK < n; i++) {
            const ng_ref_range run = ng_ref_run_of(i, NG_FP8_BLOCK, n);

            row_blocks[block++] =
                (ng_ref_range){first + run.begin, first + run.end};
        }
    }
}

ng_status ng_ref_fp8_blocks_open(ng_ref_fp8_blocks *blocks, ng_fp8_form form,
                                 int64_t rows, int64_t cols,
                                 const ng_groups *groups)
{
    const int64_t rows_used = ng_groups_rows(groups, rows);
    const int64_t n_row_blocks = ng_groups_blocks(groups, rows, NG_FP8_BLOCK);
    const int64_t n_col_blocks = ng_ceil_div(cols, NG_FP8_BLOCK);

    *blocks = (ng_ref_fp8_blocks){.form = form, .cols = cols};
    if (rows_used == 0 || cols == 0)
        return NG_OK;
    blocks->n_lines = form == NG_FP8_ROW   ? rows_used
                      : form == NG_FP8_COL ? cols
                                           : n_row_blocks;
    blocks->n_scales = form == NG_FP8_COL ? n_row_blocks : n_col_blocks;
    if (form == NG_FP8_ROW)
        return NG_OK;

    if ((uint64_t)n_row_blocks > SIZE_MAX / sizeof *blocks->row_blocks)
        return NG_NO_MEMORY;
    blocks->row_blocks =
        malloc((size_t)n_row_blocks * sizeof *blocks->row_blocks);
    if (blocks->row_blocks == NULL)
        return NG_NO_MEMORY;
    lay_out_rows(blocks->row_blocks, groups, rows);
    return NG_OK;
}

void ng_ref_fp8_blocks_close(ng_ref_fp8_blocks *blocks)
{
    free(blocks->row_blocks);
    blocks->row_blocks = NULL;
}

ng_ref_fp8_block ng_ref_fp8_block_at(const ng_ref_fp8_blocks *blocks,
                                     int64_t line, int64_t scale)
{
    switch (blocks->form) {
    case NG_FP8_ROW:
        return (ng_ref_fp8_block){
            {line, line + 1}, ng_ref_run_of(scale, NG_FP8_BLOCK, blocks->cols)};
    case NG_FP8_COL:
        return (ng_ref_fp8_block){blocks->row_blocks[scale], {line, line + 1}};
    default: /* NG_FP8_TILE */
        return (ng_ref_fp8_block){
            blocks->row_blocks[line],
            ng_ref_run_of(scale, NG_FP8_BLOCK, blocks->cols)};
    }
}
