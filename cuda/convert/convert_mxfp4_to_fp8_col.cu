/* SPDX-License-Identifier: Apache-2.0
 *
 * MXFP4 to FP8 along columns: transposed and rescaled in one pass, for the
 * weight gradient. The fast path; see convert_mxfp4_to_fp8.cu.
 *
 * A thread block takes a strip of windows (strips.cuh) of 128 tokens
 * (row_window.cuh) by 256 columns, one after the other, a thread 16 bytes, one
 * MXFP4 block, of each of four rows; the loads of a window are on their way
 * while the one before is written. The largest exponent of each FP8 block is
 * found from the scales of all its rows, in shared memory. Codes come from a
 * table (align_table.cuh): one byte selection gives four, and eight more turn
 * four rows by four columns. No arithmetic on elements.
 *
 *   grid, block    strips * ceil(cols / 256) thread blocks of 256
 *   shared memory  41 KB: the turned tile (col_tile.cuh), the table, two
 *                  windows, scale bytes of the rows, exponents of the blocks
 *   bytes          1/2 + 1/32 + 1 + 1/32 an element
 *   instructions   8.6 an element (ncu), 2.3 of them byte selections
 *   limit          writing lines of 128 bytes a column: a kernel that does only
 *                  that, with these bytes, takes 106 us, or 126 with a scale a
 *                  column and block written by itself
 *   measured       H200, 32768 x 7168: 123 us, 0.725 of a copy of as many bytes
 *                  (bar 0.85: missed), ragged 139.6; 8192 x 2048 11.6 us, 0.80,
 *                  ragged 13.8. ncu: DRAM 59 % busy, L2 75 %, issue 53 %,
 *                  stalls on shared memory and barriers. Three thread blocks a
 *                  multiprocessor: 122.7 us; five: 176 (spills); one window a
 *                  strip: 128.6; strips of four: 124.7; strips along tokens
 *                  first: 131
 */
#include "cuda/convert/align_table.cuh"
#include "cuda/convert/col_fast.cuh"
#include "cuda/convert/col_tile.cuh"
#include "cuda/count_events.cuh"
#include "cuda/ptx_prmt.cuh"
#include "cuda/kept_blocks.cuh"
#include "cuda/row_window.cuh"
#include "cuda/strips.cuh"

