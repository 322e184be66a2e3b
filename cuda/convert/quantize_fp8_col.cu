/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers to FP8 along columns, transposed, and along rows as well in the same
 * pass; FP8 rows under general scales are numbers too. The fast paths of
 * quantize_fp8.cu and convert_fp8_row_to_col.cu, nearest-even, without events.
 *
 * A thread block takes a strip (strips.cuh) of blocks of 128 tokens by 64
 * columns (128 with rows), one after the other, a thread eight columns of four
 * rows; the loads of a block are on their way while the one before is written.
 * Largest magnitudes go through shuffles, then shared memory; a column's scale
 * and its inverse are made once. What a block leaves of a sector of memory
 * waits for the next block (col_tile.cuh), and the scales for the strip's end.
 *
 *   grid, block    strips * ceil(cols / 64) thread blocks of 256 (128 columns
 *                  and 512 with rows)
 *   shared memory  15.5 KB (36.4): the turned tile, largest magnitudes by
 *                  warps, scales of columns and rows
 *   bytes          BF16: 2 + 1 + 1/32 an element, with rows 2 + 2 + 1/16
 *   instructions   17 an element (ncu, pow2)
 *   limit          memory; general scales and both directions: the issue of
 *                  instructions
 *   measured       H200, 32768 x 7168, share of a copy of as many bytes: pow2
 *                  194 us, 0.88, general 241 us, 0.71; ragged 228 us, 0.75 and
 *                  286 us, 0.60; with rows 0.72 and 0.48 (missed, bars 0.85 and
 *                  0.70), FP8 under general scales 0.37. ncu, pow2: DRAM 76 %
 *                  busy, L2 86 %, issue 66 %. A block a strip: 232 us, ragged
 *                  359
 */
#include "cuda/convert/col_fast.cuh"
#include "cuda/convert/col_tile.cuh"
#include "cuda/convert/fp8_inverse.cuh"
#include "cuda/convert/quantize_fp8_row_col.h"
#include "cuda/convert/requantize_fp8_col.cuh"
#include "cuda/check_views.h"
#include "cuda/block_run.cuh"
#include "cuda/ptx_cvt.cuh"
#include "cuda/ptx_half2.cuh"
#include "cuda/strips.cuh"

namespace
{

struct fast_job {
    ng_fp8 y;      /* form col */
    ng_fp8 y_row;  /* form row, if ROW */
    const void *x; /* numbers, or codes under x_scales */
    int64_t ld;
    ng_scales x_scales;
    ng_cuda_options o;
    ng_cuda_strips strips;
};

using narrow = ng_cuda_col_tile<64, 8, 8>;
using wide = ng_cuda_col_tile<128, 16, 8>;

enum { RESIDENT = 1024 }; /* threads a multiprocessor */

/* ---- eight neighbours of a row ---- */

struct eight {
    float v[8];
};

__device__ __forceinline__ bool is_aligned(const void *p, int64_t ld_bytes,
                                           int bytes)
{
    return (((uintptr_t)p | (uintptr_t)ld_bytes) & (unsigned)(bytes - 1)) == 0;
}

struct from_bf16 {
    using unit = uint16_t;
    static constexpr bool has_scales = false;
    struct raw {
        uint4 a;
    };

    static __device__ __forceinline__ raw load(const unit *p)
    {
        return {__ldg((const uint4 *)p)};
    }
    static __device__ __forceinline__ eight decode(const raw &x, float)
    {
        const uint32_t w[4] = {x.a.x, x.a.y, x.a.z, x.a.w};
        eight y;

#pragma unroll
        for (int i = 0; i < 4; i++) {
            y.v[2 * i] = __uint_as_float(w[i] << 16);
            y.v[2 * i + 1] = __uint_as_float(w[i] & 0xFFFF0000);
        }
        return y;
    }
};

struct from_fp16 {
    using unit = uint16_t;
    static constexpr bool has_scales = false;
    struct raw {
        uint4 a;
    };

    static __device__ __forceinline__ raw load(const unit *p)
    {
        return {__ldg((const uint4 *)p)};
    }
    static __device__ __forceinline__ eight decode(const raw &x, float)
    {
        const uint32_t w[4] = {x.a.x, x.a.y, x.a.z, x.a.w};
        eight y;

#pragma unroll
        for (int i = 0; i < 4; i++) {
            y.v[2 * i] = ng_cuda_decode_fp16(w[i] & 0xFFFF);
            y.v[2 * i + 1] = ng_cuda_decode_fp16(w[i] >> 16);
        }
        return y;
    }
};

struct from_fp32 {
    using unit = uint32_t;
    static constexpr bool has_scales = false;
    struct raw {
        uint4 a, b;
    };

