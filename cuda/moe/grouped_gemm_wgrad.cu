/* SPDX-License-Identifier: Apache-2.0
 *
 * See grouped_gemm_wgrad.h; the kernels are gemm_realign.cuh and
 * fp8_gemm_wgrad_sm90.cuh.
 */
#include "cuda/moe/grouped_gemm_wgrad.h"

#include "cuda/check_views.h"
#include "cuda/moe/fp8_gemm_wgrad_sm90.cuh"
#include "cuda/moe/gemm_launch.cuh"

/* The workspace: maps, then the copies of a and of b. */
struct wgrad_workspace {
    int64_t copy_ld, a_at, b_at, bytes;
};

static int64_t to_boundary(int64_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

static wgrad_workspace lay_out(const ng_fp8 *a, const ng_fp8 *b,
                               const ng_groups *groups)
{
    const int64_t n_groups = groups != nullptr ? groups->n_groups : 1;
    const int64_t ld = ng_gemm_copy_ld(a->rows, n_groups);
    wgrad_workspace w;

    w.copy_ld = ld;
    w.a_at = to_boundary(n_groups * 2 * (int64_t)sizeof(CUtensorMap));
    w.b_at = w.a_at + to_boundary(a->cols * ld);
    w.bytes = w.b_at + to_boundary(b->cols * ld);
    return w;
}

int64_t ng_cuda_grouped_gemm_wgrad_workspace(const ng_fp8 *a, const ng_fp8 *b,
                                             const ng_options *options)
{
    return lay_out(a, b, options != nullptr ? options->groups : nullptr).bytes;
}

/* Whether the copies' columns, more than there are tokens, and the thread blocks
 * that make them can be counted. lines: of both operands. */
static bool copies_fit(int64_t lines, int64_t tokens, int64_t n_groups)
{
    return ng_gemm_copy_ld(tokens, n_groups) <= NG_GEMM_LARGEST_EXTENT
           && ng_ceil_div(lines, NG_GEMM_REALIGN_LINES) * n_groups
                  <= NG_GEMM_LARGEST_EXTENT;
}

static ng_status check(const ng_matrix *d, const ng_matrix *c, const ng_fp8 *a,
                       const ng_fp8 *b, const ng_options *options,
                       int64_t n_matrices, const ng_cuda_launch *launch)
{
    const unsigned dtypes = 1u << NG_BF16 | 1u << NG_FP32;
    const int64_t n = a->cols, k = b->cols;
    ng_status status = ng_cuda_check_call(options, a->rows, n, launch);

    if (status != NG_OK)
        return status;
    if (b->rows != a->rows || k < 0 || d->cols != k
        || (n > 0 && n_matrices > NG_GEMM_LARGEST_EXTENT / n)
        || d->rows != n_matrices * n || a->rows > NG_GEMM_LARGEST_EXTENT
        || k > NG_GEMM_LARGEST_EXTENT
        || !ng_gemm_countable(n_matrices,
                              (n / ng_gemm_wgrad::rows + 1) * n_matrices,
                              k / ng_gemm_wgrad::cols + 2)
        || !copies_fit(n + k, a->rows, n_matrices)
        || (c != nullptr && (c->rows != d->rows || c->cols != k)))
        return NG_BAD_SHAPE;
    if (c != nullptr && c->dtype != d->dtype)
        return NG_BAD_DTYPE;
    if ((status = ng_cuda_check_matrix(d, dtypes)) != NG_OK
        || (c != nullptr && (status = ng_cuda_check_matrix(c, dtypes)) != NG_OK)
        || (status = ng_cuda_check_fp8(a, 1u << NG_FP8_COL, options)) != NG_OK)
        return status;
    return ng_cuda_check_fp8(b, 1u << NG_FP8_COL, options);
}

/* The maps of an operand's codes, in place and in the copy: tokens innermost,
 * their extent set on the device, group by group. */
static ng_status map_operand(CUtensorMap *map, CUtensorMap *map_copy,
                             const ng_gemm_operand &x, int64_t tokens)
{
    const int rows = 128;
    const ng_status status =
        x.always ? NG_OK
                 : ng_gemm_map_lines(map, {x.codes, x.lines, tokens, x.ld}, 128,
                                     rows);

    return status != NG_OK
               ? status
               : ng_gemm_map_lines(map_copy,
                                   {x.copy, x.lines, x.copy_ld, x.copy_ld}, 128,
                                   rows);
}

ng_status ng_cuda_grouped_gemm_wgrad(const ng_matrix *d, const ng_matrix *c,
                                     const ng_fp8 *a, const ng_fp8 *b,
                                     const ng_options *options,
                                     const ng_cuda_launch *launch)
{
    if (d == nullptr || a == nullptr || b == nullptr)
        return NG_BAD_POINTER;

    const ng_groups *groups = options != nullptr ? options->groups : nullptr;
    const int64_t n_matrices = groups != nullptr ? groups->n_groups : 1;
    ng_status status = check(d, c, a, b, options, n_matrices, launch);

    if (status != NG_OK)
        return status;

    const int64_t n = a->cols, k = b->cols, tokens = a->rows;

    if (n == 0 || k == 0 || n_matrices == 0)
        return NG_OK;

    const wgrad_workspace w = lay_out(a, b, groups);

    if ((status = ng_cuda_check_workspace(launch, w.bytes)) != NG_OK)
        return status;

    using shape = ng_gemm_wgrad;
    const cudaStream_t stream = (cudaStream_t)launch->stream;
    const int64_t most_blocks = ng_ceil_div(tokens, 128) + n_matrices;
    const bool by_engine =
        tokens > 0 && ng_gemm_scales_by_engine(&a->scales, n, most_blocks)
        && ng_gemm_scales_by_engine(&b->scales, k, most_blocks);
    const int64_t *offsets = groups != nullptr ? groups->offsets : nullptr;
    uint8_t *workspace = (uint8_t *)launch->workspace;
    const ng_gemm_realign_args realign = {
        offsets,
        tokens,
        {{a->codes, a->ld, workspace + w.a_at, w.copy_ld, (int)n,
          !ng_cuda_is_aligned(a->codes, a->ld)},
         {b->codes, b->ld, workspace + w.b_at, w.copy_ld, (int)k,
          !ng_cuda_is_aligned(b->codes, b->ld)}},
        (CUtensorMap *)workspace,
        (int)ng_ceil_div(n + k, NG_GEMM_REALIGN_LINES)};
    const ng_gemm_wgrad_args args = {
        offsets,
        (int)n_matrices,
        (int)tokens,
        (int)n,
        (int)k,
        d->data,
        c != nullptr ? c->data : nullptr,
        d->ld,
        c != nullptr ? c->ld : 0,
        d->dtype == NG_FP32,
        d->dtype == NG_FP32 && ng_gemm_lines_by_engine(d, 4)
            && (c == nullptr || (c->data == d->data && c->ld == d->ld)),
        a->scales,
        b->scales,
        realign.operand[0].always,
        realign.operand[1].always,
        realign.maps,
        launch->events};
    const ng_cuda_tensor_view d_view = {d->data,
                                        CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
                                        3,
                                        {k, n, n_matrices},
                                        {d->ld * 4, n * d->ld * 4},
                                        {32, 64, 1},
                                        true};
    CUtensorMap map[2] = {}, map_copy[2] = {}, map_scales[2] = {}, map_d = {};

    if (args.d_by_engine
        && (status = ng_cuda_tensor_map(&map_d, &d_view)) != NG_OK)
        return status;
    for (int i = 0; i < 2 && tokens > 0; i++) {
        const ng_scales *scales = i == 0 ? &a->scales : &b->scales;

        if ((status =
                 map_operand(&map[i], &map_copy[i], realign.operand[i], tokens))
                != NG_OK
            || (by_engine
                && (status = ng_gemm_map_scales(
                        &map_scales[i], scales, i == 0 ? n : k, most_blocks,
                        i == 0 ? shape::rows : shape::cols))
                       != NG_OK))
            return status;
    }
    if (tokens > 0) {
        ng_gemm_realign<<<(unsigned)(realign.line_blocks * n_matrices),
                          NG_GEMM_REALIGN_THREADS, 0, stream>>>(
            map[0], map[1], map_copy[0], map_copy[1], realign);
        NG_CUDA_TRY_LAUNCH();
    }
    return ng_gemm_launch(
        by_engine ? ng_fp8_gemm_wgrad<true> : ng_fp8_gemm_wgrad<false>,
        shape::shared_bytes, stream, map_scales[0], map_scales[1], map_d, args);
}
