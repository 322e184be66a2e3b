/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/convert/ref_mx_coding.h"

#include <stdbool.h>

#include "formats/e2m1.h"
#include "formats/e4m3.h"
#include "formats/ue8m0.h"
#include "reference/convert/ref_amax.h"
#include "reference/convert/ref_elements.h"
#include "reference/convert/ref_options.h"
#include "reference/convert/ref_peer_scales.h"
#include "reference/convert/ref_scales.h"

const ng_ref_mx ng_ref_mxfp4 = {.element = NG_FORMAT_E2M1,
                                .emax = NG_E2M1_EMAX,
                                .fraction_bits = 1,
                                .largest = 6,
                                .scale_rule = NG_RULE_MXFP4_SCALE};
const ng_ref_mx ng_ref_mxfp8 = {.element = NG_FORMAT_E4M3,
                                .emax = NG_E4M3_EMAX,
                                .fraction_bits = 3,
                                .largest = NG_E4M3_MAX,
                                .scale_rule = NG_RULE_MXFP8_SCALE};

/* Write amax = m * 2^f with 1 <= m < 2. The scale exponent is f - emax + c, emax
 * that of the elements' largest binade, and c by mode:
 *   floor   floor(log2 amax) = f, so c = 0.
 *   ceil    ceil(log2 amax) is f if m = 1 and f + 1 else.
 *   even    m rounded to the p fraction bits of an element is 2, and floor one
 *           larger, iff m >= 2 - 2^-(p+1): that tie goes to 2, whose last bit is
 *           even, and not to 2 - 2^-p, all of whose bits are 1. That is 1.75 for
 *           E2M1 and 1.9375 for E4M3.
 *   rceil   amax <= largest * 2^e, the largest element being l * 2^emax, l = 1.5
 *           or 1.75, holds for e = f - emax iff m <= l, for e one more always
 *           (m < 2 < 2 l) and for e one less never (m >= 1 > l / 2).
 * In FP32's fields f = E - 127. Every FP32 subnormal has f <= -127, so that
 * f - emax + c < -127: byte 0, the same as section 3 has from E = 0. */
static int scale_exponent(const ng_ref_mx *mx, ng_exact amax, int mode)
{
    const int f = ng_exact_floor_log2(amax);
    const int bits = mx->fraction_bits + 1;
    const int against_1 =
        ng_exact_compare_magnitude(amax, ng_ref_power_of_two(f));
    const int against_tie = ng_exact_compare_magnitude(
        amax, (ng_exact){.significand = (UINT64_C(2) << bits) - 1,
                         .exponent = f - bits});
    const int against_largest = ng_exact_compare_magnitude(
        amax, (ng_exact){.significand = mx->largest, .exponent = f - mx->emax});
    const bool c = mode == NG_MX_CEIL    ? against_1 > 0
                   : mode == NG_MX_EVEN  ? against_tie >= 0
                   : mode == NG_MX_RCEIL ? against_largest > 0
                                         : false; /* NG_MX_FLOOR */

    return f - mx->emax + c;
}

uint32_t ng_ref_mx_scale(const ng_ref_mx *mx, ng_exact amax, int mode)
{
    if (amax.kind != NG_EXACT_FINITE)
        return NG_UE8M0_NAN;
    if (amax.significand == 0)
        return 0;
    if (mode >= NG_N_MX_SCALES && ng_ref_peer_amax_is_nan(mx, amax, mode))
        return NG_UE8M0_NAN;

    const int byte =
        NG_UE8M0_BIAS
        + (mode < NG_N_MX_SCALES ? scale_exponent(mx, amax, mode)
                                 : ng_ref_peer_mx_exponent(mx, amax, mode));

    if (byte < 0)
        return 0;
    return byte > NG_UE8M0_MAX_CODE ? NG_UE8M0_MAX_CODE : (uint32_t)byte;
}

/* Whether a NaN is coded by itself and is not in amax. */
static bool leaves_nan_out(const ng_ref_mx *mx, const ng_rules *rules)
{
    return mx->element == NG_FORMAT_E4M3
           && rules->block_nan == NG_BLOCK_NAN_UNSEEN_LARGEST;
}

