/* SPDX-License-Identifier: Apache-2.0
 *
 * FP8 along rows to FP8 along columns: the launcher, and the fast path of
 * power-of-two scales; that of general ones is quantize_fp8_col.cu's.
 *
 * A thread block takes a strip of windows (strips.cuh) of 128 tokens
 * (row_window.cuh) by one block of 128 columns, one after the other, a thread
 * 16 bytes of each of four rows; the loads of a window are on their way while
 * the one before is written. The largest exponent of each FP8 block of y is
 * found from the scales of all its rows. Codes go through FP16
 * (align_e4m3.cuh), where the product with 2^-d is exact, subnormals and all:
 * two conversions and a multiplication for two codes.
 *
 *   grid, block    strips * ceil(cols / 128) thread blocks of 256
 *   shared memory  18.6 KB: the turned tile (col_tile.cuh), two windows,
 *                  exponents of rows and blocks
 *   bytes          1 + 1/32 + 1 + 1/32 an element
 *   instructions   9.7 an element (ncu), 1.5 of them the way through FP16
 *   limit          memory: lines of 128 bytes a column, which alone take 131 us
 *   measured       H200, 32768 x 7168: 141.5 us, 0.82 of a copy of as many
 *                  bytes (bar 0.85: missed), ragged 161; 8192 x 2048 14.3 us,
 *                  0.79, ragged 16.7. ncu: DRAM 69 % busy, L2 81 %, issue 52 %.
 *                  A scale a block written by itself: 152 us
 */
#include "cuda/convert/convert_fp8_row_to_col.h"

#include "cuda/check_views.h"
#include "cuda/convert/align_e4m3.cuh"
#include "cuda/convert/col_fast.cuh"
#include "cuda/convert/col_tile.cuh"
#include "cuda/convert/fp8_row_to_col_block.cuh"
#include "cuda/convert/requantize_fp8_col.cuh"
#include "cuda/general.cuh"
#include "cuda/kept_blocks.cuh"
#include "cuda/row_window.cuh"
#include "cuda/strips.cuh"