    static __device__ __forceinline__ raw load(const unit *p)
    {
        return {__ldg((const uint4 *)p), __ldg((const uint4 *)p + 1)};
    }
    static __device__ __forceinline__ eight decode(const raw &x, float)
    {
        return {{__uint_as_float(x.a.x), __uint_as_float(x.a.y),
                 __uint_as_float(x.a.z), __uint_as_float(x.a.w),
                 __uint_as_float(x.b.x), __uint_as_float(x.b.y),
                 __uint_as_float(x.b.z), __uint_as_float(x.b.w)}};
    }
};

/* FP8 codes under a general row scale: RN32(code * s), semantics.md 6. */
struct from_fp8 {
    using unit = uint8_t;
    static constexpr bool has_scales = true;
    struct raw {
        uint2 a;
    };

    static __device__ __forceinline__ raw load(const unit *p)
    {
        return {__ldg((const uint2 *)p)};
    }
    static __device__ __forceinline__ eight decode(const raw &x, float s)
    {
        const uint32_t w[4] = {x.a.x, x.a.x >> 16, x.a.y, x.a.y >> 16};
        eight y;

#pragma unroll
        for (int i = 0; i < 4; i++) {
            const uint32_t halves = ng_cuda_cvt_fp16x2_of_e4m3x2(w[i]);

            y.v[2 * i] = __fmul_rn(ng_cuda_low_fp16(halves), s);
            y.v[2 * i + 1] = __fmul_rn(ng_cuda_low_fp16(halves >> 16), s);
        }
        return y;
    }
};

template <class FROM>
__device__ __noinline__ typename FROM::raw
load_some(const typename FROM::unit *from, int n)
{
    union {
        typename FROM::unit unit[8];
        typename FROM::raw raw;
    } x = {};

    for (int i = 0; i < 8; i++)
        if (i < n)
            x.unit[i] = from[i];
    return x.raw;
}

/* ---- */

template <class TILE, bool ROW> struct tile_memory {
    uint32_t codes[TILE::WORDS];
    alignas(16) float amax[TILE::WARPS][TILE::COLS]; /* of a warp's rows */
    ng_cuda_inverse col[TILE::COLS];
    ng_cuda_inverse row[ROW ? NG_FP8_BLOCK : 1];
    uint32_t scale[NG_CUDA_LONGEST_STRIP][TILE::COLS]; /* of y */
    ng_cuda_block_run<NG_CUDA_LONGEST_STRIP> run;
};

__device__ __forceinline__ uint32_t in_type(const ng_scales &plane,
                                            uint32_t scale)
{
    return plane.dtype == NG_FP32 ? scale : ng_cuda_fp8_scale_byte(scale);
}

/* A thread's four rows of eight columns, as they are stored. */
template <class FROM> struct piece {
    typename FROM::raw raw[4];
    float scale[4]; /* of the rows, if x has scales */
};

/* All loads of a block, none of which is waited for. n: how many of the rows
 * from `row` on are there. */
template <class FROM>
__device__ __forceinline__ void fetch(piece<FROM> &p, const fast_job &job,
                                      int64_t row, int n, int64_t col, int left)
{
    const typename FROM::unit *from =
        (const typename FROM::unit *)job.x + row * job.ld + col;

#pragma unroll
    for (int i = 0; i < 4; i++) {
        p.raw[i] = {};
        p.scale[i] = 1.0f;
    }
    if (left <= 0)
        return;
    if (left >= 8
        && is_aligned(from, job.ld * (int)sizeof *from,
                      sizeof(typename FROM::raw) < 16 ? 8 : 16)) {
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (i < n)
                p.raw[i] = FROM::load(from + i * job.ld);
    } else {
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (i < n)
                p.raw[i] = load_some<FROM>(from + i * job.ld, left);
    }
    if (FROM::has_scales) {
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (i < n)
                p.scale[i] =
                    ((const float *)job.x_scales
                         .data)[(row + i) * job.x_scales.ld
                                + col / NG_FP8_BLOCK * job.x_scales.step];
    }
}

template <class FROM, class TILE, bool POW2, bool ROW>
__global__ void __launch_bounds__(TILE::THREADS, RESIDENT / TILE::THREADS)
    quantize(const __grid_constant__ fast_job job)
{
    __shared__ tile_memory<TILE, ROW> memory;
    const int t = (int)threadIdx.x, lane = t % 32, warp = t / 32;

    static_assert(TILE::CHUNK == 8, "");
    static_assert(!ROW || TILE::COLS == NG_FP8_BLOCK, "a block of y_row");

    const ng_cuda_strip strip = ng_cuda_strip_of(job.strips);
    const int64_t col = (int64_t)strip.col_tile * TILE::COLS;
    const int cols = (int)min((int64_t)TILE::COLS, job.y.cols - col);
    const int chunk = t % TILE::LANES, quad = t / TILE::LANES;
    const int left = cols - 8 * chunk;
    const bool goes_on = ng_cuda_col_may_go_on(job.y.ld);

    ng_cuda_wait_for_stream();
    if (warp == 0)
        ng_cuda_find_block_run(&memory.run, job.o, job.y.rows, NG_FP8_BLOCK,
                               strip.first, strip.n);
    __syncthreads();

    const ng_cuda_block_run<NG_CUDA_LONGEST_STRIP> &run = memory.run;
    int waiting = 0;
    piece<FROM> p;

    fetch(p, job, run.first + 4 * quad, run.end[0] - 4 * quad, col + 8 * chunk,
          left);
    for (int b = 0; b < run.n; b++) {
        const int begin = b > 0 ? run.end[b - 1] : 0; /* from run.first on */
        const int n_rows = run.end[b] - begin;
        const int n = left > 0 ? n_rows - 4 * quad : 0; /* of these rows */
        const int64_t row = run.first + begin + 4 * quad;
        eight x[4];

#pragma unroll
        for (int i = 0; i < 4; i++)
            x[i] = FROM::decode(p.raw[i], p.scale[i]);

        /* ---- the largest magnitudes, NaN above all ---- */
        float most[8], most_row[4] = {0, 0, 0, 0};

#pragma unroll
        for (int j = 0; j < 8; j++) {
            most[j] = 0;
#pragma unroll
            for (int i = 0; i < 4; i++) {
                most[j] = ng_cuda_max_magnitude(most[j], x[i].v[j]);
                if (ROW)
                    most_row[i] = ng_cuda_max_magnitude(most_row[i], x[i].v[j]);
            }
#pragma unroll
            for (int away = TILE::LANES; away < 32; away *= 2)
                most[j] = ng_cuda_max_magnitude(
                    most[j], __shfl_xor_sync(0xFFFFFFFF, most[j], away));
        }
        if (lane < TILE::LANES) {
            float4 *to = (float4 *)&memory.amax[warp][8 * lane];

            to[0] = {most[0], most[1], most[2], most[3]};
            to[1] = {most[4], most[5], most[6], most[7]};
        }
        if (ROW) {
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int away = 1; away < TILE::LANES; away *= 2)
                    most_row[i] = ng_cuda_max_magnitude(
                        most_row[i],
                        __shfl_xor_sync(0xFFFFFFFF, most_row[i], away));
            if (chunk < 4 && chunk < n_rows - 4 * quad) {
                const float amax = chunk == 0   ? most_row[0]
                                   : chunk == 1 ? most_row[1]
                                   : chunk == 2 ? most_row[2]
                                                : most_row[3];
                const uint32_t scale =
                    ng_cuda_fp8_scale(__float_as_uint(amax), POW2);

                memory.row[4 * quad + chunk] = ng_cuda_inverse_of<POW2>(scale);
                ng_cuda_store_scale(job.y_row.scales, row + chunk,
                                    strip.col_tile, job.strips.cols,
                                    in_type(job.y_row.scales, scale));
            }
        }
        __syncthreads();
        if (t < cols) {
            float amax = 0;

#pragma unroll
            for (int w = 0; w < TILE::WARPS; w++)
                amax = ng_cuda_max_magnitude(amax, memory.amax[w][t]);

            const uint32_t scale =
                ng_cuda_fp8_scale(__float_as_uint(amax), POW2);

            memory.col[t] = ng_cuda_inverse_of<POW2>(scale);
            memory.scale[b][t] = in_type(job.y.scales, scale);
        }
        __syncthreads();

        /* ---- divide, encode, turn ---- */
        uint32_t *to = memory.codes + TILE::word(8 * chunk, quad);

#pragma unroll
        for (int w = 0; w < 2; w++) {
            ng_cuda_inverse d[4];
            uint32_t in[4];

#pragma unroll
            for (int j = 0; j < 4; j++)
                d[j] = memory.col[8 * chunk + 4 * w + j];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                float q[4];

#pragma unroll
                for (int j = 0; j < 4; j++)
                    q[j] = ng_cuda_odd_quotient<POW2>(x[i].v[4 * w + j], d[j]);
                in[i] = ng_cuda_cvt_e4m3x2(q[0], q[1])
                        | ng_cuda_cvt_e4m3x2(q[2], q[3]) << 16;
            }
            ng_cuda_col_put<TILE>(to + TILE::PITCH * 4 * w, 1, in);
        }
        if (ROW) {
            uint8_t *line =
                job.y_row.codes + row * job.y_row.ld + col + 8 * chunk;
            const bool whole = left >= 8 && is_aligned(line, job.y_row.ld, 8);

#pragma unroll
            for (int i = 0; i < 4; i++) {
                if (i >= n)
                    continue;

                const ng_cuda_inverse d = memory.row[4 * quad + i];
                uint32_t word[2];

#pragma unroll
                for (int w = 0; w < 2; w++) {
                    float q[4];

#pragma unroll
                    for (int j = 0; j < 4; j++)
                        q[j] = ng_cuda_odd_quotient<POW2>(x[i].v[4 * w + j], d);
                    word[w] = ng_cuda_cvt_e4m3x2(q[0], q[1])
                              | ng_cuda_cvt_e4m3x2(q[2], q[3]) << 16;
                }
                if (whole)
                    *(uint2 *)(line + i * job.y_row.ld) = {word[0], word[1]};
                else
                    for (int j = 0; j < 8; j++)
                        if (j < left)
                            line[i * job.y_row.ld + j] =
                                (uint8_t)(word[j / 4] >> 8 * (j % 4));
            }
        }
        __syncthreads();

