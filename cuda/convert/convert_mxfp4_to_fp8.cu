/* SPDX-License-Identifier: Apache-2.0
 *
 * MXFP4 to FP8, both forms: the launcher, and the row form's fast path; the col
 * form's is convert_mxfp4_to_fp8_col.cu.
 *
 * A thread has two runs of 16, halves of two MXFP4 blocks of one FP8 block, in
 * each of four rows: 8 bytes of codes in and 16 out a run, by four lanes that
 * fill whole sectors; eight loads in flight. Lane i of the four reads the
 * scales of row i, finds its FP8 scale and the table's rows of its four blocks,
 * and hands those on by a shuffle. Codes come from a table of the block's
 * distance (align_table.cuh): no arithmetic on elements at all.
 *
 *   bytes an element   1/2 + 1/32 + 1 + 1/32
 *   instructions       3.2 an element (415 for 128), by the disassembly
 *   limit              memory: 11 issue slots an element at 4.2 TB/s
 *   measured           H200: 92.1 us at 32768 x 7168, 0.97 of a copy of as many
 *                      bytes, 9.0 us at 8192 x 2048, 1.01; ragged the same. At
 *                      8.4 instructions an element 103.5 us. The smaller shape
 *                      took 11 to 17 us while every launch made its table
 */
#include "cuda/convert/convert_mxfp4_to_fp8.h"

#include "cuda/check_views.h"
#include "cuda/convert/align_table.cuh"
#include "cuda/convert/col_fast.cuh"
#include "cuda/convert/row_block.cuh"
#include "cuda/convert/scale_access.cuh"
#include "cuda/general.cuh"
#include "cuda/launch_next.cuh"
#include "cuda/ptx_half2.cuh"
#include "cuda/row_group.cuh"
#include "cuda/vector.cuh"

/* A thread's runs of 16 are LANES apart: loads and stores of LANES lanes fill
 * whole sectors of memory. */
enum {
    THREADS = 256,
    ROWS = 4,
    RUN = 16,
    LANES = 4,
    RUNS = NG_FP8_BLOCK / RUN / LANES,
    APART = LANES * RUN
};

namespace
{
struct fast_job {
    ng_cuda_align_job call;
    ng_cuda_divider places; /* of a row: LANES for each FP8 block */
    ng_events *events;      /* INEXACT alone; may be null */
    int64_t scale_ld;       /* bytes between lines of x's scales where the four
                               of a block are an aligned word; 0: they are not */
    int n_scales;           /* of a row */
    uint32_t least_plus_1;  /* the largest exponent, as a byte plus 1, counts
                               for no less: S has no exponent below */
    ng_cuda_scale_access scales; /* of y */
    ng_cuda_align_table table;
};
} // namespace

/* The up to four scale bytes of an FP8 block, absent ones 0xFF, which is no
 * exponent either. */
static __device__ __noinline__ uint32_t load_scales(const ng_scales &plane,
                                                    uint32_t row,
                                                    uint32_t block,
                                                    int n_scales)
{
    uint32_t bytes = 0xFFFFFFFF;

    for (int i = 0; i < 4 && (int)block * 4 + i < n_scales; i++)
        bytes = (bytes & ~(0xFFu << 8 * i))
                | ng_cuda_load_scale(plane, row, block * 4 + i) << 8 * i;
    return bytes;
}

/* The largest byte that is not 0xFF, plus 1; 0 if there is none. In every byte
 * 0xFF + 1 is 0. */
static __device__ __forceinline__ uint32_t largest_plus_1(uint32_t bytes)
{
    const uint32_t even = (bytes & 0x00FF00FF) + 0x00010001 & 0x00FF00FF;
    const uint32_t odd = (bytes >> 8 & 0x00FF00FF) + 0x00010001 & 0x00FF00FF;
    const uint32_t most = ng_cuda_max3_u16x2(even, odd, 0);

    return max(most & 0xFFFF, most >> 16);
}

