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

/* General scales: fp8_quotient.cuh. scale is an FP32 pattern. */
template <ng_dtype DTYPE>
__device__ __forceinline__ ng_cuda_codes ng_cuda_encode_general(
    const ng_cuda_run<DTYPE, NG_CUDA_FP8_RUN> &x, uint32_t scale)
{
    const ng_cuda_divisor s = ng_cuda_divisor_of(scale);
    ng_cuda_codes codes;

#pragma unroll
    for (int i = 0; i < 4; i++) {
        const float2 a = x.pair(2 * i), b = x.pair(2 * i + 1);
        const uint32_t low = ng_cuda_prmt(ng_cuda_quotient_code(a.x, s),
                                          ng_cuda_quotient_code(a.y, s), 0x40);
        const uint32_t high = ng_cuda_prmt(ng_cuda_quotient_code(b.x, s),
                                           ng_cuda_quotient_code(b.y, s), 0x40);

        codes.word[i] = ng_cuda_prmt(low, high, 0x5410) | x.signs(i);
    }
    return codes;
}

/* Encode a run under its block's scale (an FP32 pattern) and store it at y, on
 * a 16-byte boundary. */
template <ng_dtype DTYPE, bool POW2>
__device__ __forceinline__ void
ng_cuda_store_fp8_run(uint8_t *y, const ng_cuda_run<DTYPE, NG_CUDA_FP8_RUN> &x,
                      uint32_t scale)
{
    const uint32_t nan = NG_E4M3_NAN * 0x01010101u;
    const bool is_nan = scale > NG_FP32_INFINITY;
    const ng_cuda_codes codes =
        POW2 ? ng_cuda_encode_pow2(x, is_nan ? 0x3F800000 : scale)
             : ng_cuda_encode_general(x, scale);

    ng_cuda_store16(y, make_uint4(is_nan ? nan : codes.word[0],
                                  is_nan ? nan : codes.word[1],
                                  is_nan ? nan : codes.word[2],
                                  is_nan ? nan : codes.word[3]));
}

#endif
