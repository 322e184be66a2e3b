/* SPDX-License-Identifier: Apache-2.0
 *
 * FP32 to a code, nearest, ties to even: the encoders of the fast paths,
 * without events. Two tricks serve every format.
 *
 *   Normal codes   the FP32 pattern, less the difference of the biases, is the
 *                  code with extra fraction bits: add half of the last kept
 *                  bit, less one if that bit is 0, and cut. Carries move into
 *                  the exponent by themselves.
 *   Subnormals     an FP32 number whose ulp is the format's spacing, added and
 *                  rounded by the adder, leaves the code in its low bits.
 *
 * NaN is the canonical one; E2M1, which has none, writes 0.
 */
#ifndef NG_CUDA_CONVERT_ENCODE_NEAREST_CUH
#define NG_CUDA_CONVERT_ENCODE_NEAREST_CUH

#include "cuda/bits.cuh"
#include "cuda/convert/format_facts.cuh"

/* The magnitude code of |x| = float_of(magnitude), not NaN, in F continued
 * upward without end; Inf comes out above every finite. */
template <class F>
NG_HOST_DEVICE uint32_t ng_cuda_nearest_magnitude(uint32_t magnitude)
{
    constexpr int cut = 23 - F::fraction_bits;
    constexpr uint32_t least_normal = (uint32_t)(128 - F::bias) << 23;
    /* ulp(2^(23 + k)) = 2^k, the spacing 2^(1 - bias - p) of subnormals. */
    constexpr uint32_t adder =
        (uint32_t)(23 + 1 - F::bias - F::fraction_bits + 127) << 23;

    const uint32_t rebased = magnitude - ((uint32_t)(127 - F::bias) << 23);
    const uint32_t odd = rebased >> cut & 1;
    const uint32_t normal = (rebased + ((1u << (cut - 1)) - 1) + odd) >> cut;
    const uint32_t subnormal =
        ng_cuda_bits_of(ng_cuda_add_rn(ng_cuda_float_of(magnitude),
                                       ng_cuda_float_of(adder)))
        - adder;

    return magnitude < least_normal ? subnormal : normal;
}

/* E2M1 and E4M3, saturating. */
NG_HOST_DEVICE uint32_t ng_cuda_nearest_e2m1(float x)
{
    const uint32_t bits = ng_cuda_bits_of(x), magnitude = bits & 0x7FFFFFFF;
    const uint32_t code = ng_cuda_nearest_magnitude<ng_cuda_e2m1>(magnitude);

    if (magnitude > NG_FP32_INFINITY)
        return 0;
    return (bits >> 28 & 8) | (code < 7 ? code : 7);
}

NG_HOST_DEVICE uint32_t ng_cuda_nearest_e4m3(float x)
{
    const uint32_t bits = ng_cuda_bits_of(x), magnitude = bits & 0x7FFFFFFF;
    const uint32_t code = ng_cuda_nearest_magnitude<ng_cuda_e4m3>(magnitude);

    if (magnitude > NG_FP32_INFINITY)
        return NG_E4M3_NAN;
    return (bits >> 24 & 0x80) | (code < 0x7E ? code : 0x7E);
}

/* BF16 and FP16, overflowing to infinity. BF16 has FP32's exponents, so its
 * subnormals need no adder. */
NG_HOST_DEVICE uint32_t ng_cuda_nearest_bf16(float x)
{
    const uint32_t bits = ng_cuda_bits_of(x);

    if ((bits & 0x7FFFFFFF) > NG_FP32_INFINITY)
        return NG_BF16_NAN;
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
}

NG_HOST_DEVICE uint32_t ng_cuda_nearest_fp16(float x)
{
    const uint32_t bits = ng_cuda_bits_of(x), magnitude = bits & 0x7FFFFFFF;
    const uint32_t code = ng_cuda_nearest_magnitude<ng_cuda_fp16>(magnitude);

    if (magnitude > NG_FP32_INFINITY)
        return NG_FP16_NAN;
    return (bits >> 16 & 0x8000)
           | (code < NG_FP16_INFINITY ? code : (uint32_t)NG_FP16_INFINITY);
}

#endif
