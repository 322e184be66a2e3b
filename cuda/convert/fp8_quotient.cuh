/* SPDX-License-Identifier: Apache-2.0
 *
 * RNE_E4M3(v / s), the exact quotient rounded once, without a division an
 * element (semantics.md 4).
 *
 * Let r = RN32(1 / s) and q = RN32(v r), t = v / s, and e the exponent of q.
 * r is within 2^-24 of 1 / s, relatively, so v r is within 2^-24 |t| <
 * 2^(e-23), an ulp of q, of t (s is normal, and so is 1 / s); rounding it adds
 * half an ulp. So q is less than 2 ulps from t, and unless a boundary of E4M3,
 * the middle b of two neighbours, is within 2 ulps of q, both lie on the same
 * side of every boundary and round alike.
 *
 * Within 2 ulps of b the sign of v - b s decides, and fma(-b, s, v), exact but
 * for one rounding, has that sign: an exact difference that is not zero is a
 * multiple of 2^(-10 + log2 ulp(s)) or of 2^-149, which does not round to zero
 * where s >= 2^-100; below, v and s are multiplied by 2^64 first, exactly. (v
 * is then at most 448.1 s, so nothing overflows.) Zero is a tie: the even code.
 *
 * Boundaries of normal codes are the q with fraction bits xxx1000...0. Those of
 * subnormal codes are spaced evenly instead; all q between 2^-11 and 2^-6 take
 * the exact way.
 */
#ifndef NG_CUDA_CONVERT_FP8_QUOTIENT_CUH
#define NG_CUDA_CONVERT_FP8_QUOTIENT_CUH

#include "cuda/convert/decode_code.cuh"
#include "cuda/convert/encode_nearest.cuh"

/* Whether q's code must be settled by ng_cuda_quotient_settle. */
NG_HOST_DEVICE bool ng_cuda_quotient_is_near(float q)
{
    const uint32_t magnitude = ng_cuda_bits_of(q) & 0x7FFFFFFF;
    const bool normal = (magnitude & 0xFFFFF) - 0x7FFFE <= 4;
    const bool subnormal = magnitude - 0x3A000000 < 0x3C800000 - 0x3A000000;

    return normal || subnormal;
}

/* The boundary above a magnitude code. */
NG_HOST_DEVICE float ng_cuda_e4m3_boundary(uint32_t code)
{
    return ng_cuda_decode_fields(2 * code + 1, 0, 19, 7);
}

/* The code, for a magnitude code that is at most one off; s > 0. */
NG_HOST_DEVICE uint32_t ng_cuda_quotient_settle(float v, float s, uint32_t code)
{
    const uint32_t sign = ng_cuda_bits_of(v) >> 24 & 0x80;
    const uint32_t magnitude = code & 0x7F, odd = code & 1;
    const float lift = s < 0x1p-100f ? 0x1p64f : 1.0f;
    const float top =
        ng_cuda_mul_rn(ng_cuda_float_of(ng_cuda_bits_of(v) & 0x7FFFFFFF), lift);
    const float bottom = ng_cuda_mul_rn(s, lift);
    const float above =
        ng_cuda_fma_rn(-ng_cuda_e4m3_boundary(magnitude), bottom, top);

    if (above > 0 || (above == 0 && odd != 0))
        return sign | (magnitude + 1);
    if (magnitude == 0)
        return sign;

    const float below =
        ng_cuda_fma_rn(-ng_cuda_e4m3_boundary(magnitude - 1), bottom, top);

    return sign | (magnitude - (below < 0 || (below == 0 && odd != 0)));
}

/* The code of one element.
 *   v  finite, at most the block's amax
 *   s  the block's scale by fp8_scale.cuh, finite; r is RN32(1 / s) */
NG_HOST_DEVICE uint32_t ng_cuda_quotient_code(float v, float s, float r)
{
    const float q = ng_cuda_mul_rn(v, r);
    const uint32_t code = ng_cuda_nearest_e4m3(q);

    return ng_cuda_quotient_is_near(q) ? ng_cuda_quotient_settle(v, s, code)
                                       : code;
}

#endif
