/* SPDX-License-Identifier: Apache-2.0
 *
 * Exact values on their way to a rounding: what an FP32 number, or the product
 * of one with a code, is before anything is lost.
 */
#ifndef NG_CUDA_CONVERT_REAL_CUH
#define NG_CUDA_CONVERT_REAL_CUH

#include "cuda/bits.cuh"

enum ng_cuda_kind : uint8_t {
    NG_CUDA_FINITE,
    NG_CUDA_INFINITE,
    NG_CUDA_NOT_A_NUMBER
};

/* (-1)^negative * significand * 2^exponent; of a finite value that is not zero
 * the significand's bit 31 is set. Zero has a sign. `sticky` says that a little
 * more than that, less than one unit, was left over. */
struct ng_cuda_real {
    uint32_t significand;
    int exponent;
    bool negative, sticky;
    ng_cuda_kind kind;
};

/* The value of an FP32 pattern. */
NG_HOST_DEVICE ng_cuda_real ng_cuda_real_of(uint32_t bits)
{
    const uint32_t magnitude = bits & 0x7FFFFFFF;
    const uint32_t field = magnitude >> 23;
    const uint32_t fraction = magnitude & 0x7FFFFF;
    ng_cuda_real v = {0, 0, bits >> 31 != 0, false, NG_CUDA_FINITE};

    if (field == 0xFF) {
        v.kind = fraction != 0 ? NG_CUDA_NOT_A_NUMBER : NG_CUDA_INFINITE;
    } else if (field != 0) {
        v.significand = (UINT32_C(1) << 31) | fraction << 8;
        v.exponent = (int)field - 127 - 31;
    } else if (fraction != 0) {
        const int zeros = ng_cuda_leading_zeros(fraction);

        v.significand = fraction << zeros;
        v.exponent = -149 - zeros;
    }
    return v;
}

NG_HOST_DEVICE ng_cuda_real ng_cuda_real_scaled(ng_cuda_real v, int k)
{
    v.exponent += k;
    return v;
}

/* a * b; exact, for the significant bits of both together are at most 32 (an
 * FP32 number and a code of up to 8 bits). Inf * 0 is NaN. */
NG_HOST_DEVICE ng_cuda_real ng_cuda_real_product(const ng_cuda_real &a,
                                                 const ng_cuda_real &b)
{
    ng_cuda_real v = {0, 0, a.negative != b.negative, false, NG_CUDA_FINITE};
    const bool a_zero = a.kind == NG_CUDA_FINITE && a.significand == 0;
    const bool b_zero = b.kind == NG_CUDA_FINITE && b.significand == 0;

    if (a.kind == NG_CUDA_NOT_A_NUMBER || b.kind == NG_CUDA_NOT_A_NUMBER
        || (a.kind == NG_CUDA_INFINITE && b_zero)
        || (b.kind == NG_CUDA_INFINITE && a_zero)) {
        v.kind = NG_CUDA_NOT_A_NUMBER;
        v.negative = false;
    } else if (a.kind == NG_CUDA_INFINITE || b.kind == NG_CUDA_INFINITE) {
        v.kind = NG_CUDA_INFINITE;
    } else if (!a_zero && !b_zero) {
        /* Two numbers in [2^31, 2^32): the product's top bit is 62 or 63. */
        const uint64_t product = (uint64_t)a.significand * b.significand;
        const int top = (int)(product >> 63);

        v.significand = (uint32_t)(product >> (31 + top));
        v.exponent = a.exponent + b.exponent + 31 + top;
    }
    return v;
}

#endif