/* How many of 16 codes are inexact, by the table's row: seldom any. */
static __device__ __noinline__ uint32_t count_inexact(uint2 nibbles,
                                                      uint32_t inexact)
{
    uint32_t n = 0;

    for (int i = 0; i < 8; i++)
        n += (inexact >> (nibbles.x >> 4 * i & 7) & 1)
             + (inexact >> (nibbles.y >> 4 * i & 7) & 1);
    return n;
}

/* The rows of the table that the four blocks take, a byte each. */
static __device__ __forceinline__ uint32_t table_rows(uint32_t bytes,
                                                      uint32_t top_plus_1)
{
    uint32_t rows = 0;

#pragma unroll
    for (int i = 0; i < 4; i++)
        rows |= (uint32_t)ng_cuda_align_distance((int)top_plus_1 - 1,
                                                 bytes >> 8 * i & 0xFF)
                << 8 * i;
    return rows;
}

/* PLAIN: nothing is counted, the scales of a block of x are a word, and y's are
 * units (scale_access.cuh): what is common, without the rest's branches. */
template <bool PLAIN>
static __global__ void __launch_bounds__(THREADS, PLAIN ? 5 : 4)
    convert(const __grid_constant__ fast_job job)
{
    __shared__ __align__(16) ng_cuda_align_table table;
    const ng_mxfp4 &x = job.call.x;
    const ng_fp8 &y = job.call.y;
    const ng_cuda_row_place at = ng_cuda_row_place_of(job.places, ROWS);
    const uint32_t block = at.place / LANES;
    const int lane = (int)threadIdx.x % LANES;
    const uint32_t col = block * NG_FP8_BLOCK + (uint32_t)lane * RUN;
    uint2 nibbles[ROWS][RUNS];
    uint32_t count = 0;

    ng_cuda_align_table_load(&table, job.table);
    ng_cuda_wait_for_stream();

    const int64_t left = ng_cuda_rows(job.call.o, x.rows) - at.row;
    const int n = left < 0 ? 0 : left < ROWS ? (int)left : (int)ROWS;

    /* ---- all loads: codes, and row `lane`'s scales ---- */
    const uint8_t *from = x.codes + at.row * x.ld + col / 2;
    uint32_t bytes = 0xFFFFFFFF;

#pragma unroll
    for (int k = 0; k < ROWS; k++)
#pragma unroll
        for (int r = 0; r < RUNS; r++)
            if (k < n && (PLAIN || col + r * APART < x.cols))
                nibbles[k][r] =
                    __ldg((const uint2 *)(from + k * x.ld + r * (APART / 2)));
    if (lane < n)
        bytes = PLAIN || job.scale_ld > 0
                    ? __ldg((const uint32_t *)((const uint8_t *)x.scales.data
                                               + (at.row + lane) * job.scale_ld
                                               + block * 4))
                    : load_scales(x.scales, at.row + lane, block, job.n_scales);
    __syncthreads();

    /* ---- row `lane`: its scale, and what its blocks look up ---- */
    const uint32_t most = largest_plus_1(bytes);
    const uint32_t rows = table_rows(bytes, max(most, job.least_plus_1));

    if (lane < n)
        ng_cuda_put_scale<PLAIN>(
            job.scales, at.row + lane, block,
            ng_cuda_scale_bits(
                y.scales.dtype,
                ng_cuda_aligned_exponent(most, job.call.o.rules.headroom,
                                         y.scales.dtype),
                false));

    /* ---- codes ---- */
    uint8_t *to = y.codes + at.row * y.ld + col;

#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        const uint32_t rows_k = __shfl_sync(0xFFFFFFFF, rows, k, LANES);

        if (k >= n)
            continue;
#pragma unroll
        for (int r = 0; r < RUNS; r++) {
            if (!PLAIN && col + r * APART >= x.cols)
                continue;

            const int byte = r * 2 + lane / 2; /* of the run's block */
            const ng_cuda_align_row row =
                table.row[ng_cuda_prmt(rows_k, 0, 0x4440 + byte)];
            const uint2 low = ng_cuda_align8(row, nibbles[k][r].x);
            const uint2 high = ng_cuda_align8(row, nibbles[k][r].y);

            if (!PLAIN && job.events != nullptr && row.inexact != 0)
                count += count_inexact(nibbles[k][r], row.inexact);
            ng_cuda_store16(to + k * y.ld + r * APART,
                            make_uint4(low.x, low.y, high.x, high.y));
        }
    }
    if (!PLAIN && job.events != nullptr)
        ng_cuda_add_count(job.events, NG_EVENT_INEXACT, count);
}

