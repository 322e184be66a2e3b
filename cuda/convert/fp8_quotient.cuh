/* SPDX-License-Identifier: Apache-2.0
 *
 * RNE_E4M3(v / s), the exact quotient by the stored scale rounded once, without
 * a division an element and without a branch (semantics.md 4).
 *
 * Magnitudes only; the sign is v's. Let t = |v| / s. Scaled by 2^-120, E4M3's
 * least normal 2^-6 becomes FP32's, so the FP32 pattern of t 2^-120 is the code
 * with 20 more bits, subnormal codes included: steps of codes are cut out by
 * the pattern's upper bits, and the middle of a step, b, is those with 0x80000
 * below them. An approximate p picks the step c; then
 *
 *     code = c + 1 if t > b, c if t < b, the even one if t = b
 *
 * and the sign of t - b is that of fma(-b, s, |v|).
 *
 * That is right if t lies less than half a step outside the step of p: then c
 * and c + 1 are its neighbours still. With s = m 2^a, 1 <= m < 2, and r =
 * RN32(1/m), p = RN32(|v| 2^-a * r 2^-120) is within 2 units of its last place,
 * or of 2^-149 where it is subnormal: less than 2^-18 of a step.
 *
 * And the sign is exact: |v| 2^-a is exact where it is not below 2^-126, where
 * t < b whatever its last digits; fma rounds once, and an exact difference that
 * is not zero does not become zero, for b has no digit below 2^-130, m 2^120
 * none below 2^97, and |v| 2^-a none below 2^-149. Nothing overflows: |v| 2^-a
 * is at most 448.1 m.
 */
#ifndef NG_CUDA_CONVERT_FP8_QUOTIENT_CUH
#define NG_CUDA_CONVERT_FP8_QUOTIENT_CUH

#include "cuda/bits.cuh"

/* What a block's scale s = m 2^a makes of it: 2^-a, m 2^120, RN32(1/m) 2^-120.
 */
struct ng_cuda_divisor {
    float unscale, m, r;
};

/* scale  an FP32 pattern by fp8_scale.cuh: normal, positive. (Of a NaN the
 *        result is of no use, and does no harm.) */
NG_HOST_DEVICE ng_cuda_divisor ng_cuda_divisor_of(uint32_t scale)
{
    const uint32_t m = (scale & 0x7FFFFF) | 0x3F800000;
    const uint32_t r =
        ng_cuda_bits_of(ng_cuda_div_rn(1.0f, ng_cuda_float_of(m)));

    return {ng_cuda_float_of((254u << 23) - (scale & 0x7F800000)),
            ng_cuda_float_of(m + (120u << 23)),
            ng_cuda_float_of(r - (120u << 23))};
}

/* The magnitude code of v / s.
 *   v  finite, at most the block's amax in magnitude */
NG_HOST_DEVICE uint32_t ng_cuda_quotient_code(float v, const ng_cuda_divisor &s)
{
    const float top = ng_cuda_mul_rn(
        ng_cuda_float_of(ng_cuda_bits_of(v) & 0x7FFFFFFF), s.unscale);
    const uint32_t p = ng_cuda_bits_of(ng_cuda_mul_rn(top, s.r));
    const uint32_t middle = (p & 0xFFF00000) | 0x80000;
    const uint32_t beyond =
        ng_cuda_bits_of(ng_cuda_fma_rn(-ng_cuda_float_of(middle), s.m, top));
    const uint32_t code = p >> 20;

    /* beyond, as a pattern less 1, and plus 1 for odd codes: its top bit says
     * "stay", of a negative number, and of +0 at an even code. */
    return code + 1 - ((beyond - 1 + (code & 1)) >> 31);
}

#endif
