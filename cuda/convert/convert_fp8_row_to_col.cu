/* SPDX-License-Identifier: Apache-2.0
 *
 * FP8 along rows to FP8 along columns: the launcher, and the fast path of
 * power-of-two scales; that of general ones is quantize_fp8_col.cu's.
 *
 * A thread block has a window of 128 tokens (row_window.cuh) by one block of
 * 128 columns, a thread 16 bytes of each of four rows. The largest exponent of
 * each FP8 block of y is found from the scales of all its rows. Codes go
 * through FP16 (align_e4m3.cuh), where the product with 2^-d is exact,
 * subnormals and all: two conversions and a multiplication for two codes.
 *
 *   grid, block    windows * ceil(cols / 128) thread blocks of 256
 *   shared memory  18.2 KB: the turned tile (col_tile.cuh), the window,
 *                  exponents of its rows and blocks
 *   bytes          1 + 1/32 + 1 + 1/32 an element
 *   instructions   about 7 an element, 1.5 of them the way through FP16
 *   limit          memory
 *   measured       H200, 32768 x 7168: 134.5 us, 0.87 of a copy of as many bytes;
 *                  eight ragged groups that start at odd rows 142 us. With
 *                  y.scales row by row 152 us: each scale is then a partial
 *                  write of a sector.
 */
#include "cuda/convert/convert_fp8_row_to_col.h"

#include "cuda/check_views.h"
#include "cuda/convert/align_e4m3.cuh"
#include "cuda/convert/col_fast.cuh"
#include "cuda/convert/col_tile.cuh"
#include "cuda/convert/fp8_row_to_col_block.cuh"
#include "cuda/convert/requantize_fp8_col.cuh"
#include "cuda/general.cuh"
#include "cuda/row_window.cuh"