/* The scale of a block, whatever it holds. */
static uint32_t block_scale(const ng_ref_mx *mx, const ng_exact *v, int n,
                            const ng_rules *rules)
{
    const bool left_out = leaves_nan_out(mx, rules);
    ng_exact amax = ng_ref_no_amax;
    bool nan = false;

    for (int i = 0; i < n; i++) {
        if (left_out && v[i].kind == NG_EXACT_NAN)
            continue;
        amax = ng_ref_amax(amax, v[i]);
        nan |= v[i].kind == NG_EXACT_NAN;
    }
    if (amax.kind != NG_EXACT_FINITE
        && (rules->block_nan == NG_BLOCK_NAN_LARGEST || left_out
            || (rules->block_nan == NG_BLOCK_NAN_INFINITY_LARGEST && !nan)))
        return NG_UE8M0_MAX_CODE;
    return ng_ref_mx_scale(mx, ng_ref_amax_at_least(amax, rules->block_least),
                           ng_rules_get(rules, mx->scale_rule));
}

/* The exponent of what elements are divided by. */
static int divisor(uint32_t scale, const ng_rules *rules)
{
    if (scale == 0 && rules->mxfp4_byte_0 == NG_MXFP4_BYTE_0_NORMAL)
        return 1 - NG_UE8M0_BIAS;
    if (scale == 0 && rules->mxfp4_byte_0 == NG_MXFP4_BYTE_0_ONE)
        return 0;
    return (int)scale - NG_UE8M0_BIAS;
}

/* What stands in a NaN block, its scale aside: in MXFP4, whose elements have no
 * NaN, 0 or, under a peer's rule, what that makes of one. */
static bool codes_a_nan_block(const ng_ref_mx *mx, const ng_rules *rules)
{
    return mx->element == NG_FORMAT_E4M3
           || (rules->block_nan > NG_BLOCK_NAN_PROPAGATE
               && rules->block_nan <= NG_BLOCK_NAN_LARGEST);
}

/* Code the n values that begin at column `first` of a row of `cols`; returns
 * their scale. */
static uint32_t code_block(uint8_t *codes, const ng_ref_mx *mx,
                           const ng_exact *v, int n, int64_t row, int64_t first,
                           int64_t cols, const ng_options *options,
                           ng_events *events)
{
    const ng_rules *rules = ng_ref_rules(options);
    const uint32_t scale = block_scale(mx, v, n, rules);
    const bool coded = scale != NG_UE8M0_NAN || codes_a_nan_block(mx, rules);

    for (int i = 0; i < n; i++) {
        ng_exact x = {.kind = NG_EXACT_NAN};
        unsigned bits = 1u << NG_EVENT_NAN;
        uint32_t code = 0;

        if (scale != NG_UE8M0_NAN && v[i].kind != NG_EXACT_NAN) {
            x = ng_exact_scale(v[i], -divisor(scale, rules));
            bits = 0;
        }
        if (coded)
            code = ng_exact_round(&ng_formats[mx->element], x, rules,
                                  ng_ref_random(options, row, first + i, cols),
                                  &bits);
        codes[i] = (uint8_t)code;
        ng_events_count(events, bits);
    }
    return scale;
}

void ng_ref_store_mxfp4_block(const ng_mxfp4 *y, int64_t row, int64_t block,
                              const ng_exact *v, int n,
                              const ng_options *options, ng_events *events)
{
    const int64_t first = block * NG_MX_BLOCK;
    uint8_t *line = y->codes + row * y->ld;
    uint8_t codes[NG_MX_BLOCK];

    ng_ref_store_scale_bits(&y->scales, row, block,
                            code_block(codes, &ng_ref_mxfp4, v, n, row, first,
                                       y->cols, options, events));
    for (int i = 0; i < n; i++)
        ng_ref_store_nibble(line, first + i, codes[i]);
}

void ng_ref_store_mxfp8_block(const ng_mxfp8 *y, int64_t row, int64_t block,
                              const ng_exact *v, int n,
                              const ng_options *options, ng_events *events)
{
    const int64_t first = block * NG_MX_BLOCK;

    ng_ref_store_scale_bits(&y->scales, row, block,
                            code_block(y->codes + row * y->ld + first,
                                       &ng_ref_mxfp8, v, n, row, first, y->cols,
                                       options, events));
}
