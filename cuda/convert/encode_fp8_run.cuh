/* SPDX-License-Identifier: Apache-2.0
 *
 * 16 numbers under one scale to 16 E4M3 codes, nearest-even: the inner loop of
 * FP8 quantization. Device only.
 */
#ifndef NG_CUDA_CONVERT_ENCODE_FP8_RUN_CUH
#define NG_CUDA_CONVERT_ENCODE_FP8_RUN_CUH

#include "cuda/convert/fp8_quotient.cuh"
#include "cuda/convert/load_numbers.cuh"
#include "formats/e4m3.h"

enum { NG_CUDA_FP8_RUN = 16 };

struct ng_cuda_codes {
    uint32_t word[4];
};

/* Scale 2^k: multiplying by 2^-k is exact but for results far below the least
 * code, and cvt rounds once. scale is an FP32 pattern, not NaN. */
template <ng_dtype DTYPE>
__device__ __forceinline__ ng_cuda_codes ng_cuda_encode_pow2(
    const ng_cuda_run<DTYPE, NG_CUDA_FP8_RUN> &x, uint32_t scale)
{
    const float factor = __uint_as_float((254u << 23) - scale); /* 2^-k */
    ng_cuda_codes codes;

#pragma unroll
    for (int i = 0; i < 4; i++) {
        const float2 a = x.pair(2 * i), b = x.pair(2 * i + 1);

        codes.word[i] =
            ng_cuda_cvt_e4m3x2(__fmul_rn(a.x, factor), __fmul_rn(a.y, factor))
            | ng_cuda_cvt_e4m3x2(__fmul_rn(b.x, factor), __fmul_rn(b.y, factor))
                  << 16;
    }
    return codes;
}

/* General scales: *near is set if any quotient lies so near a boundary that the
 * codes may be wrong (fp8_quotient.cuh). The two tests of
 * ng_cuda_quotient_is_near, as the least of a value over all 16: q's pattern
 * moved so that what is near comes out small. */
template <ng_dtype DTYPE>
__device__ __forceinline__ ng_cuda_codes ng_cuda_encode_general(
    const ng_cuda_run<DTYPE, NG_CUDA_FP8_RUN> &x, float r, bool *near)
{
    uint32_t normal = UINT32_MAX, subnormal = UINT32_MAX;
    ng_cuda_codes codes;
    float q[4];

#pragma unroll
    for (int i = 0; i < 4; i++) {
        const float2 a = x.pair(2 * i), b = x.pair(2 * i + 1);

        q[0] = __fmul_rn(a.x, r);
        q[1] = __fmul_rn(a.y, r);
        q[2] = __fmul_rn(b.x, r);
        q[3] = __fmul_rn(b.y, r);
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const uint32_t bits = __float_as_uint(q[k]);

            normal = min(normal, bits * 4096 + (0x80002u << 12));
            subnormal = min(subnormal, bits * 2 - 0x74000000u);
        }
        codes.word[i] = ng_cuda_cvt_e4m3x2(q[0], q[1])
                        | ng_cuda_cvt_e4m3x2(q[2], q[3]) << 16;
    }
    *near = normal <= 4 * 4096 || subnormal < 0x79000000u - 0x74000000u;
    return codes;
}

/* The same 16 codes by the exact way, from memory: seldom. */
template <ng_dtype DTYPE>
__device__ __noinline__ void ng_cuda_settle_run(uint8_t *y, const void *x,
                                                float s, float r)
{
#pragma unroll 1
    for (int i = 0; i < NG_CUDA_FP8_RUN; i++) {
        uint32_t bits;

        if constexpr (DTYPE == NG_FP32)
            bits = ((const uint32_t *)x)[i];
        else if constexpr (DTYPE == NG_BF16)
            bits = (uint32_t)((const uint16_t *)x)[i] << 16;
        else
            bits =
                ng_cuda_bits_of(ng_cuda_decode_fp16(((const uint16_t *)x)[i]));
        y[i] = (uint8_t)ng_cuda_quotient_code(__uint_as_float(bits), s, r);
    }
}

/* Encode a run under its block's scale (an FP32 pattern) and store it.
 *   y  out, on a 16-byte boundary;  from  where x was loaded from */
template <ng_dtype DTYPE, bool POW2>
__device__ __forceinline__ void
ng_cuda_store_fp8_run(uint8_t *y, const ng_cuda_run<DTYPE, NG_CUDA_FP8_RUN> &x,
                      const void *from, uint32_t scale)
{
    const uint32_t nan = NG_E4M3_NAN * 0x01010101u;
    const bool is_nan = scale > NG_FP32_INFINITY;
    ng_cuda_codes codes;

    if constexpr (POW2) {
        codes = ng_cuda_encode_pow2(x, is_nan ? 0x3F800000 : scale);
    } else {
        const float s = __uint_as_float(scale), r = __frcp_rn(s);
        bool near;

        codes = ng_cuda_encode_general(x, r, &near);
        /* By a power of two the quotients are exact, ties included. */
        if (near && !is_nan && (scale & 0x7FFFFF) != 0) {
            ng_cuda_settle_run<DTYPE>(y, from, s, r);
            return;
        }
    }
    ng_cuda_store16(y, make_uint4(is_nan ? nan : codes.word[0],
                                  is_nan ? nan : codes.word[1],
                                  is_nan ? nan : codes.word[2],
                                  is_nan ? nan : codes.word[3]));
}

#endif
