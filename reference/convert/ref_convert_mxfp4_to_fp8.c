/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/convert/ref_convert_mxfp4_to_fp8.h"

#include <stddef.h>

#include "reference/convert/ref_elements.h"
#include "reference/convert/ref_fp8_alignment.h"
#include "reference/convert/ref_fp8_blocks.h"
#include "reference/convert/ref_options.h"
#include "reference/convert/ref_parallel.h"
#include "reference/convert/ref_scales.h"
#include "reference/convert/ref_views.h"

struct job {
    const ng_fp8 *y;
    const ng_mxfp4 *x;
    const ng_options *options;
    ng_ref_fp8_blocks blocks;
};

/* The exponent k of S = 2^k over all MXFP4 blocks that reach into an FP8 block:
 * up to four of one row, or one of each of up to 128 rows. */
static int block_exponent(const struct job *job, ng_ref_fp8_block block)
{
    ng_ref_alignment alignment = {.any = false};

    for (int64_t r = block.rows.begin; r < block.rows.end; r++)
        for (int64_t b = block.cols.begin / NG_MXFP4_BLOCK;
             b <= (block.cols.end - 1) / NG_MXFP4_BLOCK; b++)
            ng_ref_alignment_add(&alignment,
                                 ng_ref_load_scale(&job->x->scales, r, b));
    return ng_ref_alignment_exponent(
        &alignment, ng_ref_rules(job->options)->headroom, job->y->scales.dtype);
}

static void convert_block(const struct job *job, ng_ref_fp8_block block, int k,
                          ng_events *events)
{
    const ng_mxfp4 *x = job->x;

    for (int64_t r = block.rows.begin; r < block.rows.end; r++)
        for (int64_t c = block.cols.begin; c < block.cols.end; c++) {
            const ng_exact q =
                ng_exact_decode(&ng_formats[NG_FORMAT_E2M1],
                                ng_ref_load_nibble(x->codes + r * x->ld, c));
            unsigned bits = 0;

            *ng_ref_fp8_byte(job->y, r, c) = ng_ref_aligned_code(
                q, ng_ref_load_scale(&x->scales, r, c / NG_MXFP4_BLOCK), k,
                ng_ref_rules(job->options), &bits);
            ng_events_count(events, bits);
        }
}

static void convert_line(const void *context, int64_t line, ng_events *events)
{
    const struct job *job = context;

    for (int64_t s = 0; s < job->blocks.n_scales; s++) {
        const ng_ref_fp8_block block =
            ng_ref_fp8_block_at(&job->blocks, line, s);
        const int k = block_exponent(job, block);

        ng_ref_store_scale(&job->y->scales, line, s, ng_ref_power_of_two(k));
        convert_block(job, block, k, events);
    }
}

ng_status ng_ref_convert_mxfp4_to_fp8(const ng_fp8 *y, const ng_mxfp4 *x,
                                      const ng_options *options)
{
    const unsigned forms = 1u << NG_FP8_ROW | 1u << NG_FP8_COL;
    struct job job = {.y = y, .x = x, .options = options};
    ng_status status;

    if (y == NULL || x == NULL)
        return NG_BAD_POINTER;
    if (y->rows != x->rows || y->cols != x->cols)
        return NG_BAD_SHAPE;
    if ((status = ng_ref_check_options(options, x->rows, x->cols)) != NG_OK
        || (status = ng_ref_check_fp8(y, forms, options)) != NG_OK
        || (status = ng_ref_check_mxfp4(x, options)) != NG_OK)
        return status;
    if (ng_ref_rules(options)->rounding != NG_NEAREST_EVEN)
        return NG_BAD_RULES;
    status = ng_ref_fp8_blocks_open(&job.blocks, y->form, x->rows, x->cols,
                                    ng_ref_groups(options));
    if (status != NG_OK)
        return status;
    ng_ref_run(convert_line, &job, job.blocks.n_lines, options);
    ng_ref_fp8_blocks_close(&job.blocks);
    return NG_OK;
}
