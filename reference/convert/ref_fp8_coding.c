/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/convert/ref_fp8_coding.h"

#include "formats/e4m3.h"
#include "reference/convert/ref_amax.h"
#include "reference/convert/ref_peer_fp8.h"
#include "reference/convert/ref_scales.h"

enum { MIN_EXPONENT = -126 }; /* scales are normal FP32 numbers */

ng_status ng_ref_check_fp8_rules(const ng_rules *rules, const ng_scales *scales)
{
    if (ng_fp8_scale_is_pow2(rules->fp8_scale))
        return NG_OK;
    return rules->rounding == NG_STOCHASTIC || scales->dtype != NG_FP32
               ? NG_BAD_RULES
               : NG_OK;
}

/* The smallest 2^k >= amax / 448, k >= -126. With amax = m * 2^f, 1 <= m < 2,
 * and 448 = 1.75 * 2^8: amax <= 1.75 * 2^(k+8) holds for k = f - 8 iff
 * m <= 1.75, for k = f - 7 always (m < 3.5), for k = f - 9 never (m > 0.875).
 * In FP32's fields, E - 135 + (F > 0x600000). */
static ng_exact pow2_scale(ng_exact amax)
{
    const int f = ng_exact_floor_log2(amax);
    const ng_exact top = {.significand = 7, .exponent = f - 2};
    const int k =
        f - NG_E4M3_EMAX + (ng_exact_compare_magnitude(amax, top) > 0);

    return ng_ref_power_of_two(k > MIN_EXPONENT ? k : MIN_EXPONENT);
}

/* max(RN32(amax / 448), 2^-126). */
static ng_exact fp32_scale(ng_exact amax)
{
    const ng_exact largest = {.significand = NG_E4M3_MAX};
    const ng_exact least = ng_ref_power_of_two(MIN_EXPONENT);
    unsigned events = 0; /* of a scale: not counted */
    const ng_exact s =
        ng_exact_round_fp32(ng_exact_quotient(amax, largest), &events);

    return ng_exact_compare_magnitude(s, least) < 0 ? least : s;
}

/* The scale of a block of numbers. */
static ng_exact scale_of(ng_exact amax, int kind, const ng_format *x)
{
    if (amax.significand == 0)
        return ng_ref_power_of_two(0);
    if (kind >= NG_N_FP8_SCALES)
        return ng_ref_peer_fp8_scale(amax, kind, x);
    return kind == NG_FP8_POW2 ? pow2_scale(amax) : fp32_scale(amax);
}

/* Whether a NaN is coded by itself and is not in amax. */
static bool leaves_nan_out(const ng_rules *rules)
{
    return rules->block_nan == NG_BLOCK_NAN_UNSEEN
           || rules->block_nan == NG_BLOCK_NAN_INFINITY_ONE;
}

/* The scale of a block that holds an infinity, or a NaN that is not left out. */
static ng_exact odd_scale(const ng_ref_fp8_contents *block,
                          const ng_rules *rules)
{
    enum { MAX_EXPONENT = 127 };

    switch (rules->block_nan) {
    case NG_BLOCK_NAN_LARGEST:
        return ng_ref_power_of_two(MAX_EXPONENT);
    case NG_BLOCK_NAN_ARITHMETIC:
        return (ng_exact){.kind =
                              block->nan ? NG_EXACT_NAN : NG_EXACT_INFINITE};
    case NG_BLOCK_NAN_UNSEEN:
        return (ng_exact){.kind = NG_EXACT_INFINITE};
    case NG_BLOCK_NAN_INFINITY_ONE:
        return ng_ref_power_of_two(0);
    default: /* section 4; the others are MXFP4's */
        return (ng_exact){.kind = NG_EXACT_NAN};
    }
}

void ng_ref_fp8_meet(ng_ref_fp8_contents *block, ng_exact v)
{
    if (v.kind == NG_EXACT_FINITE)
        block->amax = ng_ref_amax(block->amax, v);
    block->nan |= v.kind == NG_EXACT_NAN;
    block->infinity |= v.kind == NG_EXACT_INFINITE;
}

ng_ref_fp8_unit ng_ref_fp8_unit_of(const ng_ref_fp8_contents *block,
                                   const ng_rules *rules, const ng_format *x)
{
    const bool odd = block->infinity || (block->nan && !leaves_nan_out(rules));
    const ng_exact amax = ng_ref_amax_at_least(block->amax, rules->block_least);
    ng_ref_fp8_unit unit = {.multiplies = rules->fp8_multiplier
                                          != NG_FP8_MULTIPLIER_NONE};

    unit.scale =
        odd ? odd_scale(block, rules) : scale_of(amax, rules->fp8_scale, x);
    if (unit.scale.kind == NG_EXACT_NAN)
        return unit;
    if (rules->fp8_multiplier > NG_FP8_MULTIPLIER_OF_SCALE && !odd
        && amax.significand != 0 && !ng_fp8_scale_is_pow2(rules->fp8_scale))
        unit.multiplier =
            ng_ref_fp8_multiplier_of_amax(amax, rules->fp8_multiplier, x);
    else
        unit.multiplier = ng_ref_fp8_multiplier_of_scale(unit.scale, x);
    unit.multiplies |= unit.scale.kind == NG_EXACT_INFINITE;
    return unit;
}

uint8_t ng_ref_fp8_code(ng_exact v, const ng_ref_fp8_unit *unit,
                        const ng_rules *rules, uint32_t random,
                        unsigned *events)
{
    if (unit->scale.kind == NG_EXACT_NAN) {
        *events |= 1u << NG_EVENT_NAN;
        return NG_E4M3_NAN;
    }
    const ng_exact t =
        unit->multiplies
            ? ng_exact_round_fp32(ng_exact_product(v, unit->multiplier), events)
            : ng_exact_quotient(v, unit->scale);

    return (uint8_t)ng_exact_round(&ng_formats[NG_FORMAT_E4M3], t, rules,
                                   random, events);
}
