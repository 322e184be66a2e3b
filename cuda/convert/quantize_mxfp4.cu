/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers to MXFP4 along rows.
 *
 * A thread a block: it loads the 32 numbers (64 bytes of BF16 in four 16-byte
 * loads, all in flight before the first use), takes the largest magnitude among
 * its own registers, without a shuffle, and stores 16 bytes of codes and one of
 * scale. Loads of a warp lie 64 bytes apart, so each touches half of every
 * sector, and the next load finds the other half in L1; stores are contiguous.
 *
 *   bytes an element   BF16, FP16: 2 + 1/2 + 1/32;  FP32: 4 + 1/2 + 1/32
 *   instructions       BF16 about 9, FP16 and FP32 about 14 an element
 *   limit              memory: at 4.2 TB/s an H200 has 20 (FP32: 35) issue
 *                      slots an element
 *   ncu, H200        32768 x 7168, BF16: 137.6 us, DRAM at 88.6 % of its peak,
 *                    issue slots 56 %: bound by DRAM
 *
 * BF16 works on pairs. v = x / 2^e is in [-8, 8), and v 2^-14 as an FP16 number
 * has E2M1's exponents: its subnormals are E2M1's, so one integer rounding of
 * the pattern to its upper bits, ties to even, is the code, below 1 as above.
 * The step to FP16 is exact where it matters: v has 8 bits, and those of |v| in
 * [1/8, 8) are multiples of 2^-10, the pattern's unit; smaller ones stay at or
 * below 1/8 and become 0. FP16 input (11 bits, down to 2^-12) does the same
 * with v 2^-126 in FP32, whose unit is 2^-23. FP32 input has more digits than
 * that below 1 and takes encode_nearest.cuh's two cases.
 */
#include "cuda/convert/quantize_mxfp4.h"

#include "cuda/check_views.h"
#include "cuda/convert/encode_nearest.cuh"
#include "cuda/convert/row_block.cuh"
#include "cuda/convert/scale_access.cuh"
#include "cuda/divider.cuh"
#include "cuda/general.cuh"
#include "cuda/launch_next.cuh"
#include "cuda/ptx_cvt.cuh"
#include "cuda/ptx_half2.cuh"
#include "cuda/vector.cuh"

enum { THREADS = 256 };

/* The 32 numbers of a block as loaded. */
namespace
{
template <ng_dtype DTYPE> struct block_words {
    static constexpr int n = DTYPE == NG_FP32 ? 32 : 16;
    uint32_t word[n];
};
} // namespace

template <ng_dtype DTYPE>
static __device__ __forceinline__ block_words<DTYPE>
load_block(const void *from)
{
    block_words<DTYPE> x;

#pragma unroll
    for (int i = 0; i < x.n / 4; i++) {
        const uint4 v = ng_cuda_load16((const uint4 *)from + i);

        x.word[4 * i] = v.x;
        x.word[4 * i + 1] = v.y;
        x.word[4 * i + 2] = v.z;
        x.word[4 * i + 3] = v.w;
    }
    return x;
}

/* The largest magnitude as an FP32 pattern: patterns are ordered as integers,
 * NaN above infinity above every number. */
template <ng_dtype DTYPE>
static __device__ __forceinline__ uint32_t amax_of(const block_words<DTYPE> &x)
{
    uint32_t amax = 0;

    if constexpr (DTYPE == NG_FP32) {
#pragma unroll
        for (int i = 0; i < x.n; i++)
            amax = max(amax, x.word[i] & 0x7FFFFFFF);
        return amax;
    } else {
#pragma unroll
        for (int i = 0; i < x.n; i += 2)
            amax = ng_cuda_max3_u16x2(amax, x.word[i] & 0x7FFF7FFF,
                                      x.word[i + 1] & 0x7FFF7FFF);
        amax = max(amax & 0xFFFF, amax >> 16);
        return DTYPE == NG_BF16 ? amax << 16
                                : ng_cuda_bits_of(ng_cuda_decode_fp16(amax));
    }
}

static __device__ __forceinline__ float low_bf16(uint32_t pair)
{
    return __uint_as_float(pair << 16);
}

static __device__ __forceinline__ float high_bf16(uint32_t pair)
{
    return __uint_as_float(pair & 0xFFFF0000);
}

/* Codes of elements i and i + 4 of eight, at nibbles i and i + 4 of a word
 * whose others are 0. */
static __device__ __forceinline__ uint32_t bf16_codes(float a, float b, int i)
{
    const uint32_t pair =
        ng_cuda_limit_fp16x2(ng_cuda_cvt_fp16x2(a, b), 0x0E000E00); /* 6 */
    const uint32_t rounded = pair + 0x00FF00FF + (pair >> 9 & 0x00010001);
    const uint32_t codes = i < 3 ? rounded >> (9 - 4 * i) : rounded << 3;

    return (codes & 0x00070007u << 4 * i)
           | (rounded >> (12 - 4 * i) & 0x00080008u << 4 * i);
}

/* Eight codes of four words of BF16. factor is 2^(-e-14). */
static __device__ __forceinline__ uint32_t encode_bf16(const uint32_t *x,
                                                       float factor)
{
    return bf16_codes(__fmul_rn(low_bf16(x[0]), factor),
                      __fmul_rn(low_bf16(x[2]), factor), 0)
           | bf16_codes(__fmul_rn(high_bf16(x[0]), factor),
                        __fmul_rn(high_bf16(x[2]), factor), 1)
           | bf16_codes(__fmul_rn(low_bf16(x[1]), factor),
                        __fmul_rn(low_bf16(x[3]), factor), 2)
           | bf16_codes(__fmul_rn(high_bf16(x[1]), factor),
                        __fmul_rn(high_bf16(x[3]), factor), 3);
}

