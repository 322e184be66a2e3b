/* SPDX-License-Identifier: Apache-2.0
 *
 * See grouped_gemm_mxfp4_fprop.h; the kernel is mxfp4_gemm_rows_sm90.cuh.
 */
#include "cuda/moe/grouped_gemm_mxfp4_fprop.h"

#include "cuda/check_views.h"
#include "cuda/moe/gemm_launch.cuh"
#include "cuda/moe/mxfp4_gemm_rows_sm90.cuh"
#include "cuda/moe/place_lines.cuh"
#include "cuda/options.cuh"

static ng_cuda_lines lines_of_a(const ng_mxfp4 *a)
{
    return {a->codes, a->rows, ng_ceil_div(a->cols, 2), a->ld};
}

static ng_cuda_lines lines_of_b(const ng_fp8 *b)
{
    return {b->codes, b->rows, b->cols, b->ld};
}

int64_t ng_cuda_grouped_gemm_mxfp4_fprop_workspace(const ng_mxfp4 *a,
                                                   const ng_fp8 *b)
{
    return ng_cuda_lines_workspace(lines_of_a(a))
           + ng_cuda_lines_workspace(lines_of_b(b));
}

/* Bytes from a line of n scales to the next where the engine can load them: side
 * by side, on 16-byte boundaries, lines apart; else 0. */
static int64_t scales_ld(const ng_scales *scales, int64_t n)
{
    const int64_t ld = scales->ld * (int64_t)ng_dtype_size(scales->dtype);

    return scales->step == 1 && ld >= n && ng_cuda_is_aligned(scales->data, ld)
               ? ld
               : 0;
}

ng_status ng_cuda_grouped_gemm_mxfp4_fprop(const ng_matrix *d,
                                           const ng_mxfp4 *a, const ng_fp8 *b,
                                           const ng_options *options,
                                           const ng_cuda_launch *launch)
{
    if (d == nullptr || a == nullptr || b == nullptr)
        return NG_BAD_POINTER;

    const ng_groups *groups = options != nullptr ? options->groups : nullptr;
    const int64_t n_matrices = groups != nullptr ? groups->n_groups : 1;
    const ng_rules rules = ng_cuda_options_of(options).rules;
    ng_status status =
        ng_gemm_check_rows(d, a->rows, a->cols, b, options, n_matrices,
                           ng_gemm_mxfp4_rows::cols, launch);

    if (status == NG_OK)
        status = ng_cuda_check_mxfp4(a, options);
    if (status != NG_OK)
        return status;
    if (rules.rounding != NG_NEAREST_EVEN)
        return NG_BAD_RULES;
    if (d->rows == 0 || d->cols == 0 || n_matrices == 0)
        return NG_OK;
    if ((status = ng_cuda_check_workspace(
             launch, ng_cuda_grouped_gemm_mxfp4_fprop_workspace(a, b)))
        != NG_OK)
        return status;

    using shape = ng_gemm_mxfp4_rows;
    const cudaStream_t stream = (cudaStream_t)launch->stream;
    const int64_t n = d->cols, k = a->cols;
    const int64_t n_scales = ng_ceil_div(k, NG_MXFP4_BLOCK);
    const int64_t a_scales_ld = scales_ld(&a->scales, n_scales);
    const bool by_engine = a_scales_ld > 0;
    ng_gemm_mxfp4_rows_args args = {
        {groups != nullptr ? groups->offsets : nullptr, (int)n_matrices,
         (int)d->rows, (int)n, (int)k, d->data, d->ld, d->dtype == NG_FP32,
         d->dtype == NG_BF16 && ng_gemm_lines_by_engine(d, 2), a->scales,
         b->scales, launch->events},
        (int)n_scales,
        rules.headroom,
        ng_cuda_align_table_of(rules)};
    const ng_cuda_tensor_view d_view = {d->data,
                                        CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
                                        2,
                                        {n, d->rows, 1},
                                        {d->ld * 2, 0},
                                        {64, 64, 1},
                                        true};
    const ng_cuda_tensor_view scales_view = {a->scales.data,
                                             CU_TENSOR_MAP_DATA_TYPE_UINT8,
                                             2,
                                             {n_scales, a->rows, 1},
                                             {a_scales_ld, 0},
                                             {16, NG_GEMM_ROWS, 1},
                                             false};
    CUtensorMap map_a = {}, map_b = {}, map_scales = {}, map_d = {};
    uint8_t *workspace = (uint8_t *)launch->workspace;
    ng_cuda_lines a_lines = lines_of_a(a), b_lines = lines_of_b(b);

    if (args.rows.d_by_engine
        && (status = ng_cuda_tensor_map(&map_d, &d_view)) != NG_OK)
        return status;
    /* Without products (k = 0) nothing is loaded. */
    if (k > 0
        && ((status = ng_cuda_place_lines(&a_lines, groups, &workspace, stream))
                != NG_OK
            || (status =
                    ng_cuda_place_lines(&b_lines, nullptr, &workspace, stream))
                   != NG_OK
            || (status =
                    ng_gemm_map_lines(&map_a, a_lines, 64, NG_GEMM_ROWS / 2))
                   != NG_OK
            || (status =
                    ng_gemm_map_lines(&map_b, b_lines, 128, shape::cols / 2))
                   != NG_OK
            || (by_engine
                && (status = ng_cuda_tensor_map(&map_scales, &scales_view))
                       != NG_OK)))
        return status;
    return ng_gemm_launch(
        by_engine ? ng_mxfp4_gemm_rows<true> : ng_mxfp4_gemm_rows<false>,
        shape::shared_bytes, stream, map_a, map_b, map_scales, map_d, args);
}
