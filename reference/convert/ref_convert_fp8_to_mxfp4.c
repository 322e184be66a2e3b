/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/convert/ref_convert_fp8_to_mxfp4.h"

#include <stddef.h>

#include "reference/convert/ref_elements.h"
#include "reference/convert/ref_fp8_blocks.h"
#include "reference/convert/ref_mx_coding.h"
#include "reference/convert/ref_options.h"
#include "reference/convert/ref_parallel.h"
#include "reference/convert/ref_scales.h"
#include "reference/convert/ref_views.h"

struct job {
    const ng_mxfp4 *y;
    const ng_fp8 *x;
    const ng_options *options;
    ng_ref_fp8_blocks blocks; /* of x */
};

/* Convert what one row has under one FP8 scale: up to four MXFP4 blocks. */
static void convert_run(const struct job *job, int64_t r, ng_ref_range cols,
                        ng_exact scale, ng_events *events)
{
    /* Under an infinite scale too all is NaN: 0 times it is, and no other code
     * times it is a number. */
    for (int64_t begin = cols.begin; begin < cols.end;
         begin += NG_MXFP4_BLOCK) {
        const int64_t left = cols.end - begin;
        const int n = left < NG_MXFP4_BLOCK ? (int)left : NG_MXFP4_BLOCK;
        ng_exact v[NG_MXFP4_BLOCK];

        for (int i = 0; i < n; i++) {
            v[i] = (ng_exact){.kind = NG_EXACT_NAN};
            if (scale.kind == NG_EXACT_FINITE)
                v[i] = ng_exact_product(ng_ref_load_fp8(job->x, r, begin + i),
                                        scale);
        }
        ng_ref_store_mxfp4_block(job->y, r, begin / NG_MXFP4_BLOCK, v, n,
                                 job->options, events);
    }
}

static void convert_line(const void *context, int64_t line, ng_events *events)
{
    const struct job *job = context;

    for (int64_t s = 0; s < job->blocks.n_scales; s++) {
        const ng_exact scale = ng_ref_load_scale(&job->x->scales, line, s);
        const ng_ref_fp8_block block =
            ng_ref_fp8_block_at(&job->blocks, line, s);

        for (int64_t r = block.rows.begin; r < block.rows.end; r++)
            convert_run(job, r, block.cols, scale, events);
    }
}

ng_status ng_ref_convert_fp8_to_mxfp4(const ng_mxfp4 *y, const ng_fp8 *x,
                                      const ng_options *options)
{
    const unsigned forms = 1u << NG_FP8_ROW | 1u << NG_FP8_TILE;
    struct job job = {.y = y, .x = x, .options = options};
    ng_status status;

    if (y == NULL || x == NULL)
        return NG_BAD_POINTER;
    if (y->rows != x->rows || y->cols != x->cols)
        return NG_BAD_SHAPE;
    if ((status = ng_ref_check_options(options, x->rows, x->cols)) != NG_OK
        || (status = ng_ref_check_mxfp4(y, options)) != NG_OK
        || (status = ng_ref_check_fp8(x, forms, options)) != NG_OK
        || (status = ng_ref_fp8_blocks_open(&job.blocks, x->form, x->rows,
                                            x->cols, ng_ref_groups(options)))
               != NG_OK)
        return status;
    ng_ref_run(convert_line, &job, job.blocks.n_lines, options);
    ng_ref_fp8_blocks_close(&job.blocks);
    return NG_OK;
}
