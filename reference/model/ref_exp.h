/* SPDX-License-Identifier: Apache-2.0
 *
 * exp and sigmoid in FP32 from additions, multiplications and one division, so
 * that they are the same bits on every machine, and run in vectors. Private to
 * the reference backend and the optimizer study.
 */
#ifndef NG_REFERENCE_MODEL_REF_EXP_H
#define NG_REFERENCE_MODEL_REF_EXP_H

#include "formats/fp32.h"

/* exp(x): within 2 ulps on [-87, 88.72], 0 below (exp(-87) < 2^-125), infinite
 * above; NaN of NaN.
 *   x = k log 2 + r, |r| <= 0.3466. k is rounded by adding 1.5 * 2^23, whose
 * last bits then hold it. log 2 is subtracted in two parts: the first has 15
 * bits, so that k times it is exact; what is left of r's error is below 2^-24
 * |r|. Taylor to degree 7: the next term is below 0.3466^8 / 8! < 2^-27.4. 2^k
 * is applied as two factors, since 2^127 and 2^-126 bound one; x is held at 89,
 * where p 2^128 is past the largest number. */
static inline float ng_ref_exp(float x)
{
    const float shift = 0x1.8p+23f;
    const float held = x > 89.0f ? 89.0f : x < -88.0f ? -88.0f : x;
    const float sum = held * 0x1.715476p+0f + shift;
    const float k = sum - shift;
    const float r = (held - k * 0x1.62e4p-1f) - k * 0x1.7f7d1cp-20f;
    const uint32_t whole = ng_fp32_bits(sum) - UINT32_C(0x4B400000) + 254;
    const uint32_t half = whole >> 1;
    float p = 1.0f / 5040.0f;

    p = p * r + 1.0f / 720.0f;
    p = p * r + 1.0f / 120.0f;
    p = p * r + 1.0f / 24.0f;
    p = p * r + 1.0f / 6.0f;
    p = p * r + 0.5f;
    p = p * r + 1.0f;
    p = p * r + 1.0f;
    p = p * ng_fp32_from_bits(half << 23);
    p = p * ng_fp32_from_bits((whole - half) << 23);
    return x < -87.0f ? 0.0f : p;
}

/* 1 / (1 + exp(-x)): within 3 ulps of its value down to -88.72, where the sum
 * passes FP32, and 0 below; the sum's argument is exact. */
static inline float ng_ref_sigmoid(float x)
{
    return 1.0f / (1.0f + ng_ref_exp(-x));
}

#endif
