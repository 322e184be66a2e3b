/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/check_views.h"
#include "cuda/moe/gemm_launch.cuh"
#include "cuda/moe/gemm_row_tiles.cuh"

ng_status ng_gemm_check_rows(const ng_matrix *d, int64_t rows, int64_t k,
                             const ng_fp8 *b, const ng_options *options,
                             int64_t n_matrices, int tile_cols,
                             const ng_cuda_launch *launch)
{
    const int64_t n = d->cols;
    ng_status status = ng_cuda_check_call(options, d->rows, n, launch);

    if (status != NG_OK)
        return status;
    if (rows != d->rows || b->cols != k || k < 0
        || (n > 0 && n_matrices > NG_GEMM_LARGEST_EXTENT / n)
        || b->rows != n_matrices * n || rows > NG_GEMM_LARGEST_EXTENT
        || k > NG_GEMM_LARGEST_EXTENT
        || !ng_gemm_countable(n_matrices, rows / NG_GEMM_ROWS + n_matrices,
                              n / tile_cols + 2))
        return NG_BAD_SHAPE;
    if (b->form != NG_FP8_TILE)
        return NG_BAD_LAYOUT;
    if ((status = ng_cuda_check_matrix(d, 1u << NG_BF16 | 1u << NG_FP32))
            != NG_OK
        || (status = ng_cuda_check_codes(b->codes, b->rows, k, b->ld)) != NG_OK)
        return status;
    return ng_cuda_check_scales(&b->scales, NG_CUDA_SCALES,
                                n_matrices * ng_ceil_div(n, NG_FP8_BLOCK),
                                ng_ceil_div(k, NG_FP8_BLOCK), true);
}
