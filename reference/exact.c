/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/exact.h"

#include "formats/events.h"

/* The number of the highest bit that is set; -1 of zero. */
static int highest_bit(uint64_t n)
{
    return n != 0 ? 63 - __builtin_clzll(n) : -1;
}

ng_exact ng_exact_decode(const ng_format *format, uint32_t code)
{
    const int p = format->fraction_bits;
    const uint32_t sign = ng_format_sign(format);
    const uint32_t magnitude = code & ~sign;
    const uint32_t fraction = magnitude & ((UINT32_C(1) << p) - 1);
    const int field = (int)(magnitude >> p);
    ng_exact x = {.kind = NG_EXACT_FINITE, .negative = (code & sign) != 0};

    if (magnitude > format->max_finite) {
        x.kind = (int64_t)magnitude == format->infinity ? NG_EXACT_INFINITE
                                                        : NG_EXACT_NAN;
        return x;
    }
    if (field == 0 && format->has_subnormals) {
        x.significand = fraction;
        x.exponent = 1 - format->bias - p;
    } else {
        x.significand = (UINT64_C(1) << p) | fraction;
        x.exponent = field - format->bias - p;
    }
    return x;
}

ng_exact ng_exact_product(ng_exact a, ng_exact b)
{
    ng_exact x = {.kind = NG_EXACT_FINITE,
                  .negative = a.negative != b.negative};
    const bool a_zero = a.kind == NG_EXACT_FINITE && a.significand == 0;
    const bool b_zero = b.kind == NG_EXACT_FINITE && b.significand == 0;

    if (a.kind == NG_EXACT_NAN || b.kind == NG_EXACT_NAN
        || (a.kind == NG_EXACT_INFINITE && b_zero)
        || (b.kind == NG_EXACT_INFINITE && a_zero)) {
        x.kind = NG_EXACT_NAN;
        x.negative = false;
    } else if (a.kind == NG_EXACT_INFINITE || b.kind == NG_EXACT_INFINITE) {
        x.kind = NG_EXACT_INFINITE;
    } else {
        x.significand = a.significand * b.significand;
        x.exponent = a.exponent + b.exponent;
    }
    return x;
}

ng_exact ng_exact_quotient(ng_exact a, ng_exact b)
{
    ng_exact x = a;

    if (a.kind == NG_EXACT_NAN) {
        x.negative = false;
        return x;
    }
    x.negative = a.negative != b.negative;
    if (a.kind == NG_EXACT_FINITE && a.significand != 0) {
        /* Numerator in [2^62, 2^63), divisor below 2^31: the quotient keeps
         * more than 31 bits, and what remains of the division is sticky. */
        const int shift = 62 - highest_bit(a.significand);
        const uint64_t numerator = a.significand << shift;

        x.significand = numerator / b.significand;
        x.sticky = numerator % b.significand != 0;
        x.exponent = a.exponent - shift - b.exponent;
    }
    return x;
}

ng_exact ng_exact_scale(ng_exact a, int k)
{
    a.exponent += k;
    return a;
}

int ng_exact_floor_log2(ng_exact a)
{
    return a.exponent + highest_bit(a.significand);
}

int ng_exact_compare_magnitude(ng_exact a, ng_exact b)
{
    if (a.significand == 0 || b.significand == 0)
        return (a.significand != 0) - (b.significand != 0);

    const int log2_a = ng_exact_floor_log2(a), log2_b = ng_exact_floor_log2(b);

    if (log2_a != log2_b)
        return log2_a < log2_b ? -1 : 1;

    /* Same binade: align the highest bits and compare the integers. */
    const uint64_t m_a = a.significand << (62 - highest_bit(a.significand));
    const uint64_t m_b = b.significand << (62 - highest_bit(b.significand));

    return (m_a > m_b) - (m_a < m_b);
}

/* What lies between x and the code below it, in units of the step to the next. */
typedef struct ng_rest {
    bool zero;
    int against_half;           /* sign of (rest - 1/2) */
    uint64_t in_2_32;           /* floor(2^32 * rest) */
} ng_rest;

/* Divide significand * 2^exponent by 2^quantum: return the integer part. */
static uint64_t integer_part(ng_exact x, int quantum, ng_rest *rest)
{
    const int shift = quantum - x.exponent;

    if (shift <= 0) {
        *rest = (ng_rest){.zero = !x.sticky, .against_half = -1};
        return x.significand << -shift;
    }
    if (shift > 63) {           /* significand < 2^63: less than one half */
        *rest = (ng_rest){.against_half = -1};
        rest->in_2_32 = shift < 96 ? x.significand >> (shift - 32) : 0;
        return 0;
    }

    const uint64_t bits = x.significand & ((UINT64_C(1) << shift) - 1);
    const uint64_t half = UINT64_C(1) << (shift - 1);

    rest->zero = bits == 0 && !x.sticky;
    rest->against_half = bits != half ? (bits > half ? 1 : -1) : x.sticky;
    rest->in_2_32 = shift > 32 ? bits >> (shift - 32) : bits << (32 - shift);
    return x.significand >> shift;
}

