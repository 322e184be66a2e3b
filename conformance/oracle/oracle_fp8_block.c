/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/oracle/oracle_fp8_block.h"

#include "conformance/oracle/oracle_ieee.h"
#include "conformance/oracle/oracle_mx_block.h"
#include "conformance/oracle/oracle_round.h"
#include "conformance/oracle/oracle_view.h"

ng_status ng_oracle_fp8_rules(const ng_rules *rules, ng_dtype scales)
{
    if (ng_fp8_scale_is_pow2(rules->fp8_scale))
        return NG_OK;
    return rules->rounding == NG_STOCHASTIC || scales != NG_FP32 ? NG_BAD_RULES
                                                                 : NG_OK;
}

/* What stands for a result that passed FP32: the largest number of the type that
 * the block is of. */
static void bring_back(mpfr_ptr m, ng_format_id from)
{
    mpfr_t largest;

    if (mpfr_inf_p(m) == 0)
        return;
    mpfr_init2(largest, NG_ORACLE_BITS);
    ng_oracle_value(largest, from, ng_oracle_formats[from].max);
    mpfr_set(m, largest, MPFR_RNDN);
    mpfr_clear(largest);
}

/* m = RN32(a / b), of FP32 numbers. */
static void divide(mpfr_ptr m, mpfr_srcptr a, mpfr_srcptr b, ng_format_id from)
{
    ng_oracle_div(m, a, b);
    bring_back(m, from);
}

/* Peers' scales of a block of this amax, computed as they do, in FP32. */
static void choose_peer_scale(mpfr_ptr s, mpfr_srcptr amax, int kind,
                              ng_format_id from)
{
    mpfr_t a, m, one;

    mpfr_inits2(NG_ORACLE_FP32_BITS, a, m, one, (mpfr_ptr)0);
    mpfr_set(a, amax, MPFR_RNDN);
    mpfr_set_ui(one, 1, MPFR_RNDN);
    mpfr_set_ui(m, 448, MPFR_RNDN);
    if (kind == NG_FP8_FP32_PRODUCT) {
        ng_oracle_div(m, one, m);
        ng_oracle_mul(m, a, m);
        if (mpfr_cmp_ui_2exp(m, 1, -126) < 0)
            mpfr_set_ui_2exp(m, 1, -126, MPFR_RNDN);
    } else {
        divide(m, m, a, from);
        if (kind == NG_FP8_POW2_INVERSE)
            mpfr_set_ui_2exp(m, 1, mpfr_get_exp(m) - 1, MPFR_RNDN);
        ng_oracle_div(m, one, m);
    }
    mpfr_set(s, m, MPFR_RNDN);
    mpfr_clears(a, m, one, (mpfr_ptr)0);
}

/* Set *s to the scale of a block of this amax. */
static void choose_scale(mpfr_ptr s, mpfr_srcptr amax, int kind,
                         ng_format_id from)
{
    if (mpfr_zero_p(amax)) {
        mpfr_set_ui(s, 1, MPFR_RNDN);
    } else if (kind >= NG_N_FP8_SCALES) {
        choose_peer_scale(s, amax, kind, from);
    } else if (kind == NG_FP8_POW2) {
        /* 448 = 1.75 * 2^8, so 448 * 2^k < amax at first. */
        mpfr_exp_t k = mpfr_get_exp(amax) - 1 - 9;

        while (mpfr_cmp_ui_2exp(amax, 448, k) > 0)
            k++;
        mpfr_set_ui_2exp(s, 1, k < -126 ? -126 : k, MPFR_RNDN);
    } else {
        /* RN32 to 24 bits: where FP32 would be subnormal, 2^-126 wins. */
        mpfr_t quotient;

        mpfr_init2(quotient, 24);
        mpfr_div_ui(quotient, amax, 448, MPFR_RNDN);
        if (mpfr_cmp_ui_2exp(quotient, 1, -126) < 0)
            mpfr_set_ui_2exp(quotient, 1, -126, MPFR_RNDN);
        mpfr_set(s, quotient, MPFR_RNDN);
        mpfr_clear(quotient);
    }
}

/* Set *amax to the largest magnitude among the numbers; says what else there
 * is. */
static void look(mpfr_ptr amax, const mpfr_t *element, int64_t n, bool *nan,
                 bool *infinity)
{
    *nan = *infinity = false;
    mpfr_set_zero(amax, 1);
    for (int64_t i = 0; i < n; i++) {
        if (mpfr_nan_p(element[i]) != 0)
            *nan = true;
        else if (mpfr_inf_p(element[i]) != 0)
            *infinity = true;
        else if (mpfr_cmpabs(element[i], amax) > 0)
            ng_oracle_require_exact(mpfr_abs(amax, element[i], MPFR_RNDN));
    }
}

/* Set *s to the scale that rule block.nan gives a block which holds a NaN or an
 * infinity; false if it is that of the numbers. */