/* The code of one FP16 number, as FP32. factor is 2^(-e-126). */
static __device__ __forceinline__ uint32_t fp16_code(float x, float factor)
{
    const uint32_t bits = __float_as_uint(__fmul_rn(x, factor));
    const uint32_t magnitude = bits & 0x7FFFFFFF;
    const uint32_t code = (magnitude + 0x1FFFFF + (magnitude >> 22 & 1)) >> 22;

    return (bits >> 28 & 8) | min(code, 7u);
}

static __device__ __forceinline__ uint32_t encode_fp16(const uint32_t *x,
                                                       float factor)
{
    uint32_t codes = 0;

#pragma unroll
    for (int i = 0; i < 4; i++) {
        const float2 pair = ng_cuda_float2_of_fp16x2(x[i]);

        codes |= fp16_code(pair.x, factor) << 8 * i
                 | fp16_code(pair.y, factor) << (8 * i + 4);
    }
    return codes;
}

/* Eight codes of eight words of FP32. factor is 2^-e. */
static __device__ __forceinline__ uint32_t encode_fp32(const uint32_t *x,
                                                       float factor)
{
    uint32_t codes = 0;

#pragma unroll
    for (int i = 0; i < 8; i++)
        codes |= ng_cuda_nearest_e2m1(__fmul_rn(__uint_as_float(x[i]), factor))
                 << 4 * i;
    return codes;
}

namespace
{
struct fast_job {
    ng_mxfp4 y;
    ng_matrix x;
    ng_cuda_options o;
    ng_cuda_divider blocks;      /* of a row */
    uint32_t carry;              /* of the scale mode */
    ng_cuda_scale_access scales; /* of y */
};
} // namespace

template <ng_dtype DTYPE>
static __global__ void __launch_bounds__(THREADS)
    quantize(const __grid_constant__ fast_job job)
{
    constexpr int size = DTYPE == NG_FP32 ? 4 : 2;

    ng_cuda_wait_for_stream();

    const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    const uint32_t row = ng_cuda_divide(i, job.blocks);
    const uint32_t block = i - row * job.blocks.divisor;

    if (row >= ng_cuda_rows(job.o, job.x.rows))
        return;

    const block_words<DTYPE> x =
        load_block<DTYPE>((const char *)job.x.data
                          + (row * job.x.ld + block * NG_MXFP4_BLOCK) * size);
    const uint32_t scale = ng_cuda_mxfp4_scale(amax_of(x), job.carry);
    const int e = (int)scale - 127;
    uint32_t codes[4];

    /* 2^-e for e up to 125, and less 14 or 126: an FP32 number, subnormal at
     * times. e = 128 under a NaN only. */
    constexpr int less = DTYPE == NG_BF16 ? 14 : DTYPE == NG_FP16 ? 126 : 0;
    const float factor = ng_cuda_power_of_two(scale < 0xFF ? -e - less : 0);

#pragma unroll
    for (int k = 0; k < 4; k++) {
        codes[k] = DTYPE == NG_BF16 ? encode_bf16(x.word + 4 * k, factor)
                   : DTYPE == NG_FP16
                       ? encode_fp16(x.word + 4 * k, factor)
                       : encode_fp32(x.word + x.n / 4 * k, factor);
        codes[k] = scale < 0xFF ? codes[k] : 0;
    }
    ng_cuda_store16(job.y.codes + row * job.y.ld + block * (NG_MXFP4_BLOCK / 2),
                    make_uint4(codes[0], codes[1], codes[2], codes[3]));
    ng_cuda_put_scale(job.scales, row, block, scale);
}

static bool is_fast(const ng_mxfp4 *y, const ng_matrix *x,
                    const ng_cuda_options &o, const ng_cuda_launch *launch)
{
    return o.rules.rounding == NG_NEAREST_EVEN && launch->events == nullptr
           && x->cols % NG_MXFP4_BLOCK == 0
           && x->cols <= UINT32_MAX /* columns are counted in 32 bits */
           && x->rows <= UINT32_MAX / (x->cols / NG_MXFP4_BLOCK)
           && ng_cuda_is_aligned(x->data,
                                 x->ld * (int64_t)ng_dtype_size(x->dtype))
           && ng_cuda_is_aligned(y->codes, y->ld);
}

extern "C" ng_status ng_cuda_quantize_mxfp4(const ng_mxfp4 *y,
                                            const ng_matrix *x,
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
        || (status = ng_cuda_check_mxfp4(y, options)) != NG_OK
        || (status = ng_cuda_check_matrix(x, NG_CUDA_FLOATS)) != NG_OK)
        return status;
    if (x->rows == 0 || x->cols == 0)
        return NG_OK;

    const ng_cuda_options o = ng_cuda_options_of(options);
    const int64_t blocks = ng_ceil_div(x->cols, NG_MXFP4_BLOCK);

    if (!is_fast(y, x, o, launch))
        return ng_cuda_run_general(ng_cuda_quantize_mxfp4_job{*y, *x, o},
                                   x->rows * blocks, launch);

    const fast_job job = {*y,
                          *x,
                          o,
                          ng_cuda_divider_of((uint32_t)blocks),
                          ng_cuda_mxfp4_carry(o.rules.mxfp4_scale),
                          ng_cuda_scale_access_of(y->scales, blocks)};
    const unsigned grid = ng_cuda_blocks(x->rows * blocks, THREADS);

    return ng_cuda_launch_next(x->dtype == NG_BF16   ? quantize<NG_BF16>
                               : x->dtype == NG_FP16 ? quantize<NG_FP16>
                                                     : quantize<NG_FP32>,
                               grid, THREADS, launch, job);
}
