/* SPDX-License-Identifier: Apache-2.0
 *
 * FP8 to numbers: the launcher, and the fast path from rows to BF16.
 *
 * Eight elements a lane and row, 8 bytes in and 16 out, four rows in flight.
 * E4M3 becomes FP16 and FP32 by cvt, exactly, then one FP32 multiplication and
 * one cvt to BF16: the two roundings of section 1. Under the rule saturate an
 * infinite product, which takes a scale of 2^119 or more, must not stay one:
 * such blocks go through dequantize_element.cuh.
 *
 *   bytes an element   1 + 1/32 + 2
 *   instructions       about 4 an element
 *   limit              memory: 23 issue slots an element at 4.2 TB/s
 *   ncu, H200          32768 x 7168: 188.8 us, DRAM at 75.5 % of its peak,
 *                      issue slots 47 %: bound by the latency of its loads
 */
#include "cuda/convert/dequantize_fp8.h"

#include "cuda/check_views.h"
#include "cuda/convert/row_block.cuh"
#include "cuda/convert/scale_access.cuh"
#include "cuda/row_group.cuh"
#include "cuda/general.cuh"
#include "cuda/launch_next.cuh"
#include "cuda/ptx_cvt.cuh"
#include "cuda/vector.cuh"

enum { THREADS = 256, ROWS = 4, RUN = 8 };

namespace
{
struct fast_job {
    ng_cuda_dequantize_fp8_job call;
    ng_cuda_divider places;      /* of a row */
    ng_cuda_scale_access scales; /* of x */
};
} // namespace

/* Two elements of the low two bytes. */
static __device__ __forceinline__ uint32_t decode2(uint32_t codes, float scale)
{
    const float2 x =
        ng_cuda_float2_of_fp16x2(ng_cuda_cvt_fp16x2_of_e4m3x2(codes & 0xFFFF));

    return ng_cuda_cvt_bf16x2(__fmul_rn(x.x, scale), __fmul_rn(x.y, scale));
}

/* A run whose products can pass the largest number: seldom. */
static __device__ __noinline__ void
decode_exactly(uint16_t *to, uint2 codes, uint32_t scale, const ng_rules &rules)
{
    unsigned events = 0;

    for (int e = 0; e < RUN; e++) {
        const uint32_t word = e < 4 ? codes.x : codes.y;

        to[e] = (uint16_t)ng_cuda_dequantize_element(
            __float_as_uint(ng_cuda_decode_e4m3(word >> 8 * (e % 4) & 0xFF)),
            scale, NG_BF16, rules, events);
    }
}

static __global__ void __launch_bounds__(THREADS, 6)
    dequantize(const __grid_constant__ fast_job job)
{
    ng_cuda_wait_for_stream();

    const ng_fp8 &x = job.call.x;
    const ng_matrix &y = job.call.y;
    const int64_t rows = ng_cuda_rows(job.call.o, x.rows);
    const bool saturates = job.call.o.rules.overflow == NG_SATURATE;
    const ng_cuda_row_place at = ng_cuda_row_place_of(job.places, ROWS);
    const uint8_t *from = x.codes + at.row * x.ld + at.place * RUN;
    uint32_t bits[ROWS];
    uint2 codes[ROWS];

#pragma unroll
    for (int k = 0; k < ROWS; k++)
        if (at.row + k < rows) {
            codes[k] = __ldg((const uint2 *)(from + k * x.ld));
            bits[k] = ng_cuda_get_scale_fp32(job.scales, at.row + k,
                                             at.place / (NG_FP8_BLOCK / RUN));
        }
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        uint16_t *to =
            (uint16_t *)y.data + (at.row + k) * y.ld + at.place * RUN;

        if (at.row + k >= rows)
            continue;

        const uint32_t magnitude = bits[k] & 0x7FFFFFFF;

        if (saturates && magnitude >= (119u + 127) << 23
            && magnitude <= NG_FP32_INFINITY) {
            decode_exactly(to, codes[k], bits[k], job.call.o.rules);
            continue;
        }

        const float scale = __uint_as_float(bits[k]);

        ng_cuda_store16(to, make_uint4(decode2(codes[k].x, scale),
                                       decode2(codes[k].x >> 16, scale),
                                       decode2(codes[k].y, scale),
                                       decode2(codes[k].y >> 16, scale)));
    }
}

static bool is_fast(const ng_cuda_dequantize_fp8_job &job,
                    const ng_cuda_launch *launch)
{
    return job.x.form == NG_FP8_ROW && job.y.dtype == NG_BF16
           && launch->events == nullptr && job.x.cols % RUN == 0
           && ng_cuda_row_groups_fit(job.x.rows, job.x.cols / RUN)
           && ng_cuda_is_aligned(job.x.codes, job.x.ld, 8)
           && ng_cuda_is_aligned(job.y.data, job.y.ld * 2);
}

extern "C" ng_status ng_cuda_dequantize_fp8(const ng_matrix *y, const ng_fp8 *x,
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
        || (status = ng_cuda_check_matrix(y, NG_CUDA_FLOATS)) != NG_OK
        || (status = ng_cuda_check_fp8(x, NG_CUDA_FP8_FORMS, options)) != NG_OK)
        return status;
    if (x->rows == 0 || x->cols == 0)
        return NG_OK;

    const ng_cuda_dequantize_fp8_job call = {*y, *x,
                                             ng_cuda_options_of(options)};

    if (!is_fast(call, launch))
        return ng_cuda_run_general(
            call, ng_cuda_outer_blocks(x->form, x->rows, call.o) * call.inner(),
            launch);

    const int64_t places = x->cols / RUN;
    const fast_job job = {
        call, ng_cuda_divider_of((uint32_t)places),
        ng_cuda_scale_access_of(x->scales, ng_ceil_div(x->cols, NG_FP8_BLOCK))};

    return ng_cuda_launch_next(
        dequantize, ng_cuda_row_group_blocks(x->rows, places, ROWS, THREADS),
        THREADS, launch, job);
}
