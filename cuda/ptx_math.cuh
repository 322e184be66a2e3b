/* SPDX-License-Identifier: Apache-2.0
 *
 * Instructions on FP32 numbers (PTX ISA, "Floating Point Instructions"): the
 * approximate functions of the special function unit, for operations that are
 * bounded, whose host twins are the C library's and agree within the errors
 * stated, not in bits; and a maximum that keeps NaN, whose twin is equal.
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

/* 1 / x within one ulp, for x in [1, 2^126], where nothing would be flushed, or
 * NaN. */
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

#endif
