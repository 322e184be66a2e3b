/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/convert/ref_mxfp4_coding.h"

#include <stdbool.h>

#include "formats/e2m1.h"
#include "formats/ue8m0.h"
#include "reference/convert/ref_amax.h"
#include "reference/convert/ref_elements.h"
#include "reference/convert/ref_options.h"
#include "reference/convert/ref_peer_scales.h"
#include "reference/convert/ref_scales.h"

/* Write amax = m * 2^f with 1 <= m < 2. The scale exponent is f - 2 + c, where
 * emax = 2 is the exponent of E2M1's largest binade, and c by mode:
 *   floor   floor(log2 amax) = f, so c = 0.
 *   ceil    ceil(log2 amax) is f if m = 1 and f + 1 else.
 *   even    m rounded to one fraction bit is 1, 1.5 or 2. It is 2, and floor
 *           one larger, iff m >= 1.75: that tie goes to 2, whose last bit is
 *           even (1.5 = 0b1.1, 2 = 0b10.0).
 *   rceil   amax <= 6 * 2^e = 1.5 * 2^(e+2) holds for e = f - 2 iff m <= 1.5,
 *           for e = f - 1 always (m < 3) and for e = f - 3 never (m > 0.75).
 * In FP32's fields f = E - 127, and m = 1.5, 1.75 are F = 0x400000, 0x600000.
 * Every FP32 subnormal has f <= -127, so f - 2 + c < -127: byte 0, the same as
 * section 3 has from E = 0. */
static int scale_exponent(ng_exact amax, int mode)
{
    const int f = ng_exact_floor_log2(amax);
    const int against_1 =
        ng_exact_compare_magnitude(amax, ng_ref_power_of_two(f));
    const int against_1_5 = ng_exact_compare_magnitude(
        amax, (ng_exact){.significand = 3, .exponent = f - 1});
    const int against_1_75 = ng_exact_compare_magnitude(
        amax, (ng_exact){.significand = 7, .exponent = f - 2});
    const bool c = mode == NG_MXFP4_CEIL    ? against_1 > 0
                   : mode == NG_MXFP4_EVEN  ? against_1_75 >= 0
                   : mode == NG_MXFP4_RCEIL ? against_1_5 > 0
                                            : false; /* NG_MXFP4_FLOOR */

    return f - NG_E2M1_EMAX + c;
}

uint32_t ng_ref_mxfp4_scale(ng_exact amax, int mode)
{
    if (amax.kind != NG_EXACT_FINITE)
        return NG_UE8M0_NAN;
    if (amax.significand == 0)
        return 0;
    if (mode >= NG_N_MXFP4_SCALES && ng_ref_peer_amax_is_nan(amax, mode))
        return NG_UE8M0_NAN;

    const int byte = NG_UE8M0_BIAS
                     + (mode < NG_N_MXFP4_SCALES
                            ? scale_exponent(amax, mode)
                            : ng_ref_peer_mxfp4_exponent(amax, mode));

    if (byte < 0)
        return 0;
    return byte > NG_UE8M0_MAX_CODE ? NG_UE8M0_MAX_CODE : (uint32_t)byte;
}

/* The scale of a block, whatever it holds. */
static uint32_t block_scale(const ng_exact *v, int n, const ng_rules *rules)
{
    ng_exact amax = ng_ref_no_amax;
    bool nan = false;

    for (int i = 0; i < n; i++) {
        amax = ng_ref_amax(amax, v[i]);
        nan |= v[i].kind == NG_EXACT_NAN;
    }
    if (amax.kind != NG_EXACT_FINITE
        && (rules->block_nan == NG_BLOCK_NAN_LARGEST
            || (rules->block_nan == NG_BLOCK_NAN_INFINITY_LARGEST && !nan)))
        return NG_UE8M0_MAX_CODE;
    return ng_ref_mxfp4_scale(ng_ref_amax_at_least(amax, rules->block_least),
                              rules->mxfp4_scale);
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

void ng_ref_store_mxfp4_block(const ng_mxfp4 *y, int64_t row, int64_t block,
                              const ng_exact *v, int n,
                              const ng_options *options, ng_events *events)
{
    const ng_rules *rules = ng_ref_rules(options);
    const int64_t first = block * NG_MXFP4_BLOCK;
    uint8_t *line = y->codes + row * y->ld;
    const uint32_t scale = block_scale(v, n, rules);
    const bool coded = scale != NG_UE8M0_NAN
                       || (rules->block_nan > NG_BLOCK_NAN_PROPAGATE
                           && rules->block_nan <= NG_BLOCK_NAN_LARGEST);

    ng_ref_store_scale_bits(&y->scales, row, block, scale);
    for (int i = 0; i < n; i++) {
        ng_exact x = {.kind = NG_EXACT_NAN};
        unsigned bits = 1u << NG_EVENT_NAN;
        uint32_t code = 0;

        if (scale != NG_UE8M0_NAN && v[i].kind != NG_EXACT_NAN) {
            x = ng_exact_scale(v[i], -divisor(scale, rules));
            bits = 0;
        }
        if (coded)
            code = ng_exact_round(
                &ng_formats[NG_FORMAT_E2M1], x, rules,
                ng_ref_random(options, row, first + i, y->cols), &bits);
        ng_ref_store_nibble(line, first + i, (uint8_t)code);
        ng_events_count(events, bits);
    }
}