        /* ---- the next block's loads leave; write this one ---- */
        if (b + 1 < run.n)
            fetch(p, job, run.first + run.end[b] + 4 * quad,
                  run.end[b + 1] - run.end[b] - 4 * quad, col + 8 * chunk,
                  left);

        uint8_t *codes = job.y.codes + col * job.y.ld + run.first + begin;

        if (goes_on)
            waiting = ng_cuda_col_store_on<TILE>(memory.codes, codes, job.y.ld,
                                                 n_rows, cols, waiting,
                                                 b == run.n - 1);
        else
            ng_cuda_col_store<TILE>(memory.codes, codes, job.y.ld, n_rows,
                                    cols);
    }

    /* ---- the scales, along a line of the plane by neighbouring lanes ---- */
    for (int i = t; i < NG_CUDA_LONGEST_STRIP * TILE::COLS;
         i += TILE::THREADS) {
        const bool along = job.y.scales.step == 1;
        const int b = along ? i % NG_CUDA_LONGEST_STRIP : i / TILE::COLS;
        const int c = along ? i / NG_CUDA_LONGEST_STRIP : i % TILE::COLS;
        const int64_t j = strip.first + b;

        if (b < run.n && c < cols)
            ng_cuda_store_scale(job.y.scales, col + c, j,
                                run.is_last && b == run.n - 1 ? j + 1 : j + 2,
                                memory.scale[b][c]);
    }
}

