/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/convert/ref_dequantize_fp8.h"

#include <stddef.h>

#include "reference/convert/ref_decoding.h"
#include "reference/convert/ref_elements.h"
#include "reference/convert/ref_fp8_blocks.h"
#include "reference/convert/ref_options.h"
#include "reference/convert/ref_parallel.h"
#include "reference/convert/ref_scales.h"
#include "reference/convert/ref_views.h"

struct job {
    const ng_matrix *y;
    const ng_fp8 *x;
    const ng_options *options;
    ng_ref_fp8_blocks blocks;
};

static void dequantize_block(const struct job *job, ng_ref_fp8_block block,
                             ng_exact scale, ng_events *events)
{
    for (int64_t r = block.rows.begin; r < block.rows.end; r++)
        for (int64_t c = block.cols.begin; c < block.cols.end; c++) {
            unsigned bits = 0;
            const uint32_t code = ng_ref_decode_element(
                ng_ref_load_fp8(job->x, r, c), scale, job->y->dtype,
                ng_ref_rules(job->options), &bits);

            ng_ref_store(job->y, r, c, code);
            ng_events_count(events, bits);
        }
}

static void dequantize_line(const void *context, int64_t line,
                            ng_events *events)
{
    const struct job *job = context;

    for (int64_t s = 0; s < job->blocks.n_scales; s++)
        dequantize_block(job, ng_ref_fp8_block_at(&job->blocks, line, s),
                         ng_ref_load_scale(&job->x->scales, line, s), events);
}

ng_status ng_ref_dequantize_fp8(const ng_matrix *y, const ng_fp8 *x,
                                const ng_options *options)
{
    struct job job = {.y = y, .x = x, .options = options};
    ng_status status;

    if (y == NULL || x == NULL)
        return NG_BAD_POINTER;
    if (y->rows != x->rows || y->cols != x->cols)
        return NG_BAD_SHAPE;
    if ((status = ng_ref_check_options(options, x->rows, x->cols)) != NG_OK
        || (status = ng_ref_check_matrix(y, NG_REF_FLOATS, options)) != NG_OK
        || (status = ng_ref_check_fp8(x, NG_REF_FP8_FORMS, options)) != NG_OK
        || (status = ng_ref_fp8_blocks_open(&job.blocks, x->form, x->rows,
                                            x->cols, ng_ref_groups(options)))
               != NG_OK)
        return status;
    ng_ref_run(dequantize_line, &job, job.blocks.n_lines, options);
    ng_ref_fp8_blocks_close(&job.blocks);
    return NG_OK;
}
