/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/convert/ref_quantize_fp8.h"

#include <stddef.h>

#include "reference/convert/ref_amax.h"
#include "reference/convert/ref_elements.h"
#include "reference/convert/ref_fp8_blocks.h"
#include "reference/convert/ref_fp8_coding.h"
#include "reference/convert/ref_options.h"
#include "reference/convert/ref_parallel.h"
#include "reference/convert/ref_scales.h"
#include "reference/convert/ref_views.h"

struct job {
    const ng_fp8 *y;
    const ng_matrix *x;
    const ng_options *options;
    ng_ref_fp8_blocks blocks;
};

static ng_ref_fp8_unit block_unit(const struct job *job, ng_ref_fp8_block block)
{
    ng_ref_fp8_contents contents = {.amax = ng_ref_no_amax};

    for (int64_t r = block.rows.begin; r < block.rows.end; r++)
        for (int64_t c = block.cols.begin; c < block.cols.end; c++)
            ng_ref_fp8_meet(&contents, ng_ref_load(job->x, r, c));
    return ng_ref_fp8_unit_of(&contents, ng_ref_rules(job->options),
                              ng_ref_format(job->x->dtype));
}

static void quantize_block(const struct job *job, ng_ref_fp8_block block,
                           const ng_ref_fp8_unit *unit, ng_events *events)
{
    for (int64_t r = block.rows.begin; r < block.rows.end; r++)
        for (int64_t c = block.cols.begin; c < block.cols.end; c++) {
            unsigned bits = 0;

            *ng_ref_fp8_byte(job->y, r, c) = ng_ref_fp8_code(
                ng_ref_load(job->x, r, c), unit, ng_ref_rules(job->options),
                ng_ref_random(job->options, r, c, job->y->cols), &bits);
            ng_events_count(events, bits);
        }
}

static void quantize_line(const void *context, int64_t line, ng_events *events)
{
    const struct job *job = context;

    for (int64_t s = 0; s < job->blocks.n_scales; s++) {
        const ng_ref_fp8_block block =
            ng_ref_fp8_block_at(&job->blocks, line, s);
        const ng_ref_fp8_unit unit = block_unit(job, block);

        ng_ref_store_scale(&job->y->scales, line, s, unit.scale);
        quantize_block(job, block, &unit, events);
    }
}

ng_status ng_ref_quantize_fp8(const ng_fp8 *y, const ng_matrix *x,
                              const ng_options *options)
{
    struct job job = {.y = y, .x = x, .options = options};
    ng_status status;

    if (y == NULL || x == NULL)
        return NG_BAD_POINTER;
    if (y->rows != x->rows || y->cols != x->cols)
        return NG_BAD_SHAPE;
    if ((status = ng_ref_check_options(options, x->rows, x->cols)) != NG_OK
        || (status = ng_ref_check_fp8(y, NG_REF_FP8_FORMS, options)) != NG_OK
        || (status = ng_ref_check_matrix(x, NG_REF_FLOATS, options)) != NG_OK
        || (status = ng_ref_check_fp8_rules(ng_ref_rules(options), &y->scales))
               != NG_OK
        || (status = ng_ref_fp8_blocks_open(&job.blocks, y->form, x->rows,
                                            x->cols, ng_ref_groups(options)))
               != NG_OK)
        return status;
    ng_ref_run(quantize_line, &job, job.blocks.n_lines, options);
    ng_ref_fp8_blocks_close(&job.blocks);
    return NG_OK;
}
