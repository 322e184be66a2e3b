/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/convert/ref_peer_fp8.h"

#include "formats/e4m3.h"
#include "reference/convert/ref_scales.h"

static const ng_exact one = {.significand = 1};
static const ng_exact largest_code = {.significand = NG_E4M3_MAX};

/* RN32, and past FP32 the largest of x. */
static ng_exact round_to(const ng_format *x, ng_exact v)
{
    unsigned events = 0; /* of a scale: not counted */
    const ng_exact rounded = ng_exact_round_fp32(v, &events);

    return rounded.kind == NG_EXACT_INFINITE ? ng_exact_decode(x, x->max_finite)
                                             : rounded;
}

static ng_exact quotient(ng_exact a, ng_exact b, const ng_format *x)
{
    return round_to(x, ng_exact_quotient(a, b));
}

/* max(RN32(amax * RN32(1 / 448)), 2^-126). */
static ng_exact product_scale(ng_exact amax, const ng_format *x)
{
    const ng_exact least = ng_ref_power_of_two(-126);
    const ng_exact s =
        round_to(x, ng_exact_product(amax, quotient(one, largest_code, x)));

    return ng_exact_compare_magnitude(s, least) < 0 ? least : s;
}

ng_exact ng_ref_peer_fp8_scale(ng_exact amax, int kind, const ng_format *x)
{
    const ng_exact m = quotient(largest_code, amax, x);

    switch (kind) {
    case NG_FP8_FP32_PRODUCT:
        return product_scale(amax, x);
    case NG_FP8_FP32_INVERSE:
        return quotient(one, m, x);
    default: /* NG_FP8_POW2_INVERSE */
        return ng_ref_power_of_two(-ng_exact_floor_log2(m));
    }
}

ng_exact ng_ref_fp8_multiplier_of_scale(ng_exact scale, const ng_format *x)
{
    const ng_exact zero = {.kind = NG_EXACT_FINITE};

    return scale.kind == NG_EXACT_INFINITE ? zero : quotient(one, scale, x);
}

ng_exact ng_ref_fp8_multiplier_of_amax(ng_exact amax, int multiplier,
                                       const ng_format *x)
{
    if (multiplier == NG_FP8_MULTIPLIER_OF_RECIPROCAL)
        return round_to(x,
                        ng_exact_product(largest_code, quotient(one, amax, x)));
    return quotient(largest_code, amax, x);
}
