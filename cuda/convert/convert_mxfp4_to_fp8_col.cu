/* SPDX-License-Identifier: Apache-2.0
 *
 * MXFP4 to FP8 along columns: transposed and rescaled in one pass, for the
 * weight gradient. The fast path; see convert_mxfp4_to_fp8.cu.
 *
 * A thread block has a window of 128 tokens (row_window.cuh) by 256 columns, a
 * thread 16 bytes, one MXFP4 block, of each of four rows. The largest exponent
 * of each FP8 block is found from the scales of all its rows, in shared memory.
 * Codes come from a table (align_table.cuh): one byte selection gives four, and
 * eight more turn four rows by four columns. No arithmetic on elements.
 *
 *   grid, block    windows * ceil(cols / 256) thread blocks of 256
 *   shared memory  39.6 KB: the turned tile (col_tile.cuh), the table, the
 *                  window, scale bytes of its rows, exponents of its blocks
 *   bytes          1/2 + 1/32 + 1 + 1/32 an element
 *   instructions   about 5 an element, 2.3 of them byte selections
 *   limit          memory, two thirds of it writes; a plain stream of the same
 *                  mixture reaches 0.93 of a copy's rate
 *   measured       H200, 32768 x 7168, an earlier build of this kernel: 119 us,
 *                  0.76 of a copy of as many bytes, where all loads came before
 *                  the first use, and 129 to 137 us, 0.66 to 0.70, where they
 *                  waited for each other. ncu said then: issue 34 % busy, stalls
 *                  on shared memory and loads; more thread blocks a
 *                  multiprocessor or smaller tiles were slower.
 */
#include "cuda/convert/align_table.cuh"
#include "cuda/convert/col_fast.cuh"
#include "cuda/convert/col_tile.cuh"
#include "cuda/count_events.cuh"
#include "cuda/ptx_prmt.cuh"
#include "cuda/row_window.cuh"
#include "cuda/try.cuh"

namespace
{

/* 128 rows of 256 columns; a thread's 16 bytes are one block of x. */
using tile = ng_cuda_col_tile<256, 8>;
static_assert(tile::CHUNK == NG_MXFP4_BLOCK, "");

enum { ROWS = NG_CUDA_WINDOW };

struct fast_job {
    ng_cuda_align_job call;
    unsigned col_tiles;
    ng_cuda_align_table table;
    ng_events *events; /* INEXACT alone */
};

struct tile_memory {
    uint32_t codes[tile::WORDS];
    ng_cuda_align_table table;
    ng_cuda_window window;
    alignas(4) uint8_t scales[tile::LANES][ROWS]; /* of the window's rows */
    int most[ROWS][tile::LANES]; /* of a block: the largest, plus 1 */
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

template <bool COUNT>
__global__ void __launch_bounds__(tile::THREADS)
    convert(const __grid_constant__ fast_job job)
{
    __shared__ tile_memory memory;
    const ng_mxfp4 &x = job.call.x;
    const ng_fp8 &y = job.call.y;
    const ng_cuda_options &o = job.call.o;
    const int t = (int)threadIdx.x, lane = t % 32;
    const int number = (int)(blockIdx.x / job.col_tiles);
    const int64_t col =
        (int64_t)(blockIdx.x - (unsigned)number * job.col_tiles) * tile::COLS;

    ng_cuda_find_window(&memory.window, o, x.rows, number);
    ng_cuda_align_table_load(&memory.table, job.table);
    for (int i = t; i < ROWS * tile::LANES;
         i += o.offsets != nullptr ? tile::THREADS : ROWS * tile::LANES)
        (&memory.most[0][0])[i] = 0;
    __syncthreads();

    const ng_cuda_window &window = memory.window;
    const int rows = window.n;

    if (rows <= 0)
        return;

    /* ---- read: 4 rows of 32 columns, which share a scale each ---- */
    const int chunk = t % tile::LANES, quad = t / tile::LANES;
    const int left =
        (int)min(x.cols - col, (int64_t)tile::COLS) - chunk * tile::CHUNK;
    const int n = left > 0 ? rows - 4 * quad : 0; /* of these rows */
    const uint8_t *from = x.codes + (window.row + 4 * quad) * x.ld
                          + (col + chunk * tile::CHUNK) / 2;
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

    /* ---- the scales of all rows of the window's blocks, and their largest.
     * Here a thread has every 32nd row. ---- */
    const uint8_t *scale =
        ng_cuda_scale_byte(x.scales, window.row, col / tile::CHUNK + chunk);
    const int64_t pitch =
        x.scales.dtype == NG_UE8M0X4 ? 4 * x.scales.ld : x.scales.ld;
    int e[4], most = 0;

    /* All loads before the first use: a branch between would make them wait for
     * each other. */
#pragma unroll
    for (int i = 0; i < 4; i++)
        e[i] = quad + 32 * i < rows && left > 0
                   ? __ldg(scale + (quad + 32 * i) * pitch)
                   : NG_UE8M0_NAN;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        memory.scales[chunk][quad + 32 * i] = (uint8_t)e[i];
        most = max(most, e[i] == NG_UE8M0_NAN ? 0 : e[i] + 1);
    }
    if (window.n_blocks == 1) {
#pragma unroll
        for (int away = tile::LANES; away < 32; away *= 2)
            most = max(most, __shfl_xor_sync(0xFFFFFFFF, most, away));
        if (lane < tile::LANES)
            atomicMax(&memory.most[0][chunk], most);
    } else {
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (e[i] != NG_UE8M0_NAN)
                atomicMax(&memory.most[window.block[quad + 32 * i]][chunk],
                          e[i] + 1);
    }
    if (left > 0 && (window.low < 0 || window.high > rows))
        for (int r = window.low + quad; r < window.high; r += 32) {
            if (r >= 0 && r < rows)
                continue;

            const int other = __ldg(scale + r * pitch);

            if (other != NG_UE8M0_NAN)
                atomicMax(&memory.most[ng_cuda_block_of(window, r)][chunk],
                          other + 1);
        }
    __syncthreads();

