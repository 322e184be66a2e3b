/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/convert/ref_transpose_fp8_tile.h"

#include <stddef.h>

#include "reference/convert/ref_elements.h"
#include "reference/convert/ref_fp8_blocks.h"
#include "reference/convert/ref_options.h"
#include "reference/convert/ref_parallel.h"
#include "reference/convert/ref_scales.h"
#include "reference/convert/ref_views.h"

struct job {
    const ng_fp8 *y, *x;
    ng_ref_fp8_blocks blocks; /* of x: a line is a block of its rows */
};

/* Write one scale line of y, a block of x's columns: lines of y, so that the
 * bytes of a packed word have one writer. */
static void transpose_line(const void *context, int64_t i, ng_events *events)
{
    const struct job *job = context;
    const ng_fp8 *y = job->y, *x = job->x;

    (void)events;
    for (int64_t j = 0; j < job->blocks.n_lines; j++) {
        const ng_ref_fp8_block block = ng_ref_fp8_block_at(&job->blocks, j, i);

        ng_ref_store_scale_bits(&y->scales, i, j,
                                ng_ref_load_scale_bits(&x->scales, j, i));
        for (int64_t c = block.cols.begin; c < block.cols.end; c++)
            for (int64_t r = block.rows.begin; r < block.rows.end; r++)
                *ng_ref_fp8_byte(y, c, r) = *ng_ref_fp8_byte(x, r, c);
    }
}

/* y is [cols, rows_of_x], its columns ragged as x's rows are. */
static ng_status check_transposed(const ng_fp8 *y, const ng_fp8 *x,
                                  const ng_options *options)
{
    const int64_t rows = ng_ref_rows(options, x->rows);
    const int64_t row_blocks =
        ng_groups_blocks(ng_ref_groups(options), x->rows, NG_FP8_BLOCK);
    ng_status status;

    if (y->form != NG_FP8_TILE)
        return NG_BAD_LAYOUT;
    if (y->scales.dtype != x->scales.dtype)
        return NG_BAD_DTYPE;
    status =
        ng_ref_check_codes(y->codes, y->rows, y->cols, y->ld, y->rows, rows);
    if (status != NG_OK)
        return status;
    return ng_ref_check_scales(&y->scales, NG_REF_SCALES,
                               ng_ceil_div(y->rows, NG_FP8_BLOCK), row_blocks);
}

ng_status ng_ref_transpose_fp8_tile(const ng_fp8 *y, const ng_fp8 *x,
                                    const ng_options *options)
{
    struct job job = {.y = y, .x = x};
    ng_status status;

    if (y == NULL || x == NULL)
        return NG_BAD_POINTER;
    if (y->rows != x->cols || y->cols != x->rows)
        return NG_BAD_SHAPE;
    if ((status = ng_ref_check_options(options, x->rows, x->cols)) != NG_OK
        || (status = ng_ref_check_fp8(x, 1u << NG_FP8_TILE, options)) != NG_OK
        || (status = check_transposed(y, x, options)) != NG_OK
        || (status = ng_ref_fp8_blocks_open(&job.blocks, NG_FP8_TILE, x->rows,
                                            x->cols, ng_ref_groups(options)))
               != NG_OK)
        return status;
    ng_ref_run(transpose_line, &job, job.blocks.n_scales, options);
    ng_ref_fp8_blocks_close(&job.blocks);
    return NG_OK;
}
