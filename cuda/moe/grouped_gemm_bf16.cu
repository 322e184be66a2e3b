/* SPDX-License-Identifier: Apache-2.0
 *
 * See grouped_gemm_bf16.h; the kernel is bf16_gemm_sm90.cuh.
 */
#include "cuda/moe/grouped_gemm_bf16.h"

#include "cuda/check_views.h"
#include "cuda/moe/bf16_gemm_sm90.cuh"
#include "cuda/moe/gemm_launch.cuh"
#include "cuda/moe/place_lines.cuh"

static ng_cuda_lines lines_of(const ng_matrix *x)
{
    return {(const uint8_t *)x->data, x->rows, x->cols * 2, x->ld * 2};
}

int64_t ng_cuda_grouped_gemm_bf16_workspace(const ng_matrix *a,
                                            const ng_matrix *b)
{
    return ng_cuda_lines_workspace(lines_of(a))
           + ng_cuda_lines_workspace(lines_of(b));
}

/* The map of x, in boxes of 64 elements of `rows` rows, after a copy to
 * *workspace, which moves on, if need be. groups: those of x's rows. */
static ng_status map_rows(CUtensorMap *map, const ng_matrix *x, int rows,
                          const ng_groups *groups, uint8_t **workspace,
                          cudaStream_t stream)
{
    ng_cuda_lines at = lines_of(x);
    const ng_status status =
        ng_cuda_place_lines(&at, groups, workspace, stream);

    if (status != NG_OK)
        return status;

    const ng_cuda_tensor_view view = {
        at.bytes,   CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
        2,          {x->cols, x->rows, 1},
        {at.ld, 0}, {64, rows, 1},
        true};

    return ng_cuda_tensor_map(map, &view);
}

/* Whether pairs from even columns lie on a boundary of their own size. */
static bool has_pairs(const ng_matrix *x)
{
    const int64_t size = 2 * (int64_t)ng_dtype_size(x->dtype);

    return x->ld % 2 == 0 && (uintptr_t)x->data % (uintptr_t)size == 0;
}

static ng_bf16_gemm_args arguments(const ng_matrix *d, const ng_matrix *c,
                                   int64_t rows, int64_t n, int64_t k,
                                   const ng_groups *groups, ng_events *events)
{
    return {groups != nullptr ? groups->offsets : nullptr,
            groups != nullptr ? (int)groups->n_groups : 1,
            (int)rows,
            (int)n,
            (int)k,
            d->data,
            c != nullptr ? c->data : nullptr,
            d->ld,
            c != nullptr ? c->ld : 0,
            d->dtype == NG_FP32,
            has_pairs(d),
            events};
}

enum { OUTPUTS = 1 << NG_BF16 | 1 << NG_FP32 };

/* Whether the launcher can count the stack, the rows and the tiles. */
static bool fits(int64_t rows, int64_t n, int64_t k, int64_t n_matrices,
                 int64_t row_blocks, int64_t col_blocks)
{
    return n >= 0 && k >= 0 && rows <= NG_GEMM_LARGEST_EXTENT
           && n <= NG_GEMM_LARGEST_EXTENT && k <= NG_GEMM_LARGEST_EXTENT
           && (n == 0 || n_matrices <= NG_GEMM_LARGEST_EXTENT / n)
           && ng_gemm_countable(n_matrices, row_blocks, col_blocks);
}

static ng_status check_operands(const ng_matrix *a, const ng_matrix *b)
{
    const ng_status status = ng_cuda_check_matrix(a, 1u << NG_BF16);

    return status != NG_OK ? status : ng_cuda_check_matrix(b, 1u << NG_BF16);
}

