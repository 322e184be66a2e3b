/* SPDX-License-Identifier: Apache-2.0
 *
 * Instructions on FP32 numbers (PTX ISA, "Floating Point Instructions"): the
 * approximate functions of the special function unit, for operations that are
 * bounded, whose host twins are the C library's and agree within the errors
 * stated, not in bits; and maxima, minima and directed roundings, whose twins
 * are equal.
 */
#ifndef NG_CUDA_PTX_MATH_CUH
#define NG_CUDA_PTX_MATH_CUH

#include "cuda/bits.cuh"

/* 2^x, subnormal results included; relative error below 2^-22. */
NG_HOST_DEVICE float ng_cuda_exp2_approx(float x)
{
#ifdef __CUDA_ARCH__
    float y;
    asm("ex2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#else
    return std::exp2(x);
#endif
}

/* The same for results in 2^-126 .. 2^126, where nothing would be flushed: one
 * instruction instead of four. */
NG_HOST_DEVICE float ng_cuda_exp2_normal(float x)
{
#ifdef __CUDA_ARCH__
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#else
    return std::exp2(x);
#endif
}

/* 1 / x within one ulp, for |x| in [2^-125, 2^125], where nothing would be
 * flushed, or NaN. */
NG_HOST_DEVICE float ng_cuda_reciprocal_approx(float x)
{
#ifdef __CUDA_ARCH__
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#else
    return 1.0f / x;
#endif
}

/* x^-1/2, relative error below 2^-22; of a subnormal number, which is flushed,
 * an infinity of its sign. */
NG_HOST_DEVICE float ng_cuda_rsqrt_approx(float x)
{
#ifdef __CUDA_ARCH__
    float y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#else
    return (float)(1
                   / std::sqrt(std::fabs(x) < 0x1p-126f ? 0.0 * x : (double)x));
#endif
}

/* The larger of a and |b|; NaN if either is. */
NG_HOST_DEVICE float ng_cuda_max_magnitude(float a, float b)
{
#ifdef __CUDA_ARCH__
    float y;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(fabsf(b)));
    return y;
#else
    const float magnitude = std::fabs(b);

    return a != a ? a : magnitude <= a ? a : magnitude;
#endif
}

/* The smaller of a and b; of a number and a NaN the number. */
NG_HOST_DEVICE float ng_cuda_smaller(float a, float b)
{
#ifdef __CUDA_ARCH__
    return fminf(a, b);
#else
    return std::fmin(a, b);
#endif
}

/* magic + floor(a * b), and magic + floor(a), in the low bits of an FP32
 * number: for results in [2^23, 2^24), where the ulp is 1. */
NG_HOST_DEVICE float ng_cuda_floor_product(float a, float b, float magic)
{
#ifdef __CUDA_ARCH__
    return __fmaf_rd(a, b, magic);
#else
    return (float)std::floor((double)a * (double)b + (double)magic);
#endif
}

NG_HOST_DEVICE float ng_cuda_floor_sum(float a, float magic)
{
#ifdef __CUDA_ARCH__
    return __fadd_rd(a, magic);
#else
    return (float)std::floor((double)a + (double)magic);
#endif
}

/* Of two pairs of BF16 numbers, the larger magnitudes; NaN 0x7FFF. */
NG_HOST_DEVICE uint32_t ng_cuda_max_magnitude_bf16x2(uint32_t a, uint32_t b)
{
#ifdef __CUDA_ARCH__
    uint32_t y;
    asm("{ .reg .b32 p, q; abs.bf16x2 p, %1; abs.bf16x2 q, %2;"
        " max.NaN.bf16x2 %0, p, q; }"
        : "=r"(y)
        : "r"(a), "r"(b));
    return y;
#else
    const uint32_t low_a = a & 0x7FFF, low_b = b & 0x7FFF;
    const uint32_t high_a = a >> 16 & 0x7FFF, high_b = b >> 16 & 0x7FFF;
    const uint32_t low = low_a > low_b ? low_a : low_b;
    const uint32_t high = high_a > high_b ? high_a : high_b;

    return (low > 0x7F80 ? 0x7FFF : low)
           | (high > 0x7F80 ? 0x7FFF : high) << 16;
#endif
}

/* Of two pairs of BF16 numbers, the smaller magnitudes; of NaN the other. */
NG_HOST_DEVICE uint32_t ng_cuda_min_magnitude_bf16x2(uint32_t a, uint32_t b)
{
#ifdef __CUDA_ARCH__
    uint32_t y;
    asm("{ .reg .b32 p, q; abs.bf16x2 p, %1; abs.bf16x2 q, %2;"
        " min.bf16x2 %0, p, q; }"
        : "=r"(y)
        : "r"(a), "r"(b));
    return y;
#else
    const uint32_t low_a = a & 0x7FFF, low_b = b & 0x7FFF;
    const uint32_t high_a = a >> 16 & 0x7FFF, high_b = b >> 16 & 0x7FFF;

    return (low_a < low_b ? low_a : low_b)
           | (high_a < high_b ? high_a : high_b) << 16;
#endif
}

#endif
