/* SPDX-License-Identifier: Apache-2.0
 *
 * FP8 to MXFP4 by thresholds (semantics.md 7). Under one scale s and one block
 * exponent e the E2M1 magnitude of code c is RNE(value(c) s'), s' = |s| / 2^e:
 * it grows with c, so seven codes T_1 <= ... <= T_7, the least that reach
 * magnitude j, decide every element.
 *
 * T_j is the least c with value(c) s' beyond the boundary b_j between
 * magnitudes j - 1 and j, a tie going to the even one. The nearest code to
 * b_j / s' is T_j or the one below: b_j / s' lies between two neighbours, of
 * which the upper reaches b_j and the lower does not, and a quotient that is
 * 2 ulps off moves from one to the other only in their middle. Whether it
 * reaches b_j is the sign of fma(value(c), s', -b_j): exact, for s' is a normal
 * number near 1 and value(c) a multiple of 2^-9.
 */
#ifndef NG_CUDA_CONVERT_MXFP4_THRESHOLD_CUH
#define NG_CUDA_CONVERT_MXFP4_THRESHOLD_CUH

#include "cuda/convert/decode_code.cuh"
#include "cuda/convert/real.cuh"
#include "cuda/ptx_cvt.cuh"

/* b_j; 1 <= j <= 7: between 0 .5 1 1.5 2 3 4 6. */
NG_HOST_DEVICE float ng_cuda_e2m1_boundary(int j)
{
    return ng_cuda_mul_rn(ng_cuda_add_rn(ng_cuda_decode_e2m1((uint32_t)j - 1),
                                         ng_cuda_decode_e2m1((uint32_t)j)),
                          0.5f);
}

/* s' of a scale and the exponent e of its block, and RN32(1 / s'). Beside the
 * codes' range [2^-9, 448] the exponent stops: under 2^-24 no code reaches .25,
 * and all but code 0 pass 6 above 2^15. */
struct ng_cuda_ratio {
    float s, r;
};

NG_HOST_DEVICE ng_cuda_ratio ng_cuda_ratio_of(const ng_cuda_real &scale, int e)
{
    const int k = ng_cuda_max(-40, ng_cuda_min(scale.exponent + 31 - e, 40));
    const float s = ng_cuda_float_of((uint32_t)(k + 127) << 23
                                     | (scale.significand >> 8 & 0x7FFFFF));

    return {s, ng_cuda_div_rn(1.0f, s)};
}

/* T_j, up to 0x7F, which no code is that is a number. */
NG_HOST_DEVICE uint32_t ng_cuda_mxfp4_threshold(int j,
                                                const ng_cuda_ratio &ratio)
{
    const float boundary = ng_cuda_e2m1_boundary(j);
    const uint32_t code =
        ng_cuda_cvt_e4m3x2(ng_cuda_mul_rn(boundary, ratio.r), 0.0f) & 0x7F;
    const float value = ng_cuda_decode_fields(code, 0, 20, 7);
    const float beyond = ng_cuda_fma_rn(value, ratio.s, -boundary);

    return code + !(beyond > 0 || (beyond == 0 && j % 2 == 0));
}

#endif
