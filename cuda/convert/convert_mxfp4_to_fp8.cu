/* SPDX-License-Identifier: Apache-2.0
 *
 * MXFP4 to FP8, both forms: the launcher, and the row form's fast path; the col
 * form's is convert_mxfp4_to_fp8_col.cu.
 *
 * Half an MXFP4 block a lane and row: 8 bytes of codes in, 16 out, so that
 * loads and stores of a warp are contiguous; four rows in flight. A lane reads
 * the scales of the up to four MXFP4 blocks of its FP8 block itself: eight
 * lanes read the same four bytes, in one access. Codes come from a table of the
 * block's distance (align_table.cuh): no arithmetic on elements at all.
 *
 *   bytes an element   1/2 + 1/32 + 1 + 1/32
 *   instructions       about 4 an element
 *   limit              memory: 11 issue slots an element at 4.2 TB/s
 *   ncu, H200          32768 x 7168, with the table made in every block: 111.3
 *                      us, DRAM at 63.7 %, issue slots 81.6 %: bound by issue.
 *                      By the table from the host 103.5 us, 86 % of a copy
 */
#include "cuda/convert/convert_mxfp4_to_fp8.h"

#include "cuda/check_views.h"
#include "cuda/convert/align_table.cuh"
#include "cuda/convert/col_fast.cuh"
#include "cuda/convert/row_block.cuh"
#include "cuda/convert/scale_access.cuh"
#include "cuda/general.cuh"
#include "cuda/ptx_half2.cuh"
#include "cuda/row_group.cuh"
#include "cuda/vector.cuh"

enum { THREADS = 256, ROWS = 4, RUN = 16, LANES = NG_FP8_BLOCK / RUN };

namespace
{
struct fast_job {
    ng_cuda_align_job call;
    ng_cuda_divider places; /* of a row: LANES for each FP8 block */
    ng_events *events;      /* INEXACT alone; may be null */
    int64_t scale_ld;       /* bytes between lines of x's scales where the four
                               of a block are an aligned word; 0: they are not */
    int n_scales;           /* of a row */
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

static __global__ void __launch_bounds__(THREADS)
    convert(const __grid_constant__ fast_job job)
{
    __shared__ __align__(16) ng_cuda_align_table table;
    const ng_mxfp4 &x = job.call.x;
    const ng_fp8 &y = job.call.y;
    const int headroom = job.call.o.rules.headroom;
    const int64_t rows = ng_cuda_rows(job.call.o, x.rows);
    const ng_cuda_row_place at = ng_cuda_row_place_of(job.places, ROWS);
    const uint32_t block = at.place / LANES;
    const uint32_t shift = at.place % LANES / 2 * 8; /* of its scale's byte */
    const bool inside = at.place * RUN < x.cols;
    const uint8_t *from = x.codes + at.row * x.ld + at.place * (RUN / 2);
    const uint8_t *scale_from =
        (const uint8_t *)x.scales.data + (at.row * job.scale_ld + block * 4);
    uint8_t *to = y.codes + at.row * y.ld + at.place * RUN;
    uint32_t scales[ROWS], count = 0;
    uint2 nibbles[ROWS];

#pragma unroll
    for (int k = 0; k < ROWS; k++)
        if (inside && at.row + k < rows) {
            nibbles[k] = __ldg((const uint2 *)(from + k * x.ld));
            scales[k] =
                job.scale_ld > 0
                    ? __ldg((const uint32_t *)(scale_from + k * job.scale_ld))
                    : load_scales(x.scales, at.row + k, block, job.n_scales);
        }
    ng_cuda_align_table_load(&table, job.table);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        if (!inside || at.row + k >= rows)
            continue;

        const int e = ng_cuda_aligned_exponent(largest_plus_1(scales[k]),
                                               headroom, y.scales.dtype);
        const uint32_t byte = scales[k] >> shift & 0xFF;
        const uint32_t nan = NG_E4M3_NAN * 0x01010101u;
        uint32_t low = nan, high = nan, signs = 0;

        if (byte != 0xFF) {
            const ng_cuda_align_row &r =
                table.row[ng_cuda_align_distance(e, headroom, byte)];

            low = r.low;
            high = r.high;
            signs = 0x01010101;
            if (job.events != nullptr && r.inexact != 0)
                count += count_inexact(nibbles[k], r.inexact);
        }
        if (at.place % LANES == 0)
            ng_cuda_put_scale(job.scales, at.row + k, block,
                              ng_cuda_scale_bits(y.scales.dtype, e, false));
        ng_cuda_store16(
            to + k * y.ld,
            make_uint4(ng_cuda_align4(low, high, nibbles[k].x, signs),
                       ng_cuda_align4(low, high, nibbles[k].x >> 16, signs),
                       ng_cuda_align4(low, high, nibbles[k].y, signs),
                       ng_cuda_align4(low, high, nibbles[k].y >> 16, signs)));
    }
    if (job.events != nullptr)
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
    const fast_job job = {call,
                          ng_cuda_divider_of((uint32_t)places),
                          launch->events,
                          scale_ld_of(x->scales, x->cols),
                          (int)ng_ceil_div(x->cols, NG_MXFP4_BLOCK),
                          ng_cuda_scale_access_of(y->scales, places / LANES),
                          ng_cuda_align_table_of(call.o.rules)};

    convert<<<ng_cuda_row_group_blocks(x->rows, places, ROWS, THREADS), THREADS,
              0, (cudaStream_t)launch->stream>>>(job);
    NG_CUDA_TRY_LAUNCH();
    return NG_OK;
}
