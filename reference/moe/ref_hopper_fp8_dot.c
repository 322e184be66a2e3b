/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/moe/ref_hopper_fp8_dot.h"

#include <stdbool.h>
#include <string.h>

#include "formats/e4m3.h"
#include "formats/fp32.h"

enum { KEPT_BITS = 13 }; /* fraction bits below the largest exponent */

/* (-1)^negative * significand * 2^unit, of the binade that the hardware takes
 * it for. A zero takes no part. */
typedef struct term {
    bool negative;
    uint32_t significand;
    int unit;
    int exponent;
} term;

/* An E4M3 code that is not NaN: its significand counts units of 2^-3 of its
 * binade; exponent field 0 is the binade of field 1. */
static term operand(uint8_t code)
{
    const int field = code >> 3 & 15;
    const int binade = (field > 0 ? field : 1) - NG_E4M3_BIAS;

    return (term){.negative = (code & NG_E4M3_SIGN) != 0,
                  .significand = (field > 0 ? 8u : 0u) | (code & 7u),
                  .unit = binade - 3,
                  .exponent = binade};
}

/* At most 15 * 15, so that the product may reach into the next binade; its
 * exponent stays the sum. */
static term product(uint8_t a, uint8_t b)
{
    const term x = operand(a), y = operand(b);

    return (term){.negative = x.negative != y.negative,
                  .significand = x.significand * y.significand,
                  .unit = x.unit + y.unit,
                  .exponent = x.exponent + y.exponent};
}

static term accumulator(uint32_t c)
{
    const int field = (int)(c >> 23 & 255);
    const int binade = (field > 0 ? field : 1) - 127;

    return (term){.negative = (c & NG_FP32_SIGN) != 0,
                  .significand = (field > 0 ? 1u << 23 : 0u) | (c & 0x7FFFFF),
                  .unit = binade - 23,
                  .exponent = binade};
}

/* The term, not zero, in units of 2^unit, cut toward zero. A term's significand has at
 * most 24 bits and its exponent is at most unit + 13, so the result stays below
 * 2^15 (a product's significand reaches 3.6 binades' worth of its exponent). */
static int64_t cut(term x, int unit)
{
    const int shift = unit - x.unit;
    const int64_t magnitude = shift <= 0   ? (int64_t)x.significand << -shift
                              : shift < 32 ? x.significand >> shift
                                           : 0;

    return x.negative ? -magnitude : magnitude;
}

/* sum * 2^unit as FP32, toward zero to 13 fraction bits. */
static uint32_t assemble(int64_t sum, int unit)
{
    const uint32_t sign = sum < 0 ? NG_FP32_SIGN : 0;
    uint64_t magnitude = (uint64_t)(sum < 0 ? -sum : sum);

    if (magnitude == 0)
        return 0;
    while (magnitude >= UINT64_C(1) << (KEPT_BITS + 1)) {
        magnitude >>= 1;
        unit++;
    }
    /* Move the leading bit to where FP32 has it. */
    while (magnitude < UINT64_C(1) << 23) {
        magnitude <<= 1;
        unit--;
    }
    for (; unit < -149; unit++)
        magnitude >>= 1;
    if (magnitude < UINT64_C(1) << 23)
        return sign | (uint32_t)magnitude; /* subnormal */
    return sign | (((uint32_t)(unit + 149) << 23) + (uint32_t)magnitude);
}

static bool is_nan(uint8_t code)
{
    return (code & 0x7F) == NG_E4M3_NAN;
}

uint32_t ng_ref_hopper_fp8_dot(const uint8_t a[NG_HOPPER_DOT],
                               const uint8_t b[NG_HOPPER_DOT], uint32_t c)
{
    term x[NG_HOPPER_DOT + 1];
    int emax = 0;
    bool any = false;
    int64_t sum = 0;

    for (int i = 0; i < NG_HOPPER_DOT; i++) {
        if (is_nan(a[i]) || is_nan(b[i]))
            return NG_FP32_NAN;
        x[i] = product(a[i], b[i]);
    }
    if ((c & ~NG_FP32_SIGN) >= NG_FP32_INFINITY)
        return (c & 0x7FFFFF) != 0 ? (uint32_t)NG_FP32_NAN : c;
    x[NG_HOPPER_DOT] = accumulator(c);
    for (int i = 0; i <= NG_HOPPER_DOT; i++)
        if (x[i].significand != 0 && (!any || x[i].exponent > emax)) {
            emax = x[i].exponent;
            any = true;
        }
    for (int i = 0; i <= NG_HOPPER_DOT; i++)
        if (x[i].significand != 0)
            sum += cut(x[i], emax - KEPT_BITS);
    return assemble(sum, emax - KEPT_BITS);
}

uint32_t ng_ref_hopper_fp8_chain(const uint8_t *a, const uint8_t *b, int64_t n,
                                 uint32_t c)
{
    for (int64_t i = 0; i < n; i += NG_HOPPER_DOT) {
        const size_t some =
            (size_t)(n - i < NG_HOPPER_DOT ? n - i : NG_HOPPER_DOT);
        uint8_t x[NG_HOPPER_DOT] = {0}, y[NG_HOPPER_DOT] = {0};

        memcpy(x, a + i, some);
        memcpy(y, b + i, some);
        c = ng_ref_hopper_fp8_dot(x, y, c);
    }
    return c;
}
