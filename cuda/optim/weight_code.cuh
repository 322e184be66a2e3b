/* SPDX-License-Identifier: Apache-2.0
 *
 * One weight, split and merged (semantics 8): every format, both rules, every
 * bit pattern. The paths that are not hurried use these; fast_weight.cuh has
 * what the kernels run.
 */
#ifndef NG_CUDA_OPTIM_WEIGHT_CODE_CUH
#define NG_CUDA_OPTIM_WEIGHT_CODE_CUH

#include "cuda/convert/decode_code.cuh"
#include "cuda/convert/encode_nearest.cuh"
#include "formats/dtype.h"

/* A weight's two parts; saturated: it is finite, its low would be infinite. */
struct ng_cuda_pair {
    uint32_t low;
    int32_t rho;
    bool saturated;
};

/* The nearest integer, ties to even; |x| < 2^31. */
NG_HOST_DEVICE int32_t ng_cuda_nearest_integer(float x)
{
#ifdef __CUDA_ARCH__
    return __float2int_rn(x);
#else
    return (int32_t)std::lrint(x);
#endif
}

/* What the device writes for a computed number: its NaN is the canonical one,
 * the host's may be any. */
NG_HOST_DEVICE float ng_cuda_computed(float x)
{
#ifdef __CUDA_ARCH__
    return x;
#else
    return x != x ? ng_cuda_nan() : x;
#endif
}

/* x * 2^k, rounded once: both powers are normal numbers for |k| <= 250, and the
 * first product is exact where x is normal and |x| 2^k below 2^128. */
NG_HOST_DEVICE float ng_cuda_scaled(float x, int k)
{
    return ng_cuda_mul_rn(ng_cuda_mul_rn(x, ng_cuda_power_of_two(k / 2)),
                          ng_cuda_power_of_two(k - k / 2));
}

NG_HOST_DEVICE float ng_cuda_low_value(uint32_t low, int dtype)
{
    return dtype == NG_BF16 ? ng_cuda_decode_bf16(low)
                            : ng_cuda_decode_fp16(low);
}

/* ---- rule ulp ------------------------------------------------------------ */

/* The code of RNE_Fn(|theta|), F_n being FP16 with n more fraction bits;
 * |theta| below 2^16. The exponents are moved by the difference of the biases,
 * 112; below 2^-14 codes count multiples of 2^-(24 + n). */
NG_HOST_DEVICE uint32_t ng_cuda_fp16_with(uint32_t magnitude, int n)
{
    const uint32_t rebased = magnitude - (112u << 23);
    const int cut = 13 - n;

    if (magnitude < 0x38800000)
        return (uint32_t)ng_cuda_nearest_integer(ng_cuda_mul_rn(
            ng_cuda_float_of(magnitude), ng_cuda_power_of_two(24 + n)));
    if (cut < 0) /* n = 16: three bits more than FP32 has */
        return rebased << -cut;
    return (rebased + ((1u << (cut - 1)) - 1) + (rebased >> cut & 1)) >> cut;
}

/* The same for BF16, whose exponents are FP32's. */
NG_HOST_DEVICE uint32_t ng_cuda_bf16_with(uint32_t magnitude, int n)
{
    const int cut = 16 - n;

    return cut == 0
               ? magnitude
               : (magnitude + ((1u << (cut - 1)) - 1) + (magnitude >> cut & 1))
                     >> cut;
}

NG_HOST_DEVICE ng_cuda_pair ng_cuda_split_ulp(uint32_t theta, int dtype, int n)
{
    const uint32_t magnitude = theta & 0x7FFFFFFF;
    const uint32_t sign = theta >> 16 & 0x8000;
    const uint32_t infinity = dtype == NG_BF16 ? 0x7F80 : 0x7C00;
    const uint32_t half = n > 0 ? 1u << (n - 1) : 0;

    if (magnitude > NG_FP32_INFINITY)
        return {0x7FFF, 0, false};
    if (magnitude == NG_FP32_INFINITY)
        return {sign | infinity, 0, false};
    if (dtype == NG_BF16 || magnitude < 0x47800000) {
        const uint32_t x = dtype == NG_BF16 ? ng_cuda_bf16_with(magnitude, n)
                                            : ng_cuda_fp16_with(magnitude, n);
        const uint32_t low = (x + half) >> n;

        if (low < infinity)
            return {sign | low, (int32_t)(x - (low << n)), false};
    }
    return {sign | (infinity - 1), n > 0 ? (int32_t)half - 1 : 0, true};
}