namespace
{

/* 128 rows by one block of x; a thread has 16 bytes of each of 4 rows. */
using tile = ng_cuda_col_tile<128, 8>;
static_assert(tile::COLS == NG_FP8_BLOCK && tile::CHUNK == 16, "");

struct fast_job {
    ng_cuda_fp8_row_to_col_job call;
    ng_cuda_strips strips;  /* of windows */
    ng_events *events;      /* INEXACT alone */
    const int32_t *refusal; /* nothing is done if it is not 0; may be null */
};

enum {
    ROWS = NG_CUDA_WINDOW,
    RESIDENT = 4 /* thread blocks a multiprocessor */
};

struct tile_memory {
    uint32_t codes[tile::WORDS];
    ng_cuda_window window[2]; /* this tile's and the next one's */
    /* Exponents plus 150, 0 of none: of the window's rows, the largest of each
     * of its blocks, and that of blocks whose scales are not written yet. */
    alignas(16) uint32_t exponent[ROWS];
    uint32_t most[ROWS];
    uint16_t kept[ng_cuda_kept_blocks::MOST];
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

/* What a thread has of a tile: 16 columns of four rows, and the scale of row
 * threadIdx.x as it is stored. */
struct piece {
    uint4 codes[4];
    uint32_t scale;
};

/* All loads of a tile, none of which is waited for: rows row .. row + n - 1,
 * n <= 128. left: columns from the thread's first on. */
__device__ __forceinline__ void fetch(piece &p, const ng_fp8 &x, int64_t row,
                                      int n, int64_t col_tile, int left)
{
    const int chunk = (int)threadIdx.x % tile::LANES;
    const int quad = (int)threadIdx.x / tile::LANES;
    const uint8_t *from = x.codes + (row + 4 * quad) * x.ld
                          + col_tile * tile::COLS + chunk * tile::CHUNK;

#pragma unroll
    for (int i = 0; i < 4; i++)
        p.codes[i] = {0, 0, 0, 0};
    if (left >= tile::CHUNK
        && (((uintptr_t)from | (uintptr_t)x.ld) & 15) == 0) {
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (4 * quad + i < n)
                p.codes[i] = __ldg((const uint4 *)(from + i * x.ld));
    } else if (left > 0) {
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (4 * quad + i < n)
                p.codes[i] = load_codes(from + i * x.ld, left);
    }
    if ((int)threadIdx.x < n)
        p.scale = ng_cuda_load_scale(x.scales, row + threadIdx.x, col_tile);
}

__device__ __forceinline__ uint32_t plus_150(uint32_t bits, ng_dtype dtype)
{
    return ng_cuda_exponent_plus_150(
        dtype == NG_FP32 ? bits : ng_cuda_bits_of(ng_cuda_decode_ue8m0(bits)));
}

/* Raise *most to the largest of a warp's. */
__device__ __forceinline__ void raise(uint32_t *most, uint32_t e)
{
    const uint32_t largest = __reduce_max_sync(0xFFFFFFFF, e);

    if (threadIdx.x % 32 == 0 && largest != 0)
        atomicMax(most, largest);
}

/* The largest scale of every block that the window meets. Rows before it are of
 * its first block, those behind of its last; half of the threads look at
 * either. */
__device__ __forceinline__ void find_most(tile_memory &memory,
                                          const ng_cuda_window &window,
                                          const piece &p, const ng_fp8 &x,
                                          int64_t col_tile)
{
    const int t = (int)threadIdx.x, last = window.n_blocks - 1;

    if (window.low < 0 || window.high > window.n) {
        const bool before = t < ROWS;
        const int r = before ? window.low + t : window.n + t - ROWS;
        uint32_t e = 0;

        if (r < (before ? 0 : window.high))
            e = plus_150(ng_cuda_load_scale(x.scales, window.row + r, col_tile),
                         x.scales.dtype);
        raise(&memory.most[before ? 0 : last], e);
    }
    if (t >= ROWS)
        return;

    const uint32_t e = t < window.n ? plus_150(p.scale, x.scales.dtype) : 0;

    memory.exponent[t] = e;
    if (last == 0)
        raise(&memory.most[0], e);
    else if (e != 0)
        atomicMax(&memory.most[window.block[t]], e);
}

/* Align a thread's codes, turn them and put them into the tile; returns how
 * many lost something. */
template <bool COUNT>
__device__ __forceinline__ uint32_t turn(tile_memory &memory,
                                         const ng_cuda_window &window,
                                         const piece &p, ng_dtype dtype)
{
    const int chunk = (int)threadIdx.x % tile::LANES;
    const int quad = (int)threadIdx.x / tile::LANES;
    const uint4 four = *(const uint4 *)&memory.exponent[4 * quad];
    const uint32_t exponents[4] = {four.x, four.y, four.z, four.w};
    uint32_t factor[4], differing = 0, lost = 0;

#pragma unroll
    for (int i = 0; i < 4; i++) {
        const int e = exponents[i] != 0 ? (int)exponents[i] - 150
                                        : (int)NG_CUDA_NO_EXPONENT;
        const int k = ng_cuda_col_exponent(
            memory.most[window.block[min(4 * quad + i, window.n - 1)]], dtype);

        factor[i] = ng_cuda_align_factor(e, k);
        if (COUNT && exponents[i] != 0 && k - e > 15)
            lost += ng_cuda_count_lost_e4m3x4(p.codes[i].x, factor[i])
                    + ng_cuda_count_lost_e4m3x4(p.codes[i].y, factor[i])
                    + ng_cuda_count_lost_e4m3x4(p.codes[i].z, factor[i])
                    + ng_cuda_count_lost_e4m3x4(p.codes[i].w, factor[i]);
    }

    uint32_t *to = memory.codes + tile::word(chunk * tile::CHUNK, quad);

#pragma unroll
    for (int w = 0; w < 4; w++) {
        uint32_t in[4];

#pragma unroll
        for (int i = 0; i < 4; i++) {
            const uint32_t word = w == 0   ? p.codes[i].x
                                  : w == 1 ? p.codes[i].y
                                  : w == 2 ? p.codes[i].z
                                           : p.codes[i].w;

            in[i] = ng_cuda_align_e4m3x4<COUNT>(word, factor[i], differing);
        }
        ng_cuda_col_put<tile>(to + tile::PITCH * 4 * w, 1, in);
    }
    return COUNT ? lost + ng_cuda_sum_fp16x2(differing) : 0;
}

/* Rows of the window that begins at `row`, of `used` in all. */
__device__ __forceinline__ int rows_at(int64_t used, int64_t row)
{
    return (int)max(min(used - row, (int64_t)ROWS), (int64_t)0);
}

template <bool COUNT>
__global__ void __launch_bounds__(tile::THREADS, RESIDENT)
    align(const __grid_constant__ fast_job job)
{
    __shared__ tile_memory memory;
    const ng_fp8 &x = job.call.x, &y = job.call.y;
    const ng_cuda_options &o = job.call.o;
    const int t = (int)threadIdx.x;
    const ng_cuda_strip strip = ng_cuda_strip_of(job.strips);
    const int64_t col = (int64_t)strip.col_tile * tile::COLS;
    const int cols = (int)min((int64_t)tile::COLS, x.cols - col);
    const int left = cols - t % tile::LANES * tile::CHUNK;
    ng_cuda_kept_blocks kept;
    uint32_t lost = 0;
    piece p;

    if (t < ROWS)
        memory.most[t] = 0;
    ng_cuda_wait_for_stream();
    if (job.refusal != nullptr && *job.refusal != 0)
        return;

    const int64_t used = ng_cuda_rows(o, x.rows);
    int64_t row = (int64_t)strip.first * ROWS;

    fetch(p, x, row, rows_at(used, row), strip.col_tile, left);
    ng_cuda_find_window(&memory.window[0], o, x.rows, strip.first);
    for (int i = 0; i < strip.n; i++) {
        const ng_cuda_window &window = memory.window[i % 2];

        __syncthreads(); /* the window; the tile is written, most is clear */
        if (window.n <= 0)
            break; /* and so are all behind it */
        find_most(memory, window, p, x, strip.col_tile);
        __syncthreads();
        lost += turn<COUNT>(memory, window, p, y.scales.dtype);

        const int rows = window.n, n_blocks = window.n_blocks;
        const int skip = window.low < 0;

        if (t < n_blocks - skip)
            memory.kept[kept.n + t] = (uint16_t)memory.most[skip + t];
        kept.add(window);
        __syncthreads();

        uint8_t *to = y.codes + col * y.ld + row;

        row += ROWS;
        if (i + 1 < strip.n) {
            fetch(p, x, row, rows_at(used, row), strip.col_tile, left);
            ng_cuda_find_window(&memory.window[(i + 1) % 2], o, x.rows,
                                strip.first + i + 1);
        }
        if (t < n_blocks)
            memory.most[t] = 0;
        ng_cuda_col_store<tile>(memory.codes, to, y.ld, rows, cols);
        if (i + 1 == strip.n || kept.last || kept.is_full())
            kept.store<tile::THREADS>(y.scales, col, cols, [&](int b, int) {
                return ng_cuda_scale_bits(
                    y.scales.dtype,
                    ng_cuda_col_exponent(memory.kept[b], y.scales.dtype),
                    false);
            });
    }
    if (COUNT)
        ng_cuda_add_count(job.events, NG_EVENT_INEXACT, lost);
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
    const cudaStream_t stream = (cudaStream_t)launch->stream;

    if (may_refuse) {
        look<<<ng_cuda_blocks(call.x.rows, NG_CUDA_GENERAL_THREADS / 32,
                              NG_CUDA_GENERAL_BLOCKS),
               NG_CUDA_GENERAL_THREADS, 0, stream>>>(call, launch->refusal);
        NG_CUDA_TRY_LAUNCH();
    }
    if (pow2
        && ng_cuda_col_tiles(call.x.rows, call.x.cols, tile::COLS) <= INT32_MAX
        && (launch->events == nullptr || launch->inexact_only)) {
        fast_job job = {call, {}, launch->events, refusal};
        const ng_status status = ng_cuda_strips_of(
            &job.strips, ng_ceil_div(call.x.rows, NG_CUDA_WINDOW),
            ng_ceil_div(call.x.cols, tile::COLS), RESIDENT);

        return status != NG_OK
                   ? status
                   : ng_cuda_launch_next(
                       launch->events != nullptr ? align<true> : align<false>,
                       (unsigned)job.strips.grid, tile::THREADS, launch, job);
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