static int64_t places_of(int64_t cols)
{
    return ng_ceil_div(cols, NG_FP8_BLOCK) * LANES;
}

/* A word for every four scales, whole blocks only: packed or not, the bytes lie
 * in the same places. */
static int64_t scale_ld_of(const ng_scales &plane, int64_t cols)
{
    const int64_t ld = plane.ld * (int64_t)ng_dtype_size(plane.dtype);

    return cols % NG_FP8_BLOCK == 0 && plane.step == 1
                   && ng_cuda_is_aligned(plane.data, ld, 4)
               ? ld
               : 0;
}

static bool is_fast(const ng_cuda_align_job &job, const ng_cuda_launch *launch)
{
    return job.y.form == NG_FP8_ROW && job.x.cols % RUN == 0
           && (launch->events == nullptr || launch->inexact_only)
           && ng_cuda_row_groups_fit(job.x.rows, places_of(job.x.cols))
           && ng_cuda_is_aligned(job.x.codes, job.x.ld, 8)
           && ng_cuda_is_aligned(job.y.codes, job.y.ld);
}

extern "C" ng_status ng_cuda_convert_mxfp4_to_fp8(const ng_fp8 *y,
                                                  const ng_mxfp4 *x,
                                                  const ng_options *options,
                                                  const ng_cuda_launch *launch)
{
    const unsigned forms = 1 << NG_FP8_ROW | 1 << NG_FP8_COL;
    ng_status status;

    if (y == nullptr || x == nullptr)
        return NG_BAD_POINTER;
    if (y->rows != x->rows || y->cols != x->cols)
        return NG_BAD_SHAPE;
    if ((status = ng_cuda_check_call(options, x->rows, x->cols, launch))
            != NG_OK
        || (status = ng_cuda_check_fp8(y, forms, options)) != NG_OK
        || (status = ng_cuda_check_mxfp4(x, options)) != NG_OK)
        return status;

    const ng_cuda_align_job call = {*y, *x, ng_cuda_options_of(options)};

    if (call.o.rules.rounding != NG_NEAREST_EVEN)
        return NG_BAD_RULES;
    if (x->rows == 0 || x->cols == 0)
        return NG_OK;
    if (ng_cuda_convert_mxfp4_to_fp8_col_takes(call, launch))
        return ng_cuda_convert_mxfp4_to_fp8_col(call, launch);
    if (!is_fast(call, launch))
        return ng_cuda_run_general(
            call, ng_cuda_outer_blocks(y->form, x->rows, call.o) * call.inner(),
            launch);

    const int64_t places = places_of(x->cols);
    const fast_job job = {
        call,
        ng_cuda_divider_of((uint32_t)places),
        launch->events,
        scale_ld_of(x->scales, x->cols),
        (int)ng_ceil_div(x->cols, NG_MXFP4_BLOCK),
        y->scales.dtype == NG_FP32 ? 0 : (uint32_t)call.o.rules.headroom + 1,
        ng_cuda_scale_access_of(y->scales, places / LANES),
        ng_cuda_align_table_of(call.o.rules)};

    const unsigned grid =
        ng_cuda_row_group_blocks(x->rows, places, ROWS, THREADS);

    return job.events == nullptr && job.scale_ld > 0 && job.scales.unit > 0
               ? ng_cuda_launch_next(convert<true>, grid, THREADS, launch, job)
               : ng_cuda_launch_next(convert<false>, grid, THREADS, launch,
                                     job);
}
