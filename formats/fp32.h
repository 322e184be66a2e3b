/* SPDX-License-Identifier: Apache-2.0
 *
 * FP32, IEEE 754 binary32: s, eight exponent bits with bias 127, 23 fraction
 * bits. The casts below move bits and change no value.
 */
#ifndef NG_FORMATS_FP32_H
#define NG_FORMATS_FP32_H

#include <stdint.h>
#include <string.h>

#define NG_FP32_SIGN UINT32_C(0x80000000)

enum {
    NG_FP32_MAX_CODE = 0x7F7FFFFF,
    NG_FP32_INFINITY = 0x7F800000,
    NG_FP32_NAN      = 0x7FFFFFFF   /* canonical */
};

static inline uint32_t ng_fp32_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float ng_fp32_from_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

#endif