/* ---- launches ---- */

int64_t thread_blocks(const fast_job &job, int width)
{
    return ng_cuda_most_row_blocks(job.o, job.y.rows, NG_FP8_BLOCK)
           * ng_ceil_div(job.y.cols, width);
}

template <class FROM, class TILE, bool ROW>
ng_status enqueue(fast_job job, const ng_cuda_launch *launch)
{
    const ng_status status = ng_cuda_strips_of(
        &job.strips, ng_cuda_most_row_blocks(job.o, job.y.rows, NG_FP8_BLOCK),
        ng_ceil_div(job.y.cols, TILE::COLS), RESIDENT / TILE::THREADS);

    if (status != NG_OK || job.strips.grid == 0)
        return status;
    return ng_cuda_launch_next(
        job.o.rules.fp8_scale == NG_FP8_POW2 ? quantize<FROM, TILE, true, ROW>
                                             : quantize<FROM, TILE, false, ROW>,
        (unsigned)job.strips.grid, TILE::THREADS, launch, job);
}

template <class TILE, bool ROW>
ng_status enqueue_numbers(ng_dtype dtype, const fast_job &job,
                          const ng_cuda_launch *launch)
{
    return dtype == NG_BF16   ? enqueue<from_bf16, TILE, ROW>(job, launch)
           : dtype == NG_FP16 ? enqueue<from_fp16, TILE, ROW>(job, launch)
                              : enqueue<from_fp32, TILE, ROW>(job, launch);
}

