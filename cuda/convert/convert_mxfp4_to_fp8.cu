/* SPDX-License-Identifier: Apache-2.0
 *
 * MXFP4 to FP8, both forms: the launcher, and the row form's fast path.
 *
 * Half an MXFP4 block a lane and step: 8 bytes of codes in, 16 out, so that
 * loads and stores of a warp are contiguous; four steps in flight. A lane reads
 * the scales of the up to four MXFP4 blocks of its FP8 block itself: eight
 * lanes read the same four bytes, in one access. Codes come from a table of the
 * block's distance (align_table.cuh): no arithmetic on elements at all.
 *
 *   bytes an element   1/2 + 1/32 + 1 + 1/32
 *   instructions       about 4 an element
 *   limit              memory: 11 issue slots an element at 4.2 TB/s
 */
#include "cuda/convert/convert_mxfp4_to_fp8.h"

#include "cuda/check_views.h"
#include "cuda/convert/align_table.cuh"
#include "cuda/convert/row_block.cuh"
#include "cuda/divider.cuh"
#include "cuda/general.cuh"
#include "cuda/ptx_half2.cuh"
#include "cuda/vector.cuh"

enum { THREADS = 256, STEPS = 4, RUN = 16, LANES = NG_FP8_BLOCK / RUN };

namespace
{
struct fast_job {
    ng_cuda_align_job call;
    ng_cuda_divider places; /* of a row: LANES for each FP8 block */
    ng_events *events;      /* INEXACT alone; may be null */
};
} // namespace

/* The up to four scale bytes of an FP8 block, absent ones 0xFF, which is no
 * exponent either. */
static __device__ __forceinline__ uint32_t load_scales(const ng_scales &plane,
                                                       uint32_t row,
                                                       uint32_t block,
                                                       int n_scales)
{
    const int first = (int)block * 4;
    uint32_t bytes = 0xFFFFFFFF;

    if (plane.dtype == NG_UE8M0X4) {
        bytes =
            ((const uint32_t *)plane.data)[row * plane.ld + block * plane.step];
        if (n_scales - first < 4)
            bytes |= 0xFFFFFFFF << 8 * (n_scales - first);
        return bytes;
    }

    const uint8_t *at =
        (const uint8_t *)plane.data + row * plane.ld + first * plane.step;

    if (plane.step == 1 && n_scales - first >= 4 && (uintptr_t)at % 4 == 0)
        return *(const uint32_t *)at;
#pragma unroll
    for (int i = 0; i < 4; i++)
        if (first + i < n_scales)
            bytes = bytes & ~(0xFFu << 8 * i)
                    | (uint32_t)at[i * plane.step] << 8 * i;
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
    __shared__ ng_cuda_align_table table;
    const ng_mxfp4 &x = job.call.x;
    const ng_fp8 &y = job.call.y;
    const int headroom = job.call.o.rules.headroom;
    const int n_scales = (int)((x.cols + NG_MXFP4_BLOCK - 1) / NG_MXFP4_BLOCK);
    const int64_t rows = ng_cuda_rows(job.call.o, x.rows);
    uint32_t row[STEPS], place[STEPS], scales[STEPS], count = 0;
    uint2 nibbles[STEPS];
    bool active[STEPS];

#pragma unroll
    for (int k = 0; k < STEPS; k++) {
        const uint32_t i = (blockIdx.x * STEPS + k) * THREADS + threadIdx.x;

        row[k] = ng_cuda_divide(i, job.places);
        place[k] = i - row[k] * job.places.divisor;
        active[k] = row[k] < rows && place[k] * RUN < x.cols;
        if (active[k]) {
            nibbles[k] = __ldg((const uint2 *)(x.codes + row[k] * x.ld
                                               + place[k] * (RUN / 2)));
            scales[k] =
                load_scales(x.scales, row[k], place[k] / LANES, n_scales);
        }
    }
    ng_cuda_align_table_make(&table, job.call.o.rules);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < STEPS; k++) {
        if (!active[k])
            continue;

        const int e = ng_cuda_aligned_exponent(largest_plus_1(scales[k]),
                                               headroom, y.scales.dtype);
        const uint32_t byte = scales[k] >> place[k] % LANES / 2 * 8 & 0xFF;
        const int d = ng_cuda_align_row(e, headroom, byte);
        const bool is_nan = byte == 0xFF;
        const uint32_t nan = NG_E4M3_NAN * 0x01010101u;
        const uint32_t signs = is_nan ? 0 : 0x01010101;
        uint2 codes = make_uint2(nan, nan);

        if (!is_nan) {
            codes = table.codes[d];
            if (job.events != nullptr && table.inexact[d] != 0)
                count += count_inexact(nibbles[k], table.inexact[d]);
        }
        if (place[k] % LANES == 0)
            ng_cuda_store_scale(y.scales, row[k], place[k] / LANES,
                                job.places.divisor / LANES,
                                ng_cuda_scale_bits(y.scales.dtype, e, false));
        ng_cuda_store16(
            y.codes + row[k] * y.ld + place[k] * RUN,
            make_uint4(ng_cuda_align4(codes, nibbles[k].x, signs),
                       ng_cuda_align4(codes, nibbles[k].x >> 16, signs),
                       ng_cuda_align4(codes, nibbles[k].y, signs),
                       ng_cuda_align4(codes, nibbles[k].y >> 16, signs)));
    }
    if (job.events != nullptr)
        ng_cuda_add_count(job.events, NG_EVENT_INEXACT, count);
}

static int64_t places_of(int64_t cols)
{
    return ng_ceil_div(cols, NG_FP8_BLOCK) * LANES;
}

static bool is_fast(const ng_cuda_align_job &job, const ng_cuda_launch *launch)
{
    return job.y.form == NG_FP8_ROW && job.x.cols % RUN == 0
           && (launch->events == nullptr || launch->inexact_only)
           && job.x.rows <= UINT32_MAX / 2 / places_of(job.x.cols)
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
    if (!is_fast(call, launch))
        return ng_cuda_run_general(
            call, ng_cuda_outer_blocks(y->form, x->rows, call.o) * call.inner(),
            launch);

    const int64_t places = places_of(x->cols);
    const fast_job job = {call, ng_cuda_divider_of((uint32_t)places),
                          launch->events};

    convert<<<ng_cuda_blocks(x->rows * places, THREADS * STEPS), THREADS, 0,
              (cudaStream_t)launch->stream>>>(job);
    NG_CUDA_TRY_LAUNCH();
    return NG_OK;
}