ng_status ng_cuda_grouped_gemm_bf16_fprop(const ng_matrix *d,
                                          const ng_matrix *a,
                                          const ng_matrix *b,
                                          const ng_options *options,
                                          const ng_cuda_launch *launch)
{
    using shape = ng_bf16_gemm;

    if (d == nullptr || a == nullptr || b == nullptr)
        return NG_BAD_POINTER;

    const ng_groups *groups = options != nullptr ? options->groups : nullptr;
    const int64_t n_matrices = groups != nullptr ? groups->n_groups : 1;
    const int64_t n = d->cols, k = a->cols;
    ng_status status = ng_cuda_check_call(options, d->rows, n, launch);

    if (status != NG_OK)
        return status;
    if (a->rows != d->rows || b->cols != k
        || !fits(a->rows, n, k, n_matrices, a->rows / shape::rows + n_matrices,
                 n / shape::cols + 2)
        || b->rows != n_matrices * n)
        return NG_BAD_SHAPE;
    if ((status = ng_cuda_check_matrix(d, OUTPUTS)) != NG_OK
        || (status = check_operands(a, b)) != NG_OK)
        return status;
    if (d->rows == 0 || n == 0 || n_matrices == 0)
        return NG_OK;
    if ((status = ng_cuda_check_workspace(
             launch, ng_cuda_grouped_gemm_bf16_workspace(a, b)))
        != NG_OK)
        return status;

    const cudaStream_t stream = (cudaStream_t)launch->stream;
    uint8_t *workspace = (uint8_t *)launch->workspace;
    CUtensorMap map_a = {}, map_b = {};

    /* Without products (k = 0) nothing is loaded. */
    if (k > 0
        && ((status = map_rows(&map_a, a, 64, groups, &workspace, stream))
                != NG_OK
            || (status = map_rows(&map_b, b, 128, nullptr, &workspace, stream))
                   != NG_OK))
        return status;
    return ng_gemm_launch(
        ng_bf16_gemm_kernel<false>, shape::shared_bytes, stream, map_a, map_b,
        arguments(d, nullptr, d->rows, n, k, groups, launch->events));
}

ng_status ng_cuda_grouped_gemm_bf16_wgrad(
    const ng_matrix *d, const ng_matrix *c, const ng_matrix *a,
    const ng_matrix *b, const ng_options *options, const ng_cuda_launch *launch)
{
    using shape = ng_bf16_gemm;

    if (d == nullptr || a == nullptr || b == nullptr)
        return NG_BAD_POINTER;

    const ng_groups *groups = options != nullptr ? options->groups : nullptr;
    const int64_t n_matrices = groups != nullptr ? groups->n_groups : 1;
    const int64_t n = a->cols, k = b->cols;
    ng_status status = ng_cuda_check_call(options, a->rows, n, launch);

    if (status != NG_OK)
        return status;
    if (b->rows != a->rows || d->cols != k
        || !fits(a->rows, n, k, n_matrices, (n / shape::rows + 1) * n_matrices,
                 k / shape::cols + 2)
        || d->rows != n_matrices * n
        || (c != nullptr && (c->rows != d->rows || c->cols != k)))
        return NG_BAD_SHAPE;
    if (c != nullptr && c->dtype != d->dtype)
        return NG_BAD_DTYPE;
    if ((status = ng_cuda_check_matrix(d, OUTPUTS)) != NG_OK
        || (c != nullptr
            && (status = ng_cuda_check_matrix(c, OUTPUTS)) != NG_OK)
        || (status = check_operands(a, b)) != NG_OK)
        return status;
    if (n == 0 || k == 0 || n_matrices == 0)
        return NG_OK;
    if ((status = ng_cuda_check_workspace(
             launch, ng_cuda_grouped_gemm_bf16_workspace(a, b)))
        != NG_OK)
        return status;

    const cudaStream_t stream = (cudaStream_t)launch->stream;
    uint8_t *workspace = (uint8_t *)launch->workspace;
    CUtensorMap map_a = {}, map_b = {};

    if (a->rows > 0
        && ((status = map_rows(&map_a, a, 64, groups, &workspace, stream))
                != NG_OK
            || (status = map_rows(&map_b, b, 64, groups, &workspace, stream))
                   != NG_OK))
        return status;
    return ng_gemm_launch(
        ng_bf16_gemm_kernel<true>, shape::shared_bytes, stream, map_a, map_b,
        arguments(d, c, a->rows, n, k, groups, launch->events));
}
