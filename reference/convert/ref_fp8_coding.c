/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/convert/ref_fp8_coding.h"

#include "formats/e4m3.h"
#include "reference/convert/ref_scales.h"

enum { MIN_EXPONENT = -126 }; /* scales are normal FP32 numbers */

ng_status ng_ref_check_fp8_rules(const ng_rules *rules, const ng_scales *scales)
{
    if (rules->fp8_scale == NG_FP8_POW2)
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

ng_exact ng_ref_fp8_scale(ng_exact amax, int kind)
{
    if (amax.kind != NG_EXACT_FINITE)
        return amax;
    if (amax.significand == 0)
        return ng_ref_power_of_two(0);
    return kind == NG_FP8_POW2 ? pow2_scale(amax) : fp32_scale(amax);
}

uint8_t ng_ref_fp8_code(ng_exact v, ng_exact scale, const ng_rules *rules,
                        uint32_t random, unsigned *events)
{
    if (scale.kind != NG_EXACT_FINITE) {
        *events |= 1u << NG_EVENT_NAN;
        return NG_E4M3_NAN;
    }
    return (uint8_t)ng_exact_round(&ng_formats[NG_FORMAT_E4M3],
                                   ng_exact_quotient(v, scale), rules, random,
                                   events);
}