namespace
{

/* 128 rows of 256 columns; a thread's 16 bytes are one block of x. */
using tile = ng_cuda_col_tile<256, 8>;
static_assert(tile::CHUNK == NG_MXFP4_BLOCK, "");

enum {
    ROWS = NG_CUDA_WINDOW,
    RESIDENT = 4 /* thread blocks a multiprocessor */
};

struct fast_job {
    ng_cuda_align_job call;
    ng_cuda_strips strips; /* of windows */
    ng_cuda_align_table table;
    ng_events *events; /* INEXACT alone */
};

struct tile_memory {
    uint32_t codes[tile::WORDS];
    ng_cuda_align_table table;
    ng_cuda_window window[2]; /* this tile's and the next one's */
    alignas(4) uint8_t scales[tile::LANES][ROWS]; /* of the window's rows */
    int most[ROWS][tile::LANES]; /* of a block: the largest, plus 1 */
    /* The same of blocks whose scales are not written yet. */
    uint8_t kept[ng_cuda_kept_blocks::MOST][tile::LANES];
};

/* 16 bytes from column `first` of a row on, byte by byte; columns that are not
 * there come as 0. */
__device__ __noinline__ uint4 load_codes(const uint8_t *from, int64_t cols)
{
    uint4 codes = {0, 0, 0, 0};

    for (int i = 0; i < tile::CHUNK / 2 && 2 * i < cols; i++) {
        const uint32_t byte = 2 * i + 1 < cols ? from[i] : from[i] & 0xFu;

        (i < 4    ? codes.x
         : i < 8  ? codes.y
         : i < 12 ? codes.z
                  : codes.w) |= byte << 8 * (i % 4);
    }
    return codes;
}

/* How many of eight codes lose something. */
__device__ __noinline__ uint32_t count_inexact(uint32_t codes, uint32_t mask)
{
    uint32_t n = 0;

    for (int i = 0; i < 8; i++)
        n += mask >> (codes >> 4 * i & 7) & 1;
    return n;
}

/* What a thread has of a tile: 32 columns of four rows, and the scales there of
 * every 32nd row. */
struct piece {
    uint4 codes[4];
    uint32_t scales[4];
};

/* Where a tile lies, and this thread in it. */
struct spot {
    int number; /* of the window */
    int64_t col;
    int left; /* columns from the thread's first on */
};

/* The scale bytes of the thread's columns: the first of the window's rows, and
 * bytes from one row to the next. */
__device__ __forceinline__ const uint8_t *scales_at(const ng_mxfp4 &x,
                                                    const spot &at)
{
    return ng_cuda_scale_byte(x.scales, (int64_t)at.number * ROWS,
                              at.col / tile::CHUNK + threadIdx.x % tile::LANES);
}

__device__ __forceinline__ int64_t scale_pitch(const ng_mxfp4 &x)
{
    return x.scales.dtype == NG_UE8M0X4 ? 4 * x.scales.ld : x.scales.ld;
}

/* All loads of a tile, none of which is waited for. used: the tensor's rows. */
__device__ __forceinline__ void fetch(piece &p, const ng_mxfp4 &x,
                                      const spot &at, int64_t used)
{
    const int64_t row = (int64_t)at.number * ROWS;
    const int quad = (int)threadIdx.x / tile::LANES;
    const int rows =
        at.left > 0 && used > row ? (int)min(used - row, (int64_t)ROWS) : 0;
    const uint8_t *from =
        x.codes + (row + 4 * quad) * x.ld
        + (at.col + threadIdx.x % tile::LANES * tile::CHUNK) / 2;
    const uint8_t *scales = scales_at(x, at);

#pragma unroll
    for (int i = 0; i < 4; i++)
        p.codes[i] = {0, 0, 0, 0};
    if (at.left >= tile::CHUNK
        && (((uintptr_t)from | (uintptr_t)x.ld) & 15) == 0) {
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (4 * quad + i < rows)
                p.codes[i] = __ldg((const uint4 *)(from + i * x.ld));
    } else {
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (4 * quad + i < rows)
                p.codes[i] = load_codes(from + i * x.ld, at.left);
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
        p.scales[i] = quad + 32 * i < rows
                          ? __ldg(scales + (quad + 32 * i) * scale_pitch(x))
                          : NG_UE8M0_NAN;
}

/* A scale byte plus 1; 0 of a NaN. */
__device__ __forceinline__ int plus_1(uint32_t byte)
{
    return byte == NG_UE8M0_NAN ? 0 : (int)byte + 1;
}

/* Raise *most to the largest of a warp's that share a chunk. */
__device__ __forceinline__ void raise(int *most, int value)
{
#pragma unroll
    for (int away = tile::LANES; away < 32; away *= 2)
        value = max(value, __shfl_xor_sync(0xFFFFFFFF, value, away));
    if (threadIdx.x % 32 < tile::LANES && value > 0)
        atomicMax(most, value);
}

/* The largest scale of every block that the window meets, rows outside it
 * included: those before are of its first block, those behind of its last. */
__device__ __forceinline__ void find_most(tile_memory &memory,
                                          const ng_cuda_window &window,
                                          const piece &p, const ng_mxfp4 &x,
                                          const spot &at)
{
    const int chunk = (int)threadIdx.x % tile::LANES;
    const int quad = (int)threadIdx.x / tile::LANES;
    const int last = window.n_blocks - 1;
    uint32_t before[4], behind[4];
    int most = 0;

    if (window.low < 0 || window.high > window.n) {
        const uint8_t *scales = scales_at(x, at);
        const int64_t pitch = scale_pitch(x);

#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int low = window.low + quad + 32 * i;
            const int high = window.n + quad + 32 * i;

            before[i] = low < 0 && at.left > 0 ? __ldg(scales + low * pitch)
                                               : NG_UE8M0_NAN;
            behind[i] = high < window.high && at.left > 0
                            ? __ldg(scales + high * pitch)
                            : NG_UE8M0_NAN;
        }
        for (int i = 0; i < 4; i++)
            most = max(most, plus_1(before[i]));
        raise(&memory.most[0][chunk], most);
        most = 0;
        for (int i = 0; i < 4; i++)
            most = max(most, plus_1(behind[i]));
        raise(&memory.most[last][chunk], most);
        most = 0;
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
        memory.scales[chunk][quad + 32 * i] = (uint8_t)p.scales[i];
    if (last == 0) {
#pragma unroll
        for (int i = 0; i < 4; i++)
            most = max(most, plus_1(p.scales[i]));
        raise(&memory.most[0][chunk], most);
    } else {
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (p.scales[i] != NG_UE8M0_NAN)
                atomicMax(&memory.most[window.block[quad + 32 * i]][chunk],
                          plus_1(p.scales[i]));
    }
}

/* Look up a thread's codes, turn them and put them into the tile; returns how
 * many lost something. */
template <bool COUNT>
__device__ __forceinline__ uint32_t turn(tile_memory &memory,
                                         const ng_cuda_window &window,
                                         const piece &p, int headroom,
                                         ng_dtype dtype)
{
    const int chunk = (int)threadIdx.x % tile::LANES;
    const int quad = (int)threadIdx.x / tile::LANES;
    const uint32_t four = *(const uint32_t *)&memory.scales[chunk][4 * quad];
    uint2 table[4];
    uint32_t signs[4], lost = 0;

#pragma unroll
    for (int i = 0; i < 4; i++) {
        const int b = window.block[min(4 * quad + i, window.n - 1)];
        const int k = ng_cuda_aligned_exponent((uint32_t)memory.most[b][chunk],
                                               headroom, dtype);
        const ng_cuda_align_row row = memory.table.row[ng_cuda_align_distance(
            k + headroom + 127, four >> 8 * i & 0xFF)];

        table[i] = {row.low, row.high};
        signs[i] = row.signs;
        if (COUNT && row.inexact != 0)
            lost += count_inexact(p.codes[i].x, row.inexact)
                    + count_inexact(p.codes[i].y, row.inexact)
                    + count_inexact(p.codes[i].z, row.inexact)
                    + count_inexact(p.codes[i].w, row.inexact);
    }

    uint32_t *to = memory.codes + tile::word(chunk * tile::CHUNK, quad);

#pragma unroll
    for (int w = 0; w < 4; w++) {
        uint32_t even[4], odd[4];

#pragma unroll
        for (int i = 0; i < 4; i++) {
            const uint32_t eight = w == 0   ? p.codes[i].x
                                   : w == 1 ? p.codes[i].y
                                   : w == 2 ? p.codes[i].z
                                            : p.codes[i].w;
            const uint32_t magnitudes = eight & 0x77777777;
            const uint32_t low =
                ng_cuda_prmt(table[i].x, table[i].y, magnitudes);
            const uint32_t high =
                ng_cuda_prmt(table[i].x, table[i].y, magnitudes >> 16);

            even[i] = ng_cuda_prmt(low, high, 0x6420) | (eight << 4 & signs[i]);
            odd[i] = ng_cuda_prmt(low, high, 0x7531) | (eight & signs[i]);
        }
        ng_cuda_col_put<tile>(to + tile::PITCH * 8 * w, 2, even);
        ng_cuda_col_put<tile>(to + tile::PITCH * (8 * w + 1), 2, odd);
    }
    return lost;
}

/* Keep the exponents of the blocks that begin in the window. */
__device__ __forceinline__ void keep(tile_memory &memory,
                                     const ng_cuda_window &window, int at)
{
    const int skip = window.low < 0;
    const int n = (window.n_blocks - skip) * tile::LANES;

    for (int i = (int)threadIdx.x; i < n; i += tile::THREADS)
        (&memory.kept[at][0])[i] = (uint8_t)(&memory.most[skip][0])[i];
}

template <bool COUNT>
__global__ void __launch_bounds__(tile::THREADS, RESIDENT)
    convert(const __grid_constant__ fast_job job)
{
    __shared__ tile_memory memory;
    const ng_mxfp4 &x = job.call.x;
    const ng_fp8 &y = job.call.y;
    const ng_cuda_options &o = job.call.o;
    const ng_cuda_strip strip = ng_cuda_strip_of(job.strips);
    const int64_t col = (int64_t)strip.col_tile * tile::COLS;
    const int cols = (int)min((int64_t)tile::COLS, x.cols - col);
    spot at = {strip.first, col,
               cols - (int)(threadIdx.x % tile::LANES) * tile::CHUNK};
    ng_cuda_kept_blocks kept;
    uint32_t lost = 0;
    piece p;

    ng_cuda_align_table_load(&memory.table, job.table);
    for (int i = (int)threadIdx.x; i < ROWS * tile::LANES; i += tile::THREADS)
        (&memory.most[0][0])[i] = 0;
    ng_cuda_wait_for_stream();

    const int64_t used = ng_cuda_rows(o, x.rows);

    fetch(p, x, at, used);
    ng_cuda_find_window(&memory.window[0], o, x.rows, at.number);
    for (int i = 0; i < strip.n; i++) {
        const ng_cuda_window &window = memory.window[i % 2];

        __syncthreads(); /* the window; the tile is written, most is clear */
        if (window.n <= 0)
            break; /* and so are all behind it */
        find_most(memory, window, p, x, at);
        __syncthreads();
        lost +=
            turn<COUNT>(memory, window, p, o.rules.headroom, y.scales.dtype);
        keep(memory, window, kept.n);
        kept.add(window);

        const int rows = window.n, n_blocks = window.n_blocks;
        uint8_t *to = y.codes + col * y.ld + window.row;

        __syncthreads();
        at.number++;
        if (i + 1 < strip.n) {
            fetch(p, x, at, used);
            ng_cuda_find_window(&memory.window[(i + 1) % 2], o, x.rows,
                                at.number);
        }
        for (int k = (int)threadIdx.x; k < n_blocks * tile::LANES;
             k += tile::THREADS)
            (&memory.most[0][0])[k] = 0;
        ng_cuda_col_store<tile>(memory.codes, to, y.ld, rows, cols);
        if (i + 1 == strip.n || kept.last || kept.is_full())
            kept.store<tile::THREADS>(y.scales, col, cols, [&](int b, int c) {
                return ng_cuda_scale_bits(
                    y.scales.dtype,
                    ng_cuda_aligned_exponent(memory.kept[b][c / tile::CHUNK],
                                             o.rules.headroom, y.scales.dtype),
                    false);
            });
    }
    if (COUNT)
        ng_cuda_add_count(job.events, NG_EVENT_INEXACT, lost);
}

} // namespace

bool ng_cuda_convert_mxfp4_to_fp8_col_takes(const ng_cuda_align_job &job,
                                            const ng_cuda_launch *launch)
{
    return job.y.form == NG_FP8_COL
           && (launch->events == nullptr || launch->inexact_only)
           && ng_cuda_col_tiles(job.x.rows, job.x.cols, tile::COLS)
                  <= INT32_MAX;
}

ng_status ng_cuda_convert_mxfp4_to_fp8_col(const ng_cuda_align_job &call,
                                           const ng_cuda_launch *launch)
{
    fast_job job = {
        call, {}, ng_cuda_align_table_of(call.o.rules), launch->events};
    const ng_status status =
        ng_cuda_strips_of(&job.strips, ng_ceil_div(call.x.rows, NG_CUDA_WINDOW),
                          ng_ceil_div(call.x.cols, tile::COLS), RESIDENT);

    return status != NG_OK
               ? status
               : ng_cuda_launch_next(
                   launch->events != nullptr ? convert<true> : convert<false>,
                   (unsigned)job.strips.grid, tile::THREADS, launch, job);
}