    /* ---- look up, turn, store ---- */
    const uint32_t four = *(const uint32_t *)&memory.scales[chunk][4 * quad];
    const uint32_t nan = NG_E4M3_NAN * 0x01010101u;
    uint2 table[4];
    uint32_t sign[4], lost = 0;

#pragma unroll
    for (int i = 0; i < 4; i++) {
        const int b = window.block[min(4 * quad + i, rows - 1)];
        const uint32_t byte = four >> 8 * i & 0xFF;
        const bool is_nan = byte == NG_UE8M0_NAN;
        const int d =
            is_nan
                ? 0
                : ng_cuda_align_distance(
                    ng_cuda_aligned_exponent((uint32_t)memory.most[b][chunk],
                                             o.rules.headroom, y.scales.dtype),
                    o.rules.headroom, byte);

        const ng_cuda_align_row &row = memory.table.row[d];

        table[i] =
            is_nan ? make_uint2(nan, nan) : make_uint2(row.low, row.high);
        sign[i] = is_nan ? 0 : 0x80808080;
        if (COUNT && !is_nan) {
            const uint32_t mask = row.inexact;

            if (mask != 0)
                lost += count_inexact(codes[i].x, mask)
                        + count_inexact(codes[i].y, mask)
                        + count_inexact(codes[i].z, mask)
                        + count_inexact(codes[i].w, mask);
        }
    }

    uint32_t *to = memory.codes + tile::word(chunk * tile::CHUNK, quad);

#pragma unroll
    for (int w = 0; w < 4; w++) {
        uint32_t even[4], odd[4];

#pragma unroll
        for (int i = 0; i < 4; i++) {
            const uint32_t eight = w == 0   ? codes[i].x
                                   : w == 1 ? codes[i].y
                                   : w == 2 ? codes[i].z
                                            : codes[i].w;
            const uint32_t magnitudes = eight & 0x77777777;
            const uint32_t low =
                ng_cuda_prmt(table[i].x, table[i].y, magnitudes);
            const uint32_t high =
                ng_cuda_prmt(table[i].x, table[i].y, magnitudes >> 16);

            even[i] = ng_cuda_prmt(low, high, 0x6420) | (eight << 4 & sign[i]);
            odd[i] = ng_cuda_prmt(low, high, 0x7531) | (eight & sign[i]);
        }
        ng_cuda_col_put(to + 33 * 8 * w, 2, even);
        ng_cuda_col_put(to + 33 * (8 * w + 1), 2, odd);
    }
    __syncthreads();

    /* ---- write: codes, and the scales of the blocks that begin here ---- */
    const int cols = (int)min((int64_t)tile::COLS, x.cols - col);

    ng_cuda_col_store<tile>(memory.codes, y.codes + col * y.ld + window.row,
                            y.ld, rows, cols);
    for (int b = window.low < 0; b < window.n_blocks; b++)
        if (t < cols) {
            const int64_t j = window.first_block + b;
            const bool last = window.last && b == window.n_blocks - 1;
            const int k = ng_cuda_aligned_exponent(
                (uint32_t)memory.most[b][t / tile::CHUNK], o.rules.headroom,
                y.scales.dtype);

            ng_cuda_store_scale(y.scales, col + t, j, j + (last ? 1 : 2),
                                ng_cuda_scale_bits(y.scales.dtype, k, false));
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
    const fast_job job = {call, (unsigned)ng_ceil_div(call.x.cols, tile::COLS),
                          ng_cuda_align_table_of(call.o.rules), launch->events};
    const unsigned grid =
        (unsigned)ng_cuda_col_tiles(call.x.rows, call.x.cols, tile::COLS);
    const cudaStream_t stream = (cudaStream_t)launch->stream;

    if (launch->events != nullptr)
        convert<true><<<grid, tile::THREADS, 0, stream>>>(job);
    else
        convert<false><<<grid, tile::THREADS, 0, stream>>>(job);
    NG_CUDA_TRY_LAUNCH();
    return NG_OK;
}