/* The pair's code of F_n, modulo 2^(16 + n), as FP32: RNE where F_n is wider.
 */
NG_HOST_DEVICE float ng_cuda_merge_ulp(uint32_t low, int32_t rho, int dtype,
                                       int n)
{
    const uint32_t top = ((low << n) + (uint32_t)rho) << (16 - n);

    if (dtype == NG_BF16) /* top is FP32 */
        return (top & 0x7FFFFFFF) > NG_FP32_INFINITY ? ng_cuda_nan()
                                                     : ng_cuda_float_of(top);

    const uint32_t sign = top & 0x80000000;
    const uint32_t code = (top & 0x7FFFFFFF) >> (16 - n);
    const uint32_t infinity = 0x7C00u << n;
    const int cut = n - 13; /* fraction bits that FP32 lacks */

    if (code > infinity)
        return ng_cuda_nan();
    if (code == infinity)
        return ng_cuda_float_of(sign | NG_FP32_INFINITY);
    if (code < 0x400u << n) /* a multiple of 2^-(24 + n): float() rounds it */
        return ng_cuda_float_of(
            sign
            | ng_cuda_bits_of(
                ng_cuda_mul_rn((float)code, ng_cuda_power_of_two(-24 - n))));
    return ng_cuda_float_of(
        sign
        | ((cut > 0 ? (code + ((1u << cut) / 2 - 1) + (code >> cut & 1)) >> cut
                    : code << -cut)
           + (112u << 23)));
}

/* ---- rule flashoptim ---------------------------------------------------- */

/* l: 2^l is half the ulp of low's binade, of a subnormal half the smallest. */
NG_HOST_DEVICE int ng_cuda_half_ulp(uint32_t low, int dtype)
{
    const int bits = dtype == NG_BF16 ? 7 : 10;
    const int bias = dtype == NG_BF16 ? 127 : 15;

    return ng_cuda_max((int)(low & 0x7FFF) >> bits, 1) - bias - bits - 1;
}

NG_HOST_DEVICE float ng_cuda_largest_rho(int n)
{
    return n == 8 ? 127.0f : 32767.0f;
}

NG_HOST_DEVICE ng_cuda_pair ng_cuda_split_flashoptim(uint32_t theta, int dtype,
                                                     int n)
{
    const float x = ng_cuda_float_of(theta);
    const uint32_t low =
        dtype == NG_BF16 ? ng_cuda_nearest_bf16(x) : ng_cuda_nearest_fp16(x);
    const uint32_t infinity = dtype == NG_BF16 ? 0x7F80 : 0x7C00;

    if ((low & 0x7FFF) >= infinity)
        return {low, 0, (theta & 0x7FFFFFFF) < NG_FP32_INFINITY};
    if (n == 0)
        return {low, 0, false};

    const float error = ng_cuda_add_rn(x, -ng_cuda_low_value(low, dtype));
    float e = ng_cuda_scaled(error, -ng_cuda_half_ulp(low, dtype));

    e = e > 1.0f ? 1.0f : e < -1.0f ? -1.0f : e;
    e = ng_cuda_mul_rn(e, ng_cuda_largest_rho(n));

    const int32_t rho = (int32_t)ng_cuda_add_rn(std::fabs(e), 0.5f);

    return {low, e < 0.0f ? -rho : rho, false};
}

NG_HOST_DEVICE float ng_cuda_merge_flashoptim(uint32_t low, int32_t rho,
                                              int dtype, int n)
{
    const float value = ng_cuda_low_value(low, dtype);

    if (n == 0)
        return value;

    const float share = ng_cuda_div_rn((float)rho, ng_cuda_largest_rho(n));

    return ng_cuda_computed(ng_cuda_add_rn(
        value, ng_cuda_scaled(share, ng_cuda_half_ulp(low, dtype))));
}

/* ---- either ------------------------------------------------------------- */

NG_HOST_DEVICE ng_cuda_pair ng_cuda_split_weight(uint32_t theta, int dtype,
                                                 int n, int split)
{
    return split == NG_SPLIT_ULP ? ng_cuda_split_ulp(theta, dtype, n)
                                 : ng_cuda_split_flashoptim(theta, dtype, n);
}

NG_HOST_DEVICE float ng_cuda_merge_weight(uint32_t low, int32_t rho, int dtype,
                                          int n, int split)
{
    return split == NG_SPLIT_ULP ? ng_cuda_merge_ulp(low, rho, dtype, n)
                                 : ng_cuda_merge_flashoptim(low, rho, dtype, n);
}

#endif