static bool goes_up(int rounding, ng_rest rest, bool odd, bool negative,
                    uint32_t random)
{
    if (rest.zero)
        return false;
    switch (rounding) {
    case NG_NEAREST_EVEN:
        return rest.against_half > 0 || (rest.against_half == 0 && odd);
    case NG_NEAREST_AWAY:
        return rest.against_half >= 0;
    case NG_NEAREST_ZERO:
        return rest.against_half > 0;
    case NG_UP:
        return !negative;
    case NG_DOWN:
        return negative;
    case NG_STOCHASTIC:
        return rest.in_2_32 + random >= UINT64_C(1) << 32;
    default:                    /* NG_TOWARD_ZERO */
        return false;
    }
}

/* The code of a magnitude that passes the largest finite one, or of Inf. */
static uint32_t overflow_code(const ng_format *format, const ng_rules *rules,
                              bool finite, bool negative)
{
    const bool inward = rules->rounding == NG_TOWARD_ZERO
                        || (rules->rounding == NG_UP && negative)
                        || (rules->rounding == NG_DOWN && !negative);
    const int64_t beyond = format->infinity != NG_NO_CODE ? format->infinity
                                                          : format->nan;

    /* E2M1 has no code beyond; UE6M10 has a NaN but always saturates. */
    if (rules->overflow == NG_SATURATE || beyond == NG_NO_CODE
        || format == &ng_formats[NG_FORMAT_UE6M10] || (finite && inward))
        return format->max_finite;
    return (uint32_t)beyond;
}

/* The code of a NaN, whose sign some peers keep. */
static uint32_t nan_code(const ng_format *format, bool negative,
                         const ng_rules *rules)
{
    const uint32_t sign = negative ? ng_format_sign(format) : 0;

    if (format->nan != NG_NO_CODE && rules->nan != NG_NAN_QUIET)
        return (uint32_t)format->nan;
    if (format->infinity != NG_NO_CODE)
        return sign | (uint32_t)format->infinity
               | UINT32_C(1) << (format->fraction_bits - 1);
    if (format->nan != NG_NO_CODE)
        return sign | (uint32_t)format->nan;
    switch (rules->e2m1_nan) {
    case NG_E2M1_NAN_MAX:
        return format->max_finite;
    case NG_E2M1_NAN_MINUS_ZERO:
        return sign ^ ng_format_sign(format);
    case NG_E2M1_NAN_THREE:
        return sign | 3;
    default:                    /* NG_E2M1_NAN_ZERO */
        return 0;
    }
}

/* UE8M0 as ml_dtypes casts to it. Of the significand one bit is kept, the
 * implied one; that is odd, so a tie to even is up. Between 2^-127 and 2^-126,
 * where FP32 is subnormal, everything goes up. */
static uint32_t ml_dtypes_ue8m0(ng_exact x, unsigned *events)
{
    const ng_format *format = &ng_formats[NG_FORMAT_UE8M0];
    const int f = x.kind == NG_EXACT_FINITE && x.significand != 0
                      ? ng_exact_floor_log2(x) : 0;
    const int lost = f - x.exponent;    /* bits below the first */

    if (x.kind == NG_EXACT_INFINITE) {
        *events |= 1u << NG_EVENT_INFINITE;
        return (uint32_t)format->nan;
    }
    if (x.negative || x.significand == 0) {
        *events |= 1u << NG_EVENT_INEXACT;
        return (uint32_t)format->nan;
    }
    if (f < -format->bias) {
        *events |= 1u << NG_EVENT_INEXACT;
        return 0;
    }

    const uint64_t rest = x.significand - (UINT64_C(1) << lost);
    const uint64_t half = lost > 0 ? UINT64_C(1) << (lost - 1) : 1;
    const bool up = rest >= (f == -format->bias ? 1 : half);
    const uint32_t code = (uint32_t)(f + format->bias + up);

    if (rest != 0)
        *events |= 1u << NG_EVENT_INEXACT;
    if (rest == half && lost > 0 && code <= format->max_finite)
        *events |= 1u << NG_EVENT_TIE;
    if (code > format->max_finite)
        *events |= 1u << NG_EVENT_SATURATED;
    return code > format->max_finite ? (uint32_t)format->nan : code;
}

