/* SPDX-License-Identifier: Apache-2.0
 *
 * E4M3 codes under a larger power-of-two scale (semantics.md 6, L-29): code =
 * RNE_E4M3(code * 2^-d), d >= 0, four at a time. Device only; the general path
 * is fp8_row_to_col_block.cuh.
 *
 * By way of FP16, where it is exact: E4M3's least step is 2^-9 and FP16's
 * 2^-24, so for d <= 15 the product loses nothing, and cvt rounds it once. For
 * larger d what the product loses lies below 16 * 2^-24, far under half of
 * E4M3's least step, where cvt gives a zero of the right sign anyway. From d =
 * 19 on even 448 becomes zero; d stops at 24, the least power that FP16 holds.
 * A NaN code or factor comes out as FP16's canonical NaN, and that as 0x7F.
 */
#ifndef NG_CUDA_CONVERT_ALIGN_E4M3_CUH
#define NG_CUDA_CONVERT_ALIGN_E4M3_CUH

#include "cuda/ptx_cvt.cuh"
#include "cuda/ptx_half2.cuh"

/* Exponents of scales, unbiased; a NaN scale has none. */
enum { NG_CUDA_NO_EXPONENT = -1000 };

/* The factor for codes under exponent e that come under k >= e: FP16 bits of
 * 2^(e - k), twice; NaN where e is NG_CUDA_NO_EXPONENT. */
__device__ __forceinline__ uint32_t ng_cuda_align_factor(int e, int k)
{
    const int d = ng_cuda_min(k - e, 24);
    const uint32_t half =
        d < 15 ? (uint32_t)(15 - d) << 10 : UINT32_C(1) << (24 - d);

    return (e == NG_CUDA_NO_EXPONENT ? UINT32_C(0x7FFF) : half) * 0x10001;
}

/* Four codes; *differing gets 1 added, in FP16, for each whose value changed,
 * low and high halves apart, if COUNT. Those that FP16 itself loses, where d >
 * 15, ng_cuda_count_lost_e4m3x4 has to add. */
template <bool COUNT>
__device__ __forceinline__ uint32_t ng_cuda_align_e4m3x4(uint32_t codes,
                                                         uint32_t factor,
                                                         uint32_t &differing)
{
    const uint32_t a =
        ng_cuda_mul_fp16x2(ng_cuda_cvt_fp16x2_of_e4m3x2(codes), factor);
    const uint32_t b =
        ng_cuda_mul_fp16x2(ng_cuda_cvt_fp16x2_of_e4m3x2(codes >> 16), factor);
    const uint32_t low = ng_cuda_cvt_e4m3x2_of_fp16x2(a);
    const uint32_t high = ng_cuda_cvt_e4m3x2_of_fp16x2(b);

    if (COUNT) {
        differing = ng_cuda_add_fp16x2(
            differing,
            ng_cuda_differ_fp16x2(a, ng_cuda_cvt_fp16x2_of_e4m3x2(low)));
        differing = ng_cuda_add_fp16x2(
            differing,
            ng_cuda_differ_fp16x2(b, ng_cuda_cvt_fp16x2_of_e4m3x2(high)));
    }
    return low | high << 16;
}

/* Of four codes, how many are numbers but zero, and products of zero: those
 * that ng_cuda_align_e4m3x4 saw as equal to their result. */
static __device__ __noinline__ uint32_t ng_cuda_count_lost_e4m3x4(uint32_t codes,
                                                           uint32_t factor)
{
    uint32_t lost = 0;

    for (int i = 0; i < 4; i++) {
        const uint32_t code = codes >> 8 * i & 0x7F;
        const uint32_t product =
            ng_cuda_mul_fp16x2(ng_cuda_cvt_fp16x2_of_e4m3x2(code), factor);

        lost += code != 0 && (product & 0xFFFF) == 0;
    }
    return lost;
}

#endif