namespace
{

/* 128 rows by one block of x; a thread has 16 bytes of each of 4 rows. */
using tile = ng_cuda_col_tile<128, 8>;
static_assert(tile::COLS == NG_FP8_BLOCK && tile::CHUNK == 16, "");

struct fast_job {
    ng_cuda_fp8_row_to_col_job call;
    unsigned col_tiles;
    ng_events *events;      /* INEXACT alone */
    const int32_t *refusal; /* nothing is done if it is not 0; may be null */
};

enum { ROWS = NG_CUDA_WINDOW };

struct tile_memory {
    uint32_t codes[tile::WORDS];
    ng_cuda_window window;
    /* Exponents plus 150, 0 of none: of the window's rows, and the largest of
     * each of its blocks. */
    alignas(16) uint32_t exponent[ROWS];
    uint32_t most[ROWS];
};

/* 16 codes, byte by byte; columns that are not there come as 0. */
__device__ __noinline__ uint4 load_codes(const uint8_t *from, int64_t cols)
{
    uint4 codes = {0, 0, 0, 0};

    for (int i = 0; i < tile::CHUNK && i < cols; i++)
        (i < 4    ? codes.x
         : i < 8  ? codes.y
         : i < 12 ? codes.z
                  : codes.w) |= (uint32_t)from[i] << 8 * (i % 4);
    return codes;
}

template <bool COUNT>
__global__ void __launch_bounds__(tile::THREADS)
    align(const __grid_constant__ fast_job job)
{
    __shared__ tile_memory memory;
    const ng_fp8 &x = job.call.x, &y = job.call.y;
    const ng_cuda_options &o = job.call.o;
    const int t = (int)threadIdx.x, lane = t % 32;
    const int number = (int)(blockIdx.x / job.col_tiles);
    const int col_tile = (int)(blockIdx.x - (unsigned)number * job.col_tiles);
    const int64_t col = (int64_t)col_tile * tile::COLS;

    if (job.refusal != nullptr && *job.refusal != 0)
        return;
    ng_cuda_find_window(&memory.window, o, x.rows, number);
    if (t < ROWS)
        memory.most[t] = memory.exponent[t] = 0;
    __syncthreads();

    const ng_cuda_window &window = memory.window;
    const int rows = window.n;

    if (rows <= 0)
        return;

    /* ---- read: 4 rows of 16 columns ---- */
    const int chunk = t % tile::LANES, quad = t / tile::LANES;
    const int cols = (int)min((int64_t)tile::COLS, x.cols - col);
    const int left = cols - chunk * tile::CHUNK;
    const int n = left > 0 ? rows - 4 * quad : 0; /* of these rows */
    const uint8_t *from =
        x.codes + (window.row + 4 * quad) * x.ld + col + chunk * tile::CHUNK;
    uint4 codes[4];

#pragma unroll
    for (int i = 0; i < 4; i++)
        codes[i] = {0, 0, 0, 0};
    if (left >= tile::CHUNK
        && (((uintptr_t)from | (uintptr_t)x.ld) & 15) == 0) {
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (i < n)
                codes[i] = __ldg((const uint4 *)(from + i * x.ld));
    } else {
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (i < n)
                codes[i] = load_codes(from + i * x.ld, left);
    }

    /* ---- the scales of all rows of the window's blocks, and their largest:
     * a row a thread, by warps, which mostly have one block ---- */
    for (int at = window.low; at < window.high; at += tile::THREADS) {
        const int r = at + t;
        const uint32_t e =
            r < window.high ? ng_cuda_exponent_plus_150(
                ng_cuda_load_scale_fp32(x.scales, window.row + r, col_tile))
                            : 0;
        const int block = ng_cuda_block_of(window, min(r, window.high - 1));
        const int of_first = __shfl_sync(0xFFFFFFFF, block, 0);

        if (r >= 0 && r < rows)
            memory.exponent[r] = e;
        if (__all_sync(0xFFFFFFFF, block == of_first)) {
            const uint32_t most = __reduce_max_sync(0xFFFFFFFF, e);

            if (lane == 0)
                atomicMax(&memory.most[block], most);
        } else {
            atomicMax(&memory.most[block], e);
        }
    }
    __syncthreads();

    const uint4 four = *(const uint4 *)&memory.exponent[4 * quad];
    const uint32_t plus_150[4] = {four.x, four.y, four.z, four.w};

    /* ---- align, turn, store ---- */
    uint32_t factor[4], differing = 0, lost = 0;

#pragma unroll
    for (int i = 0; i < 4; i++) {
        const int e = plus_150[i] != 0 ? (int)plus_150[i] - 150
                                       : (int)NG_CUDA_NO_EXPONENT;
        const int k = ng_cuda_col_exponent(
            memory.most[window.block[min(4 * quad + i, rows - 1)]],
            y.scales.dtype);

        factor[i] = ng_cuda_align_factor(e, k);
        if (COUNT && plus_150[i] != 0 && k - e > 15)
            lost += ng_cuda_count_lost_e4m3x4(codes[i].x, factor[i])
                    + ng_cuda_count_lost_e4m3x4(codes[i].y, factor[i])
                    + ng_cuda_count_lost_e4m3x4(codes[i].z, factor[i])
                    + ng_cuda_count_lost_e4m3x4(codes[i].w, factor[i]);
    }

    uint32_t *to = memory.codes + tile::word(chunk * tile::CHUNK, quad);

#pragma unroll
    for (int w = 0; w < 4; w++) {
        uint32_t in[4];

#pragma unroll
        for (int i = 0; i < 4; i++) {
            const uint32_t word = w == 0   ? codes[i].x
                                  : w == 1 ? codes[i].y
                                  : w == 2 ? codes[i].z
                                           : codes[i].w;

            in[i] = ng_cuda_align_e4m3x4<COUNT>(word, factor[i], differing);
        }
        ng_cuda_col_put(to + 33 * 4 * w, 1, in);
    }
    __syncthreads();

    /* ---- write: codes, and the scales of the blocks that begin here ---- */
    ng_cuda_col_store<tile>(memory.codes, y.codes + col * y.ld + window.row,
                            y.ld, rows, cols);
    for (int b = window.low < 0; b < window.n_blocks; b++)
        if (t < cols) {
            const int64_t j = window.first_block + b;
            const bool last = window.last && b == window.n_blocks - 1;
            const int k = ng_cuda_col_exponent(memory.most[b], y.scales.dtype);

            ng_cuda_store_scale(y.scales, col + t, j, j + (last ? 1 : 2),
                                ng_cuda_scale_bits(y.scales.dtype, k, false));
        }
    if (COUNT)
        ng_cuda_add_count(job.events, NG_EVENT_INEXACT,
                          lost + ng_cuda_sum_fp16x2(differing));
}

/* ---- refusals ---- */

__global__ void __launch_bounds__(NG_CUDA_GENERAL_THREADS)
    look(const __grid_constant__ ng_cuda_fp8_row_to_col_job job,
         int32_t *refusal)
{
    const int64_t rows = ng_cuda_rows(job.o, job.x.rows);

    for (int64_t i = ng_cuda_thread() / 32; i < rows;
         i += ng_cuda_threads() / 32)
        if (!job.fits(i, ng_cuda_warp()) && threadIdx.x % 32 == 0)
            *refusal = NG_BAD_SCALE; /* by any number of warps */
}

/* The general path, if nothing was refused. */
struct guarded_job {
    ng_cuda_fp8_row_to_col_job call;
    const int32_t *refusal;

