/* SPDX-License-Identifier: Apache-2.0
 *
 * FP8 to numbers: the launcher, and the fast path from rows to BF16.
 *
 * Eight elements a lane and step, 8 bytes in and 16 out, four steps in flight.
 * E4M3 becomes FP16 and FP32 by cvt, exactly, then one FP32 multiplication and
 * one cvt to BF16: the two roundings of section 1. Under the rule saturate an
 * infinite product, which takes a scale of 2^119 or more, must not stay one:
 * such blocks go through dequantize_element.cuh.
 *
 *   bytes an element   1 + 1/32 + 2
 *   instructions       about 4 an element
 *   limit              memory: 23 issue slots an element at 4.2 TB/s
 */
#include "cuda/convert/dequantize_fp8.h"

#include "cuda/check_views.h"
#include "cuda/convert/row_block.cuh"
#include "cuda/divider.cuh"
#include "cuda/general.cuh"
#include "cuda/ptx_cvt.cuh"
#include "cuda/vector.cuh"

enum { THREADS = 256, STEPS = 4, RUN = 8 };

namespace
{
struct fast_job {
    ng_cuda_dequantize_fp8_job call;
    ng_cuda_divider places; /* of a row */
};
} // namespace

/* Two elements of the low two bytes. */
static __device__ __forceinline__ uint32_t decode2(uint32_t codes, float scale)
{
    const float2 x =
        ng_cuda_float2_of_fp16x2(ng_cuda_cvt_fp16x2_of_e4m3x2(codes & 0xFFFF));

    return ng_cuda_cvt_bf16x2(__fmul_rn(x.x, scale), __fmul_rn(x.y, scale));
}

static __global__ void __launch_bounds__(THREADS)
    dequantize(const __grid_constant__ fast_job job)
{
    const ng_fp8 &x = job.call.x;
    const ng_matrix &y = job.call.y;
    const int64_t rows = ng_cuda_rows(job.call.o, x.rows);
    const bool saturates = job.call.o.rules.overflow == NG_SATURATE;
    uint32_t row[STEPS], place[STEPS], bits[STEPS];
    uint2 codes[STEPS];

#pragma unroll
    for (int k = 0; k < STEPS; k++) {
        const uint32_t i = (blockIdx.x * STEPS + k) * THREADS + threadIdx.x;

        row[k] = ng_cuda_divide(i, job.places);
        place[k] = i - row[k] * job.places.divisor;
        if (row[k] < rows) {
            codes[k] = __ldg(
                (const uint2 *)(x.codes + row[k] * x.ld + place[k] * RUN));
            bits[k] = ng_cuda_load_scale_fp32(x.scales, row[k],
                                              place[k] / (NG_FP8_BLOCK / RUN));
        }
    }
#pragma unroll
    for (int k = 0; k < STEPS; k++) {
        uint16_t *to = (uint16_t *)y.data + row[k] * y.ld + place[k] * RUN;

        if (row[k] >= rows)
            continue;

        const uint32_t magnitude = bits[k] & 0x7FFFFFFF;

        if (saturates && magnitude >= (119u + 127) << 23
            && magnitude <= NG_FP32_INFINITY) {
            unsigned events = 0;

            for (int e = 0; e < RUN; e++) {
                const uint32_t word = e < 4 ? codes[k].x : codes[k].y;

                to[e] = (uint16_t)ng_cuda_dequantize_element(
                    __float_as_uint(
                        ng_cuda_decode_e4m3(word >> 8 * (e % 4) & 0xFF)),
                    bits[k], NG_BF16, job.call.o.rules, events);
            }
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
           && job.x.rows <= UINT32_MAX / 2 / (job.x.cols / RUN)
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
    const fast_job job = {call, ng_cuda_divider_of((uint32_t)places)};

    dequantize<<<ng_cuda_blocks(x->rows * places, THREADS * STEPS), THREADS, 0,
                 (cudaStream_t)launch->stream>>>(job);
    NG_CUDA_TRY_LAUNCH();
    return NG_OK;
}
