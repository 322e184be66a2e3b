/* SPDX-License-Identifier: Apache-2.0
 *
 * FP8 to MXFP4 by thresholds (semantics.md 7). A block of 32 lies under one
 * scale s = m 2^a, 1 <= m < 2, so its amax is that of its largest code, and
 * with the block's exponent e the E2M1 magnitude of code c is RNE(value(c) s'),
 * s' = m 2^k, k = a - e: it grows with c, and seven codes T_1 <= ... <= T_7,
 * the least that reach magnitude j, decide every element.
 *
 * T_j is the least c with value(c) s' beyond the boundary b_j between
 * magnitudes j - 1 and j, a tie going to the even one. The nearest code to
 * b_j / s' is T_j or the one below: b_j / s' lies between two neighbours, of
 * which the upper reaches b_j and the lower does not, and a quotient that is a
 * few units of its last place off moves from one to the other only in their
 * middle. So any approximate 1/m will do. Whether the code reaches b_j is the
 * sign of value(c) s' - b_j, which fma has exactly.
 */
#ifndef NG_CUDA_CONVERT_MXFP4_THRESHOLD_CUH
#define NG_CUDA_CONVERT_MXFP4_THRESHOLD_CUH

#include "cuda/convert/mxfp4_scale.cuh"
#include "cuda/ptx_cvt.cuh"
#include "cuda/ptx_rcp.cuh"

/* A finite scale that is not 0, its sign left out: m as FP32, and a. */
struct ng_cuda_scale_parts {
    float m;
    int a;
};

NG_HOST_DEVICE ng_cuda_scale_parts ng_cuda_scale_parts_of(uint32_t scale)
{
    uint32_t magnitude = scale & 0x7FFFFFFF;
    int a = -127;

    if (magnitude < 0x00800000) { /* a subnormal, lifted by 2^23 */
        magnitude = ng_cuda_bits_of(
            ng_cuda_mul_rn(ng_cuda_float_of(magnitude), 0x1p23f));
        a -= 23;
    }
    a += (int)(magnitude >> 23);
    return {ng_cuda_float_of((magnitude & 0x7FFFFF) | 0x3F800000), a};
}

/* The block's scale byte: value(largest) * m rounded to FP32 so that nothing is
 * lost that mxfp4_scale.cuh's comparisons ask for. E + c where F >= a limit is
 * that of the product rounded toward zero; where F > a limit (ceil, rceil), of
 * the product rounded up.
 *   largest  the largest magnitude code, a number
 *   carry    ng_cuda_mxfp4_carry of the mode, which is odd where it says > */
NG_HOST_DEVICE uint32_t ng_cuda_mxfp4_scale_of_code(
    uint32_t largest, const ng_cuda_scale_parts &scale, uint32_t carry)
{
    const float amax = ng_cuda_mul_directed(
        ng_cuda_decode_fields(largest, 0, 20, 7), scale.m, (carry & 1) != 0);
    const int byte = (int)((ng_cuda_bits_of(amax) + carry) >> 23) - 2 + scale.a;

    if (largest == 0 || byte < 0)
        return 0;
    return byte > NG_UE8M0_MAX_CODE ? (uint32_t)NG_UE8M0_MAX_CODE
                                    : (uint32_t)byte;
}

/* k = a - e, stopped at both ends: below, no code reaches .25; above, the block
 * has none but zeros (the largest comes to 4 .. 8, or less where the scale
 * stopped at 2^127, and is 2^-9 at least). */
enum { NG_CUDA_LEAST_RATIO = -40, NG_CUDA_RATIOS = 61 };

NG_HOST_DEVICE int ng_cuda_ratio_exponent(const ng_cuda_scale_parts &scale,
                                          int e)
{
    return ng_cuda_max(
        NG_CUDA_LEAST_RATIO,
        ng_cuda_min(scale.a - e, NG_CUDA_LEAST_RATIO + NG_CUDA_RATIOS - 1));
}

/* s' 2^60 and 2^60 / s', the latter near enough. */
struct ng_cuda_ratio {
    float s, r;
};

NG_HOST_DEVICE ng_cuda_ratio ng_cuda_ratio_of(const ng_cuda_scale_parts &scale,
                                              int k)
{
    return {ng_cuda_mul_rn(scale.m, ng_cuda_power_of_two(k + 60)),
            ng_cuda_mul_rn(ng_cuda_rcp_approx(scale.m),
                           ng_cuda_power_of_two(60 - k))};
}

/* b_j; 1 <= j <= 7: between 0 .5 1 1.5 2 3 4 6. */
NG_HOST_DEVICE float ng_cuda_e2m1_boundary(int j)
{
    return j < 5 ? ng_cuda_mul_rn((float)(2 * j - 1), 0.25f)
                 : ng_cuda_mul_rn((float)(j == 7 ? 10 : 2 * j - 5), 0.5f);
}

/* 128 - T_j, 1 .. 127; T_j can be 0x7F, which no code is that is a number. In
 * the comparison all is times 2^-60: a code's bits as FP32 are its value times
 * 2^-120, and exact differences are multiples of 2^-149 and more where the code
 * is near b_j, so that their sign survives. */
NG_HOST_DEVICE uint32_t ng_cuda_mxfp4_threshold(int j,
                                                const ng_cuda_ratio &ratio)
{
    const float b = ng_cuda_e2m1_boundary(j);
    const uint32_t code = ng_cuda_cvt_e4m3x2(
        ng_cuda_mul_rn(ng_cuda_mul_rn(b, 0x1p-60f), ratio.r), 0.0f);
    const float value = ng_cuda_float_of(code << 20);
    const float limit = ng_cuda_mul_rn(b, 0x1p-60f);

    /* An even j takes ties: it fails where value s' - b < 0. An odd one passes
     * where b - value s' < 0. Zero is +0 both times. */
    if (j % 2 == 0)
        return 128 - code
               - (ng_cuda_bits_of(ng_cuda_fma_rn(value, ratio.s, -limit))
                  >> 31);
    return 127 - code
           + (ng_cuda_bits_of(ng_cuda_fma_rn(-value, ratio.s, limit)) >> 31);
}

/* The code of one element, by the thresholds: what the fast path comes to. */
NG_HOST_DEVICE uint32_t ng_cuda_threshold_code(uint32_t code, bool negative,
                                               const ng_cuda_ratio &ratio)
{
    uint32_t magnitude = 0;

    for (int j = 1; j < 8; j++)
        magnitude += ((code & 0x7F) + ng_cuda_mxfp4_threshold(j, ratio)) >> 7;
    return magnitude | ((code >> 4 & 8) ^ (negative ? 8u : 0u));
}

#endif
