/* SPDX-License-Identifier: Apache-2.0
 *
 * Arithmetic on pairs of 16-bit numbers and pairs of 16-bit integers in a word
 * (PTX ISA 9.7.4 and 9.7.5, half-precision; 9.7.1, integer SIMD): device only.
 */
#ifndef NG_CUDA_PTX_HALF2_CUH
#define NG_CUDA_PTX_HALF2_CUH

#include <cstdint>

/* sign(a) * min(|a|, |b|) of both halves, FP16, b >= 0. */
__device__ __forceinline__ uint32_t ng_cuda_limit_fp16x2(uint32_t a, uint32_t b)
{
    uint32_t c;
    asm("min.xorsign.abs.f16x2 %0, %1, %2;" : "=r"(c) : "r"(a), "r"(b));
    return c;
}

/* a * b of both halves, BF16, rounded to nearest-even, subnormals kept. */
__device__ __forceinline__ uint32_t ng_cuda_mul_bf16x2(uint32_t a, uint32_t b)
{
    uint32_t c;
    asm("mul.rn.bf16x2 %0, %1, %2;" : "=r"(c) : "r"(a), "r"(b));
    return c;
}

/* a * b of both halves, FP16, rounded to nearest-even, subnormals kept. */
__device__ __forceinline__ uint32_t ng_cuda_mul_fp16x2(uint32_t a, uint32_t b)
{
    uint32_t c;
    asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(c) : "r"(a), "r"(b));
    return c;
}

/* a + b of both halves, FP16, rounded to nearest-even. */
__device__ __forceinline__ uint32_t ng_cuda_add_fp16x2(uint32_t a, uint32_t b)
{
    uint32_t c;
    asm("add.rn.f16x2 %0, %1, %2;" : "=r"(c) : "r"(a), "r"(b));
    return c;
}

/* a * b + c of both halves, FP16, rounded once to nearest-even. */
__device__ __forceinline__ uint32_t ng_cuda_fma_fp16x2(uint32_t a, uint32_t b,
                                                       uint32_t c)
{
    uint32_t d;
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}

/* The same, then below 0, and NaN, to +0 and above 1 to 1. */
__device__ __forceinline__ uint32_t
ng_cuda_fma_sat_fp16x2(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t d;
    asm("fma.rn.sat.f16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}

/* 1 in each half, FP16, in which a and b are numbers and differ, else 0. */
__device__ __forceinline__ uint32_t ng_cuda_differ_fp16x2(uint32_t a,
                                                          uint32_t b)
{
    uint32_t c;
    asm("set.ne.f16x2.f16x2 %0, %1, %2;" : "=r"(c) : "r"(a), "r"(b));
    return c;
}

/* The sum of both halves, FP16, as an integer; they hold small integers. */
__device__ __forceinline__ uint32_t ng_cuda_sum_fp16x2(uint32_t a)
{
    float low, high;
    asm("{ .reg .b16 l, h; mov.b32 {l, h}, %2;"
        " cvt.f32.f16 %0, l; cvt.f32.f16 %1, h; }"
        : "=f"(low), "=f"(high)
        : "r"(a));
    return (uint32_t)(low + high);
}

/* The lower half, FP16, as FP32. */
__device__ __forceinline__ float ng_cuda_low_fp16(uint32_t a)
{
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"((uint16_t)a));
    return x;
}

/* The largest of three unsigned 16-bit integers, in both halves. */
__device__ __forceinline__ uint32_t ng_cuda_max3_u16x2(uint32_t a, uint32_t b,
                                                       uint32_t c)
{
    return __vimax3_u16x2(a, b, c);
}

#endif
