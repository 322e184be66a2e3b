/* SPDX-License-Identifier: Apache-2.0
 *
 * See grouped_gemm_fprop.h; the kernel is fp8_gemm_rows_sm90.cuh.
 */
#include "cuda/moe/grouped_gemm_fprop.h"

#include "cuda/check_views.h"
#include "cuda/moe/fp8_gemm_rows_sm90.cuh"
#include "cuda/moe/gemm_launch.cuh"
#include "cuda/moe/pack_codes.cuh"

static int64_t packed_bytes(const ng_fp8 *x)
{
    return ng_cuda_is_aligned(x->codes, x->ld)
               ? 0
               : ng_cuda_packed_bytes(x->rows, x->cols);
}

int64_t ng_cuda_grouped_gemm_fprop_workspace(const ng_fp8 *a, const ng_fp8 *b)
{
    return packed_bytes(a) + packed_bytes(b);
}

static ng_status check(const ng_matrix *d, const ng_fp8 *a, const ng_fp8 *b,
                       const ng_options *options, int64_t n_matrices,
                       const ng_cuda_launch *launch)
{
    const int64_t n = d->cols, k = a->cols;
    ng_status status = ng_cuda_check_call(options, d->rows, n, launch);

    if (status != NG_OK)
        return status;
    if (a->rows != d->rows || b->cols != k || k < 0
        || (n > 0 && n_matrices > NG_GEMM_LARGEST_EXTENT / n)
        || b->rows != n_matrices * n || a->rows > NG_GEMM_LARGEST_EXTENT
        || k > NG_GEMM_LARGEST_EXTENT
        || !ng_gemm_countable(n_matrices, a->rows / NG_GEMM_ROWS + n_matrices,
                              n / ng_gemm_rows::cols + 2))
        return NG_BAD_SHAPE;
    if (b->form != NG_FP8_TILE)
        return NG_BAD_LAYOUT;
    if ((status = ng_cuda_check_matrix(d, 1u << NG_BF16 | 1u << NG_FP32))
            != NG_OK
        || (status = ng_cuda_check_fp8(a, 1u << NG_FP8_ROW, options)) != NG_OK
        || (status = ng_cuda_check_codes(b->codes, b->rows, k, b->ld)) != NG_OK)
        return status;
    return ng_cuda_check_scales(&b->scales, NG_CUDA_SCALES,
                                n_matrices * ng_ceil_div(n, NG_FP8_BLOCK),
                                ng_ceil_div(k, NG_FP8_BLOCK), true);
}

/* Where x's codes start and how far apart its lines are, after a copy to
 * *workspace, which moves on, if need be. */
static ng_status place(const uint8_t **codes, int64_t *ld, const ng_fp8 *x,
                       const ng_groups *groups, uint8_t **workspace,
                       cudaStream_t stream)
{
    *codes = x->codes;
    *ld = x->ld;
    if (packed_bytes(x) == 0)
        return NG_OK;
    *codes = *workspace;
    *ld = ng_cuda_packed_width(x->cols);
    *workspace += packed_bytes(x);
    return ng_cuda_pack_codes((uint8_t *)*codes, x->codes, x->rows, x->cols,
                              x->ld,
                              groups != nullptr ? groups->offsets : nullptr,
                              groups != nullptr ? groups->n_groups : 0, stream);
}

ng_status ng_cuda_grouped_gemm_fprop(const ng_matrix *d, const ng_fp8 *a,
                                     const ng_fp8 *b, const ng_options *options,
                                     const ng_cuda_launch *launch)
{
    if (d == nullptr || a == nullptr || b == nullptr)
        return NG_BAD_POINTER;

    const ng_groups *groups = options != nullptr ? options->groups : nullptr;
    const int64_t n_matrices = groups != nullptr ? groups->n_groups : 1;
    ng_status status = check(d, a, b, options, n_matrices, launch);

    if (status != NG_OK)
        return status;
    if (d->rows == 0 || d->cols == 0 || n_matrices == 0)
        return NG_OK;
    if (ng_cuda_grouped_gemm_fprop_workspace(a, b) > launch->workspace_bytes)
        return NG_NO_MEMORY;

    using shape = ng_gemm_rows;
    const cudaStream_t stream = (cudaStream_t)launch->stream;
    const int64_t n = d->cols, k = a->cols, blocks = ng_ceil_div(k, 128);
    const bool by_engine = ng_gemm_scales_by_engine(&a->scales, blocks);
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
    const uint8_t *a_codes, *b_codes;
    int64_t a_ld, b_ld;

    if (args.d_by_engine
        && (status = ng_cuda_tensor_map(&map_d, &d_view)) != NG_OK)
        return status;
    /* Without products (k = 0) nothing is loaded. */
    if (k > 0
        && ((status = place(&a_codes, &a_ld, a, groups, &workspace, stream))
                != NG_OK
            || (status = place(&b_codes, &b_ld, b, nullptr, &workspace, stream))
                   != NG_OK
            || (status = ng_gemm_map_codes(&map_a, a_codes, a->rows, k, a_ld,
                                           NG_GEMM_ROWS / 2))
                   != NG_OK
            || (status = ng_gemm_map_codes(&map_b, b_codes, b->rows, k, b_ld,
                                           shape::cols / 2))
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