static bool odd_scale(mpfr_ptr s, bool nan, bool infinity, int rule)
{
    switch (rule) {
    case NG_BLOCK_NAN_LARGEST:
        mpfr_set_ui_2exp(s, 1, 127, MPFR_RNDN);
        return true;
    case NG_BLOCK_NAN_ARITHMETIC:
        mpfr_set_inf(s, 1);
        if (nan)
            mpfr_set_nan(s);
        return true;
    case NG_BLOCK_NAN_UNSEEN:
        mpfr_set_inf(s, 1);
        return infinity;
    case NG_BLOCK_NAN_INFINITY_ONE:
        mpfr_set_ui(s, 1, MPFR_RNDN);
        return infinity;
    default: /* section 4 */
        mpfr_set_nan(s);
        return true;
    }
}

/* Set *m, of 24 bits, to what elements are multiplied by: 1 / s for all rules
 * where the scale is odd, a power of two or that of zeros. */
static void choose_multiplier(mpfr_ptr m, mpfr_srcptr s, mpfr_srcptr amax,
                              bool odd, const ng_rules *rules,
                              ng_format_id from)
{
    const bool plain =
        odd || ng_fp8_scale_is_pow2(rules->fp8_scale) || mpfr_zero_p(amax) != 0;
    const int multiplier =
        plain ? (int)NG_FP8_MULTIPLIER_OF_SCALE : rules->fp8_multiplier;
    const bool of_amax = multiplier == NG_FP8_MULTIPLIER_OF_AMAX;
    const bool of_reciprocal = multiplier == NG_FP8_MULTIPLIER_OF_RECIPROCAL;
    mpfr_t a;

    mpfr_init2(a, NG_ORACLE_FP32_BITS);
    mpfr_set_ui(m, of_amax ? 448 : 1, MPFR_RNDN);
    mpfr_set(a, of_amax || of_reciprocal ? amax : s, MPFR_RNDN);
    divide(m, m, a, from);
    if (of_reciprocal) {
        mpfr_set_ui(a, 448, MPFR_RNDN);
        ng_oracle_mul(m, m, a);
        bring_back(m, from);
    }
    mpfr_clear(a);
}

/* The code of x times m, rounded to FP32 first. */
static uint32_t multiplied(mpfr_ptr x, mpfr_srcptr m, const ng_rules *rules,
                           uint32_t random, unsigned *bits)
{
    ng_oracle_require_exact(mpfr_mul(x, x, m, MPFR_RNDN));
    ng_oracle_rn32(x, x, bits);
    return ng_oracle_round(ng_oracle_grid_of(NG_FORMAT_E4M3), x, rules, random,
                           bits);
}

void ng_oracle_fp8_block(const ng_fp8 *y, const ng_oracle_fp8_part *part,
                         const ng_options *options)
{
    const ng_rules *rules = options->rules;
    ng_oracle_context *c = ng_oracle_here();
    const int64_t n = (part->r1 - part->r0) * (part->c1 - part->c0);
    ng_oracle_grid *grid = NULL;
    bool nan, infinity;
    mpfr_t m;

    look(c->amax, (const mpfr_t *)c->element, n, &nan, &infinity);
    ng_oracle_amax_at_least(c->amax, rules->block_least);

    const bool odd = (nan || infinity)
                     && odd_scale(c->unit, nan, infinity, rules->block_nan);

    if (!odd)
        choose_scale(c->unit, c->amax, rules->fp8_scale, part->from);

    const bool multiplies = rules->fp8_multiplier != NG_FP8_MULTIPLIER_NONE
                            || mpfr_inf_p(c->unit) != 0;

    mpfr_init2(m, NG_ORACLE_FP32_BITS);
    if (multiplies)
        choose_multiplier(m, c->unit, c->amax, odd, rules, part->from);
    else if (mpfr_nan_p(c->unit) == 0)
        grid = ng_oracle_scaled_grid(NG_FORMAT_E4M3, c->unit);
    ng_oracle_store_scale(&y->scales, part->line, part->j, part->n, c->unit);

    for (int64_t r = part->r0; r < part->r1; r++) {
        for (int64_t col = part->c0; col < part->c1; col++) {
            const int64_t i = ng_oracle_fp8_index(part, r, col);
            const uint32_t random = ng_oracle_random(options, r, col, y->cols);
            unsigned bits = c->bits[i];
            uint32_t code = 0x7F;

            if (mpfr_nan_p(c->unit) != 0)
                bits = 1u << NG_EVENT_NAN;
            else if (multiplies)
                code = multiplied(c->element[i], m, rules, random, &bits);
            else
                code =
                    ng_oracle_round(grid, c->element[i], rules, random, &bits);
            *ng_oracle_fp8_code(y, r, col) = (uint8_t)code;
            ng_oracle_count(options, bits);
        }
    }
    mpfr_clear(m);
}