fast_job job_of(const ng_fp8 &y, const ng_matrix &x, const ng_cuda_options &o)
{
    return {y, {}, x.data, x.ld, {}, o, {}};
}

} // namespace

bool ng_cuda_quantize_fp8_col_takes(const ng_cuda_quantize_fp8_job &call)
{
    return call.y.form == NG_FP8_COL
           && thread_blocks(job_of(call.y, call.x, call.o), narrow::COLS)
                  <= INT32_MAX;
}

ng_status ng_cuda_quantize_fp8_col(const ng_cuda_quantize_fp8_job &call,
                                   const ng_cuda_launch *launch)
{
    return enqueue_numbers<narrow, false>(
        call.x.dtype, job_of(call.y, call.x, call.o), launch);
}

bool ng_cuda_requantize_fp8_col_takes(const ng_cuda_fp8_row_to_col_job &call,
                                      const ng_cuda_launch *launch)
{
    const fast_job job = {call.y, {}, nullptr, 0, {}, call.o, {}};

    return launch->events == nullptr && call.o.rules.rounding == NG_NEAREST_EVEN
           && thread_blocks(job, narrow::COLS) <= INT32_MAX;
}

ng_status ng_cuda_requantize_fp8_col(const ng_cuda_fp8_row_to_col_job &call,
                                     const ng_cuda_launch *launch)
{
    const fast_job job = {call.y, {}, call.x.codes, call.x.ld, call.x.scales,
                          call.o, {}};

    return enqueue<from_fp8, narrow, false>(job, launch);
}

extern "C" ng_status ng_cuda_quantize_fp8_row_col(const ng_fp8 *y_row,
                                                  const ng_fp8 *y_col,
                                                  const ng_matrix *x,
                                                  const ng_options *options,
                                                  const ng_cuda_launch *launch)
{
    ng_status status;

    if (y_row == nullptr || y_col == nullptr || x == nullptr)
        return NG_BAD_POINTER;
    if (y_row->rows != x->rows || y_row->cols != x->cols
        || y_col->rows != x->rows || y_col->cols != x->cols)
        return NG_BAD_SHAPE;
    if ((status = ng_cuda_check_call(options, x->rows, x->cols, launch))
            != NG_OK
        || (status = ng_cuda_check_fp8(y_row, 1 << NG_FP8_ROW, options))
               != NG_OK
        || (status = ng_cuda_check_fp8(y_col, 1 << NG_FP8_COL, options))
               != NG_OK
        || (status = ng_cuda_check_matrix(x, NG_CUDA_FLOATS)) != NG_OK)
        return status;

    fast_job job = job_of(*y_col, *x, ng_cuda_options_of(options));

    job.y_row = *y_row;
    if (job.o.rules.fp8_scale != NG_FP8_POW2
        && (job.o.rules.rounding == NG_STOCHASTIC
            || y_row->scales.dtype != NG_FP32
            || y_col->scales.dtype != NG_FP32))
        return NG_BAD_RULES;
    if (job.o.rules.rounding != NG_NEAREST_EVEN || launch->events != nullptr
        || thread_blocks(job, wide::COLS) > INT32_MAX) {
        /* Two passes, as two calls; counted once. */
        ng_cuda_launch quiet = *launch;

        quiet.events = nullptr;
        status = ng_cuda_quantize_fp8(y_row, x, options, launch);
        return status == NG_OK ? ng_cuda_quantize_fp8(y_col, x, options, &quiet)
                               : status;
    }
    return x->rows == 0 || x->cols == 0
               ? NG_OK
               : enqueue_numbers<wide, true>(x->dtype, job, launch);
}
