/* SPDX-License-Identifier: Apache-2.0
 *
 * Bit casts, bit counts and FP32 operations that round once and never contract,
 * for device and host. The host twins are plain C++ under -ffp-contract=off.
 */
#ifndef NG_CUDA_BITS_CUH
#define NG_CUDA_BITS_CUH

#include <cmath>
#include <cstdint>
#include <cstring>

#include "cuda/host_device.cuh"

NG_HOST_DEVICE uint32_t ng_cuda_bits_of(float x)
{
#ifdef __CUDA_ARCH__
    return __float_as_uint(x);
#else
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
#endif
}

NG_HOST_DEVICE float ng_cuda_float_of(uint32_t bits)
{
#ifdef __CUDA_ARCH__
    return __uint_as_float(bits);
#else
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
#endif
}

NG_HOST_DEVICE float ng_cuda_add_rn(float a, float b)
{
#ifdef __CUDA_ARCH__
    return __fadd_rn(a, b);
#else
    return a + b;
#endif
}

NG_HOST_DEVICE float ng_cuda_mul_rn(float a, float b)
{
#ifdef __CUDA_ARCH__
    return __fmul_rn(a, b);
#else
    return a * b;
#endif
}

/* a * b of positive numbers, rounded toward zero, or up where `up` is set, to a
 * normal number. The host twin corrects the nearest by the sign of the error,
 * which fma gives exactly. */
NG_HOST_DEVICE float ng_cuda_mul_directed(float a, float b, bool up)
{
#ifdef __CUDA_ARCH__
    return up ? __fmul_ru(a, b) : __fmul_rz(a, b);
#else
    const float nearest = a * b;
    const float error = std::fma(a, b, -nearest);
    uint32_t bits = ng_cuda_bits_of(nearest);

    if (up && error > 0)
        bits++;
    if (!up && error < 0)
        bits--;
    return ng_cuda_float_of(bits);
#endif
}

/* a * b + c, rounded once. */
NG_HOST_DEVICE float ng_cuda_fma_rn(float a, float b, float c)
{
#ifdef __CUDA_ARCH__
    return __fmaf_rn(a, b, c);
#else
    return std::fma(a, b, c);
#endif
}

/* a / b, rounded once. */
NG_HOST_DEVICE float ng_cuda_div_rn(float a, float b)
{
#ifdef __CUDA_ARCH__
    return __fdiv_rn(a, b);
#else
    return a / b;
#endif
}

/* Zero bits above the highest one; n > 0. */
NG_HOST_DEVICE int ng_cuda_leading_zeros(uint32_t n)
{
#ifdef __CUDA_ARCH__
    return __clz((int)n);
#else
    return __builtin_clz(n);
#endif
}

/* 2^k as FP32; -149 <= k <= 127, subnormals included. */
NG_HOST_DEVICE float ng_cuda_power_of_two(int k)
{
    return ng_cuda_float_of(k >= -126 ? (uint32_t)(k + 127) << 23
                                      : UINT32_C(1) << (k + 149));
}

NG_HOST_DEVICE int ng_cuda_min(int a, int b)
{
    return a < b ? a : b;
}

NG_HOST_DEVICE int ng_cuda_max(int a, int b)
{
    return a > b ? a : b;
}

#endif
