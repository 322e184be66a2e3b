/* SPDX-License-Identifier: Apache-2.0
 *
 * MXFP4 to numbers: the launcher, and the fast path to BF16.
 *
 * Eight elements a lane and row, 4 bytes in and 16 out, four rows in flight.
 * The BF16 patterns of E2M1's magnitudes are a table of eight: two byte
 * selections give the upper and lower bytes of four elements, two more pair
 * them, and one packed multiplication by 2^e scales two. It is exact: 1/2
 * 2^-127 is a BF16 number, a subnormal one; only 2^128 and above is not, and
 * becomes infinite as RN32 has it. Under the rule saturate blocks that can
 * reach that, scales of 2^126 and 2^127, go through dequantize_element.cuh.
 *
 *   bytes an element   1/2 + 1/32 + 2
 *   instructions       about 4 an element
 *   limit              memory: 20 issue slots an element at 4.2 TB/s
 *   ncu                not profiled; 95 % of a device copy at 32768 x 7168
 */
#include "cuda/convert/dequantize_mxfp4.h"

#include "cuda/check_views.h"
#include "cuda/convert/row_block.cuh"
#include "cuda/convert/scale_access.cuh"
#include "cuda/row_group.cuh"
#include "cuda/general.cuh"
#include "cuda/launch_next.cuh"
#include "cuda/ptx_half2.cuh"
#include "cuda/ptx_prmt.cuh"
#include "cuda/vector.cuh"
#include "formats/bf16.h"

enum { THREADS = 256, ROWS = 4, RUN = 8 };

namespace
{
struct fast_job {
    ng_cuda_dequantize_mxfp4_job call;
    ng_cuda_divider places;      /* of a row */
    ng_cuda_scale_access scales; /* of x */
};
} // namespace

/* 2^(byte - 127), or NaN, as a BF16 pattern in both halves. */
static __device__ __forceinline__ uint32_t bf16_scale(uint32_t byte)
{
    const uint32_t bits = byte == 0xFF ? (uint32_t)NG_BF16_NAN
                          : byte == 0  ? 0x0040u
                                       : byte << 7;

    return bits * 0x00010001u;
}

/* Elements 0 and 1, or 2 and 3, of what hi and lo hold the bytes of, times the
 * scale. */
static __device__ __forceinline__ uint32_t scaled(uint32_t lo, uint32_t hi,
                                                  uint32_t which,
                                                  uint32_t scale)
{
    return ng_cuda_mul_bf16x2(ng_cuda_prmt(lo, hi, which), scale);
}

/* Four elements of the low four nibbles. */
static __device__ __forceinline__ uint2 decode4(uint32_t nibbles,
                                                uint32_t scale)
{
    /* Bytes of 0, .5, 1, 1.5 and 2, 3, 4, 6 in BF16. */
    const uint32_t which = nibbles & 0x7777;
    const uint32_t negative = ng_cuda_prmt(0x80808080, 0x80808080, nibbles);
    const uint32_t lo = ng_cuda_prmt(0xC0800000, 0xC0804000, which);
    const uint32_t hi = ng_cuda_prmt(0x3F3F3F00, 0x40404040, which)
                        | (negative & 0x01010101) << 7;

    return make_uint2(scaled(lo, hi, 0x5140, scale),
                      scaled(lo, hi, 0x7362, scale));
}

/* A run whose products can pass the largest number: seldom. */
static __device__ __noinline__ void decode_exactly(uint16_t *to,
                                                   uint32_t nibbles,
                                                   uint32_t byte,
                                                   const ng_rules &rules)
{
    unsigned events = 0;

    for (int e = 0; e < RUN; e++)
        to[e] = (uint16_t)ng_cuda_dequantize_element(
            __float_as_uint(ng_cuda_decode_e2m1(nibbles >> 4 * e & 0xF)),
            byte << 23, NG_BF16, rules, events);
}

static __global__ void __launch_bounds__(THREADS)
    dequantize(const __grid_constant__ fast_job job)
{
    ng_cuda_wait_for_stream();

    const ng_mxfp4 &x = job.call.x;
    const ng_matrix &y = job.call.y;
    const int64_t rows = ng_cuda_rows(job.call.o, x.rows);
    const bool saturates = job.call.o.rules.overflow == NG_SATURATE;
    const ng_cuda_row_place at = ng_cuda_row_place_of(job.places, ROWS);
    const uint8_t *from = x.codes + at.row * x.ld + at.place * (RUN / 2);
    uint32_t nibbles[ROWS], byte[ROWS];

#pragma unroll
    for (int k = 0; k < ROWS; k++)
        if (at.row + k < rows) {
            nibbles[k] = __ldg((const uint32_t *)(from + k * x.ld));
            byte[k] = ng_cuda_get_scale(job.scales, at.row + k,
                                        at.place / (NG_MXFP4_BLOCK / RUN));
        }
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        uint16_t *to =
            (uint16_t *)y.data + (at.row + k) * y.ld + at.place * RUN;

        if (at.row + k >= rows)
            continue;
        if (saturates && byte[k] >= 126 + 127 && byte[k] != 0xFF) {
            decode_exactly(to, nibbles[k], byte[k], job.call.o.rules);
            continue;
        }

        const uint32_t scale = bf16_scale(byte[k]);
        const uint2 low = decode4(nibbles[k], scale);
        const uint2 high = decode4(nibbles[k] >> 16, scale);

        ng_cuda_store16(to, make_uint4(low.x, low.y, high.x, high.y));
    }
}

static bool is_fast(const ng_cuda_dequantize_mxfp4_job &job,
                    const ng_cuda_launch *launch)
{
    return job.y.dtype == NG_BF16 && launch->events == nullptr
           && job.x.cols % RUN == 0
           && ng_cuda_row_groups_fit(job.x.rows, job.x.cols / RUN)
           && ng_cuda_is_aligned(job.x.codes, job.x.ld, 4)
           && ng_cuda_is_aligned(job.y.data, job.y.ld * 2);
}

extern "C" ng_status ng_cuda_dequantize_mxfp4(const ng_matrix *y,
                                              const ng_mxfp4 *x,
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
        || (status = ng_cuda_check_mxfp4(x, options)) != NG_OK)
        return status;
    if (x->rows == 0 || x->cols == 0)
        return NG_OK;

    const ng_cuda_dequantize_mxfp4_job call = {*y, *x,
                                               ng_cuda_options_of(options)};

    if (!is_fast(call, launch))
        return ng_cuda_run_general(call, x->rows * call.inner(), launch);

    const int64_t places = x->cols / RUN;
    const fast_job job = {call, ng_cuda_divider_of((uint32_t)places),
                          ng_cuda_scale_access_of(
                              x->scales, ng_ceil_div(x->cols, NG_MXFP4_BLOCK))};

    return ng_cuda_launch_next(
        dequantize, ng_cuda_row_group_blocks(x->rows, places, ROWS, THREADS),
        THREADS, launch, job);
}
