/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/convert/ref_quantize_mxfp8.h"

#include <stddef.h>

#include "reference/convert/ref_elements.h"
#include "reference/convert/ref_fp8_blocks.h"
#include "reference/convert/ref_mx_coding.h"
#include "reference/convert/ref_options.h"
#include "reference/convert/ref_parallel.h"
#include "reference/convert/ref_views.h"

struct job {
    const ng_mxfp8 *y;
    const ng_matrix *x;
    const ng_options *options;
};

static void quantize_row(const void *context, int64_t r, ng_events *events)
{
    const struct job *job = context;
    const int64_t n_blocks = ng_ceil_div(job->x->cols, NG_MXFP8_BLOCK);

    for (int64_t b = 0; b < n_blocks; b++) {
        const ng_ref_range run = ng_ref_run_of(b, NG_MXFP8_BLOCK, job->x->cols);
        const int n = (int)(run.end - run.begin);
        ng_exact v[NG_MXFP8_BLOCK];

        for (int i = 0; i < n; i++)
            v[i] = ng_ref_load(job->x, r, run.begin + i);
        ng_ref_store_mxfp8_block(job->y, r, b, v, n, job->options, events);
    }
}

ng_status ng_ref_quantize_mxfp8(const ng_mxfp8 *y, const ng_matrix *x,
                                const ng_options *options)
{
    const struct job job = {y, x, options};
    ng_status status;

    if (y == NULL || x == NULL)
        return NG_BAD_POINTER;
    if (y->rows != x->rows || y->cols != x->cols)
        return NG_BAD_SHAPE;
    if ((status = ng_ref_check_options(options, x->rows, x->cols)) != NG_OK
        || (status = ng_ref_check_mxfp8(y, options)) != NG_OK
        || (status = ng_ref_check_matrix(x, NG_REF_FLOATS, options)) != NG_OK)
        return status;
    if (x->cols > 0)
        ng_ref_run(quantize_row, &job, ng_ref_rows(options, x->rows), options);
    return NG_OK;
}