/* Whether RN32(t + 1/2) is 1 although t < 1/2, where t = 2 |x| counts E2M1's
 * least steps: FP32's last number below 1 is 1 - 2^-24, and the tie between the
 * two goes to 1, so from t = 1/2 - 2^-25 on. */
static bool half_makes_a_step(ng_exact x)
{
    const ng_exact least = {.significand = (UINT64_C(1) << 24) - 1,
                            .exponent = -26};

    const ng_exact half = {.significand = 1, .exponent = -2};

    return ng_exact_compare_magnitude(x, least) >= 0
           && ng_exact_compare_magnitude(x, half) < 0;
}

/* The sign of an E2M1 zero. */
static uint32_t e2m1_zero(uint32_t sign, bool rounded, const ng_rules *rules)
{
    return rules->e2m1_zero == NG_E2M1_ZERO_SIGNED
                   || (rules->e2m1_zero == NG_E2M1_ZERO_KEPT_IF_ROUNDED
                       && rounded)
               ? sign
               : 0;
}

uint32_t ng_exact_round(const ng_format *format, ng_exact x,
                        const ng_rules *rules, uint32_t random,
                        unsigned *events)
{
    const bool negative = x.negative && format->is_signed;
    const uint32_t sign = negative ? ng_format_sign(format) : 0;
    const bool is_e2m1 = format == &ng_formats[NG_FORMAT_E2M1];
    const int p = format->fraction_bits;

    if (x.kind == NG_EXACT_NAN) {
        *events |= 1u << NG_EVENT_NAN;
        return nan_code(format, x.negative, rules);
    }
    if (rules->ue8m0 == NG_UE8M0_ML_DTYPES
        && format == &ng_formats[NG_FORMAT_UE8M0])
        return ml_dtypes_ue8m0(x, events);
    if (x.kind == NG_EXACT_INFINITE) {
        *events |= 1u << NG_EVENT_INFINITE;
        return sign | overflow_code(format, rules, false, negative);
    }
    if (x.significand == 0) {
        if (!format->has_subnormals)        /* UE8M0 has no zero */
            *events |= 1u << NG_EVENT_INEXACT;
        return is_e2m1 ? e2m1_zero(sign, false, rules) : sign;
    }

    /* Codes of one exponent field are spaced evenly, by 2^quantum: x is n such
     * steps and a rest. Because the code of n steps is n plus a constant, the
     * next code up is always the next value up, also into the next field. */
    const int lowest_field = format->has_subnormals ? 1 : 0;
    int field = ng_exact_floor_log2(x) + format->bias;

    if (field < lowest_field && !format->has_subnormals) {
        *events |= 1u << NG_EVENT_INEXACT;
        return 0;                           /* below 2^-127, in every mode */
    }
    if (field < lowest_field)
        field = lowest_field;

    ng_rest rest;
    const uint64_t n = integer_part(x, field - format->bias - p, &rest);
    const int64_t below = (int64_t)n + ((int64_t)(field - 1) * (1 << p));
    int64_t code = below + goes_up(rules->rounding, rest, below % 2 != 0,
                                   negative, random);

    if (is_e2m1 && below == 0 && rules->e2m1_half == NG_E2M1_HALF_ADDED
        && half_makes_a_step(x))
        code = 1;

    if (!rest.zero)
        *events |= 1u << NG_EVENT_INEXACT;
    if (!rest.zero && rest.against_half == 0 && below <= format->max_finite)
        *events |= 1u << NG_EVENT_TIE;
    if (code > format->max_finite) {
        *events |= 1u << NG_EVENT_SATURATED | 1u << NG_EVENT_INEXACT;
        return sign | overflow_code(format, rules, true, negative);
    }
    if (format->has_subnormals && code < 1 << p)
        *events |= 1u << (code == 0 ? NG_EVENT_FLUSHED : NG_EVENT_SUBNORMAL);
    if (is_e2m1 && code == 0)   /* up to 2^-150 it is an FP32 zero */
        return e2m1_zero(
            sign,
            ng_exact_compare_magnitude(
                x, (ng_exact){.significand = 1, .exponent = -150}) > 0,
            rules);
    return sign | (uint32_t)code;
}

ng_exact ng_exact_round_fp32(ng_exact x, unsigned *events)
{
    static const ng_rules rn32 = {.rounding = NG_NEAREST_EVEN,
                                  .overflow = NG_IEEE};
    const ng_format *fp32 = &ng_formats[NG_FORMAT_FP32];

    return ng_exact_decode(fp32, ng_exact_round(fp32, x, &rn32, 0, events));
}
