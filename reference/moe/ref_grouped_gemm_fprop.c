/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/moe/ref_grouped_gemm_fprop.h"

#include <stddef.h>

#include "reference/convert/ref_options.h"
#include "reference/convert/ref_parallel.h"
#include "reference/convert/ref_views.h"
#include "reference/moe/ref_gemm_element.h"
#include "reference/moe/ref_gemm_views.h"

struct job {
    const ng_matrix *d;
    const ng_fp8 *a, *b;
    const ng_options *options;
};

static void multiply_row(const void *context, int64_t t, ng_events *events)
{
    const struct job *job = context;
    const ng_fp8 *a = job->a, *b = job->b;
    const int64_t g = ng_ref_gemm_group(job->options, t);
    const int64_t n_cols = job->d->cols;
    const ng_ref_gemm_line row = {
        .codes = a->codes + t * a->ld, .scales = &a->scales, .line = t};

    for (int64_t n = 0; n < n_cols; n++) {
        const ng_ref_gemm_line weights = {
            .codes = b->codes + (g * n_cols + n) * b->ld,
            .scales = &b->scales,
            .line = g * ng_ceil_div(n_cols, NG_FP8_BLOCK) + n / NG_FP8_BLOCK};

        ng_ref_gemm_store(
            job->d, NULL, t, n,
            ng_ref_gemm_accumulate(&row, &weights, a->cols,
                                   ng_ref_rules(job->options)->gemm),
            events);
    }
}

ng_status ng_ref_grouped_gemm_fprop(const ng_matrix *d, const ng_fp8 *a,
                                    const ng_fp8 *b, const ng_options *options)
{
    const struct job job = {d, a, b, options};
    ng_status status;

    if (d == NULL || a == NULL || b == NULL)
        return NG_BAD_POINTER;
    if (d->rows != a->rows)
        return NG_BAD_SHAPE;
    if ((status = ng_ref_check_options(options, a->rows, a->cols)) != NG_OK
        || (status = ng_ref_check_gemm_product(d, options)) != NG_OK
        || (status = ng_ref_check_fp8(a, 1u << NG_FP8_ROW, options)) != NG_OK
        || (status = ng_ref_check_gemm_weights(b, d->cols, a->cols, options))
               != NG_OK)
        return status;
    ng_ref_run(multiply_row, &job, ng_ref_rows(options, a->rows), options);
    return NG_OK;
}
