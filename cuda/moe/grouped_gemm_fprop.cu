/* SPDX-License-Identifier: Apache-2.0
 *
 * See grouped_gemm_fprop.h; the kernel is fp8_gemm_rows_sm90.cuh.
 */
#include "cuda/moe/grouped_gemm_fprop.h"

#include "cuda/check_views.h"
#include "cuda/moe/fp8_gemm_rows_sm90.cuh"
#include "cuda/moe/gemm_launch.cuh"
#include "cuda/moe/place_lines.cuh"

static ng_cuda_lines lines_of(const ng_fp8 *x)
{
    return {x->codes, x->rows, x->cols, x->ld};
}

int64_t ng_cuda_grouped_gemm_fprop_workspace(const ng_fp8 *a, const ng_fp8 *b)
{
    return ng_cuda_lines_workspace(lines_of(a))
           + ng_cuda_lines_workspace(lines_of(b));
}

ng_status ng_cuda_grouped_gemm_fprop(const ng_matrix *d, const ng_fp8 *a,
                                     const ng_fp8 *b, const ng_options *options,
                                     const ng_cuda_launch *launch)
{
    if (d == nullptr || a == nullptr || b == nullptr)
        return NG_BAD_POINTER;

    const ng_groups *groups = options != nullptr ? options->groups : nullptr;
    const int64_t n_matrices = groups != nullptr ? groups->n_groups : 1;
    ng_status status =
        ng_gemm_check_rows(d, a->rows, a->cols, b, options, n_matrices,
                           ng_gemm_rows::cols, launch);

    if (status == NG_OK)
        status = ng_cuda_check_fp8(a, 1u << NG_FP8_ROW, options);
    if (status != NG_OK)
        return status;
    if (d->rows == 0 || d->cols == 0 || n_matrices == 0)
        return NG_OK;
    if ((status = ng_cuda_check_workspace(
             launch, ng_cuda_grouped_gemm_fprop_workspace(a, b)))
        != NG_OK)
        return status;

    using shape = ng_gemm_rows;
    const cudaStream_t stream = (cudaStream_t)launch->stream;
    const int64_t n = d->cols, k = a->cols, blocks = ng_ceil_div(k, 128);
    const bool by_engine =
        ng_gemm_scales_by_engine(&a->scales, a->rows, blocks);
    const ng_gemm_rows_args args = {
        groups != nullptr ? groups->offsets : nullptr,
        (int)n_matrices,
        (int)d->rows,
        (int)n,
        (int)k,
        d->data,
        d->ld,
        d->dtype == NG_FP32,
        d->dtype == NG_BF16 && ng_gemm_lines_by_engine(d, 2),
        a->scales,
        b->scales,
        launch->events};
    const ng_cuda_tensor_view d_view = {d->data,
                                        CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
                                        2,
                                        {n, d->rows, 1},
                                        {d->ld * 2, 0},
                                        {64, 64, 1},
                                        true};
    CUtensorMap map_a = {}, map_b = {}, map_scales = {}, map_d = {};
    uint8_t *workspace = (uint8_t *)launch->workspace;
    ng_cuda_lines a_lines = lines_of(a), b_lines = lines_of(b);

    if (args.d_by_engine
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
                    ng_gemm_map_lines(&map_a, a_lines, 128, NG_GEMM_ROWS / 2))
                   != NG_OK
            || (status =
                    ng_gemm_map_lines(&map_b, b_lines, 128, shape::cols / 2))
                   != NG_OK
            || (by_engine
                && (status =
                        ng_gemm_map_scales(&map_scales, &a->scales, a->rows,
                                           blocks, NG_GEMM_ROWS + 4))
                       != NG_OK)))
        return status;
    return ng_gemm_launch(
        by_engine ? ng_fp8_gemm_rows<true> : ng_fp8_gemm_rows<false>,
        shape::shared_bytes, stream, map_a, map_b, map_scales, map_d, args);
}