    __host__ __device__ int64_t outer() const
    {
        return call.outer();
    }
    __host__ __device__ int64_t inner() const
    {
        return call.inner();
    }
    template <class TEAM>
    __device__ void run(int64_t i, int64_t j, TEAM team,
                        ng_cuda_counts &counts) const
    {
        if (refusal == nullptr || *refusal == 0)
            call.run(i, j, team, counts);
    }
};

ng_status check_rules(const ng_cuda_fp8_row_to_col_job &job)
{
    const ng_rules &rules = job.o.rules;

    if (ng_cuda_is_pow2(job.x.scales))
        return rules.rounding == NG_NEAREST_EVEN ? NG_OK : NG_BAD_RULES;
    return rules.fp8_scale != NG_FP8_POW2
                   && (rules.rounding == NG_STOCHASTIC
                       || job.y.scales.dtype != NG_FP32)
               ? NG_BAD_RULES
               : NG_OK;
}

ng_status enqueue(const ng_cuda_fp8_row_to_col_job &call,
                  const ng_cuda_launch *launch)
{
    const bool pow2 = ng_cuda_is_pow2(call.x.scales);
    const bool may_refuse =
        pow2 && call.x.scales.dtype == NG_FP32 && launch->refusal != nullptr;
    const int32_t *refusal = may_refuse ? launch->refusal : nullptr;
    const int64_t tiles =
        ng_cuda_col_tiles(call.x.rows, call.x.cols, tile::COLS);
    const cudaStream_t stream = (cudaStream_t)launch->stream;

    if (may_refuse) {
        look<<<ng_cuda_blocks(call.x.rows, NG_CUDA_GENERAL_THREADS / 32,
                              NG_CUDA_GENERAL_BLOCKS),
               NG_CUDA_GENERAL_THREADS, 0, stream>>>(call, launch->refusal);
        NG_CUDA_TRY_LAUNCH();
    }
    if (pow2 && tiles <= INT32_MAX
        && (launch->events == nullptr || launch->inexact_only)) {
        const fast_job job = {call,
                              (unsigned)ng_ceil_div(call.x.cols, tile::COLS),
                              launch->events, refusal};

        if (launch->events != nullptr)
            align<true><<<(unsigned)tiles, tile::THREADS, 0, stream>>>(job);
        else
            align<false><<<(unsigned)tiles, tile::THREADS, 0, stream>>>(job);
        NG_CUDA_TRY_LAUNCH();
        return NG_OK;
    }
    if (!pow2 && ng_cuda_requantize_fp8_col_takes(call, launch))
        return ng_cuda_requantize_fp8_col(call, launch);
    return ng_cuda_run_general(
        guarded_job{call, refusal},
        ng_cuda_outer_blocks(NG_FP8_COL, call.x.rows, call.o) * call.inner(),
        launch);
}

} // namespace

extern "C" ng_status
ng_cuda_convert_fp8_row_to_col(const ng_fp8 *y, const ng_fp8 *x,
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
        || (status = ng_cuda_check_fp8(y, 1 << NG_FP8_COL, options)) != NG_OK
        || (status = ng_cuda_check_fp8(x, 1 << NG_FP8_ROW, options)) != NG_OK)
        return status;

    const ng_cuda_fp8_row_to_col_job call = {*y, *x,
                                             ng_cuda_options_of(options)};

    if ((status = check_rules(call)) != NG_OK)
        return status;
    return x->rows == 0 || x->cols == 0 ? NG_OK : enqueue(call, launch);
}
