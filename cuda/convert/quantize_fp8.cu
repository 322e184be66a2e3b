/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers to FP8, any form: the launcher; see quantize_fp8_row.cu,
 * quantize_fp8_col.cu and quantize_fp8_tile.cu for the fast paths.
 */
#include "cuda/convert/quantize_fp8.h"

#include "cuda/check_views.h"
#include "cuda/convert/col_fast.cuh"
#include "cuda/convert/quantize_fp8_fast.cuh"
#include "cuda/general.cuh"

/* Stochastic rounding and UE8M0 scales want powers of two (semantics.md 1, 4).
 */
static ng_status check_rules(const ng_rules &rules, const ng_scales &scales)
{
    return rules.fp8_scale != NG_FP8_POW2
                   && (rules.rounding == NG_STOCHASTIC
                       || scales.dtype != NG_FP32)
               ? NG_BAD_RULES
               : NG_OK;
}

extern "C" ng_status ng_cuda_quantize_fp8(const ng_fp8 *y, const ng_matrix *x,
                                          const ng_options *options,
                                          const ng_cuda_launch *launch)
{
    ng_status status;

    if (y == nullptr || x == nullptr)
        return NG_BAD_POINTER;
    if (y->rows != x->rows || y->cols != x->cols)
        return NG_BAD_SHAPE;
    if ((status = ng_cuda_check_call(options, x->rows, x->cols, launch))
            != NG_OK
        || (status = ng_cuda_check_fp8(y, NG_CUDA_FP8_FORMS, options)) != NG_OK
        || (status = ng_cuda_check_matrix(x, NG_CUDA_FLOATS)) != NG_OK)
        return status;

    const ng_cuda_quantize_fp8_job job = {*y, *x, ng_cuda_options_of(options)};

    if ((status = check_rules(job.o.rules, y->scales)) != NG_OK)
        return status;
    if (x->rows == 0 || x->cols == 0)
        return NG_OK;
    if (job.o.rules.rounding == NG_NEAREST_EVEN && launch->events == nullptr) {
        if (ng_cuda_quantize_fp8_row_takes(job))
            return ng_cuda_quantize_fp8_row(job, launch);
        if (ng_cuda_quantize_fp8_col_takes(job))
            return ng_cuda_quantize_fp8_col(job, launch);
        if (ng_cuda_quantize_fp8_tile_takes(job))
            return ng_cuda_quantize_fp8_tile(job, launch);
    }
    return ng_cuda_run_general(
        job, ng_cuda_outer_blocks(y->form, x->rows, job.o) * job.inner(),
        launch);
}
