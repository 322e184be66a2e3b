/* SPDX-License-Identifier: Apache-2.0
 *
 * Profile ng, in integers: a code is the nearest integer to a quotient of two
 * integers, ties to even. The quotients are of the stored scale s, which is an
 * 11-bit number, and of an FP32 number.
 */
#include "reference/optim/ref_companding.h"

#include <string.h>

#include "formats/events.h"
#include "formats/fp32.h"
#include "formats/ue6m10.h"
#include "reference/exact.h"
#include "reference/optim/ref_root.h"

static const ng_rules nearest = {.rounding = NG_NEAREST_EVEN,
                                 .overflow = NG_IEEE};

static ng_exact fp32_value(float x)
{
    return ng_exact_decode(&ng_formats[NG_FORMAT_FP32], ng_fp32_bits(x));
}

/* RNI(numerator / denominator). */
static uint64_t nearest_integer(uint64_t numerator, uint64_t denominator)
{
    const uint64_t below = numerator / denominator;
    const uint64_t rest = numerator % denominator;
    const uint64_t beyond = denominator - rest;

    return below + (rest > beyond || (rest == beyond && below % 2 != 0));
}

/* min(top, RNI(top * x / s)), or min(top, RNI(2 top x / (s + x))) where folded,
 * of magnitudes x and s > 0. Both quotients reach top where x = s and lie below
 * 2 top x / s: under x < 2^-10 s they are below 0.499 and round to 0. Between,
 * where s has 11 bits, x has 24 and the binade of s is at most 10 above x's,
 * both are integers below 2^35 in the unit of the finer one. */
static uint64_t code_of(ng_exact x, ng_exact s, uint64_t top, bool folded)
{
    if (x.significand == 0)
        return 0;
    if (ng_exact_compare_magnitude(x, s) >= 0)
        return top;
    if (ng_exact_floor_log2(s) - ng_exact_floor_log2(x) > 10)
        return 0;

    const int unit = x.exponent < s.exponent ? x.exponent : s.exponent;
    const uint64_t x_units = x.significand << (x.exponent - unit);
    const uint64_t s_units = s.significand << (s.exponent - unit);

    return folded ? nearest_integer(2 * top * x_units, s_units + x_units)
                  : nearest_integer(top * x_units, s_units);
}

/* The magnitude that the scale is taken from: |m|, r or v; NaN where the number
 * makes the group NaN. */
static ng_exact coded_value(float x, ng_state_kind kind, ng_state_coding coding)
{
    ng_exact value = fp32_value(x);

    if (value.kind == NG_EXACT_INFINITE
        || (kind == NG_VARIANCE && value.negative && value.significand != 0))
        value.kind = NG_EXACT_NAN;
    else if (kind == NG_VARIANCE && coding == NG_STATE_COMPANDED
             && value.kind == NG_EXACT_FINITE)
        value = ng_ref_root_fp32(value);
    return value;
}

static uint8_t element_code(ng_exact x, ng_exact s, ng_state_kind kind,
                            ng_state_coding coding)
{
    const bool companded = coding == NG_STATE_COMPANDED;
    uint64_t code;

    if (s.significand == 0)
        return 0;
    if (kind == NG_MOMENTUM) {
        code = code_of(x, s, NG_MOMENTUM_MAX_CODE, companded);
        return (uint8_t)(x.negative ? 256 - code : code);
    }
    code = code_of(x, s, NG_VARIANCE_MAX_CODE, false);
    /* v > 0 never becomes 0: a momentum that outlives it would be divided by
     * eps alone. */
    if (companded && code == 0 && x.significand != 0)
        code = 1;
    return (uint8_t)code;
}

void ng_ref_compand_group(uint8_t *codes, uint16_t *scale, const float *x,
                          int n, ng_state_kind kind, ng_state_coding coding,
                          int compand, ng_group_counts *counts)
{
    const ng_format *ue6m10 = &ng_formats[NG_FORMAT_UE6M10];
    ng_exact value[NG_STATE_GROUP];
    ng_exact largest = {.kind = NG_EXACT_FINITE};
    unsigned events = 0;

    if (compand == NG_COMPAND_FLASHOPTIM) {
        ng_ref_compand_group_flashoptim(codes, scale, x, n, kind, coding,
                                        counts);
        return;
    }
    for (int i = 0; i < n; i++) {
        value[i] = coded_value(x[i], kind, coding);
        if (value[i].kind == NG_EXACT_NAN) {
            counts->nan++;
            *scale = NG_UE6M10_NAN;
            memset(codes, 0, (size_t)n);
            return;
        }
        if (ng_exact_compare_magnitude(value[i], largest) > 0)
            largest = value[i];
    }
    *scale = (uint16_t)ng_exact_round(ue6m10, largest, &nearest, 0, &events);
    counts->saturated += (events & 1u << NG_EVENT_SATURATED) != 0;
    counts->lost += largest.significand != 0 && *scale == 0;
    for (int i = 0; i < n; i++)
        codes[i] = element_code(value[i], ng_exact_decode(ue6m10, *scale), kind,
                                coding);
}

/* q / d, an exact quotient of small integers, as FP32. */
static ng_exact share(int q, int d)
{
    const ng_exact a = {.negative = q < 0,
                        .significand = (uint64_t)(q < 0 ? -q : q)};
    const ng_exact b = {.significand = (uint64_t)d};
    unsigned events = 0;

    return ng_exact_round_fp32(ng_exact_quotient(a, b), &events);
}

uint32_t ng_ref_expand_code(uint8_t code, uint16_t scale, ng_state_kind kind,
                            ng_state_coding coding, int compand)
{
    const ng_format *fp32 = &ng_formats[NG_FORMAT_FP32];
    const int q = kind == NG_MOMENTUM ? (int8_t)code : code;
    const bool companded = coding == NG_STATE_COMPANDED;
    unsigned events = 0;
    ng_exact t;

    if (compand == NG_COMPAND_FLASHOPTIM)
        return ng_ref_expand_code_flashoptim(code, scale, kind, coding);
    if (kind == NG_VARIANCE)
        t = share(q, 255);
    else
        t = companded ? share(q, 254 - (q < 0 ? -q : q)) : share(q, 127);
    t = ng_exact_round_fp32(
        ng_exact_product(t,
                         ng_exact_decode(&ng_formats[NG_FORMAT_UE6M10], scale)),
        &events);
    if (kind == NG_VARIANCE && companded)
        t = ng_exact_product(t, t);
    return ng_exact_round(fp32, t, &nearest, 0, &events);
}
