/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/oracle/oracle_mxfp4_block.h"

#include <stdlib.h>

#include "conformance/oracle/oracle_round.h"
#include "conformance/oracle/oracle_view.h"

bool ng_oracle_amax(mpfr_ptr amax, const mpfr_t *element, int64_t n)
{
    int64_t largest = 0;

    for (int64_t i = 0; i < n; i++) {
        if (!mpfr_number_p(element[i]))
            return false;
        if (mpfr_cmpabs(element[i], element[largest]) > 0)
            largest = i;
    }
    ng_oracle_require_exact(mpfr_abs(amax, element[largest], MPFR_RNDN));
    return true;
}

void ng_oracle_amax_at_least(mpfr_ptr amax, int rule)
{
    const float least = rule == NG_BLOCK_LEAST_1E_4    ? 1e-4f
                        : rule == NG_BLOCK_LEAST_1E_12 ? 1e-12f
                                                       : 0;

    if (mpfr_cmp_d(amax, (double)least) < 0)
        mpfr_set_flt(amax, least, MPFR_RNDN);
}

/* The exponent of RN32(amax / 6), or of RN32(amax * RN32(1/6)), rounded up: the
 * number's own, or that of its logarithm in FP32. */
static mpfr_exp_t exponent_of_a_sixth(mpfr_srcptr amax, int mode)
{
    mpfr_exp_t e;
    mpfr_t s;

    mpfr_init2(s, NG_ORACLE_BITS);
    if (mode == NG_MXFP4_RCEIL_FP32) {
        mpfr_set_d(s, 0x1.555556p-3, MPFR_RNDN); /* RN32(1/6) */
        ng_oracle_require_exact(mpfr_mul(s, amax, s, MPFR_RNDN));
    } else {
        /* A sixth has no end; but one of 24 bits lies on no midpoint of FP32,
         * and 64 bits say on which side. */
        mpfr_div_ui(s, amax, 6, MPFR_RNDN);
    }
    mpfr_set_flt(s, mpfr_get_flt(s, MPFR_RNDN), MPFR_RNDN);
    if (mpfr_zero_p(s) != 0 || mpfr_inf_p(s) != 0) {
        e = mpfr_zero_p(s) != 0 ? -200 : 200; /* past every scale */
    } else if (mode == NG_MXFP4_RCEIL_FP32) {
        e = -200;
        while (mpfr_cmp_ui_2exp(s, 1, e) > 0)
            e++;
    } else {
        mpfr_t log2_s;

        mpfr_init2(log2_s, 24);
        mpfr_log2(log2_s, s, MPFR_RNDN);
        e = mpfr_get_si(log2_s, MPFR_RNDU);
        mpfr_clear(log2_s);
    }
    mpfr_clear(s);
    return e;
}

/* The exponent of the shared scale by its definition over the reals, before
 * the ends of UE8M0. amax > 0. */
static mpfr_exp_t exponent(mpfr_srcptr amax, int mode)
{
    const mpfr_exp_t floor_log2 = mpfr_get_exp(amax) - 1;

    if (mode == NG_MXFP4_FLOOR)
        return floor_log2 - 2;
    if (mode == NG_MXFP4_CEIL)
        return floor_log2 + (mpfr_cmp_ui_2exp(amax, 1, floor_log2) > 0) - 2;
    if (mode == NG_MXFP4_RCEIL) {
        mpfr_exp_t e = floor_log2 - 3; /* 6 * 2^e < amax */

        while (mpfr_cmp_ui_2exp(amax, 6, e) > 0)
            e++;
        return e;
    }
    if (mode == NG_MXFP4_FLOOR_LOG2) {
        mpfr_exp_t e;
        mpfr_t log2_amax;

        mpfr_init2(log2_amax, 24); /* RN32: no logarithm is a subnormal */
        mpfr_log2(log2_amax, amax, MPFR_RNDN);
        e = mpfr_get_si(log2_amax, MPFR_RNDD) - 2;
        mpfr_clear(log2_amax);
        return e;
    }
    if (mode == NG_MXFP4_RCEIL_FP32 || mode == NG_MXFP4_RCEIL_LOG2)
        return exponent_of_a_sixth(amax, mode);
    if (mode != NG_MXFP4_EVEN && mode != NG_MXFP4_EVEN_FP32)
        abort();

    /* One fraction bit. What matters is only what reaches the next power of
     * two, and there a tie goes up, whether to even or away. */
    mpfr_t rounded;

    mpfr_init2(rounded, 2);
    mpfr_set(rounded, amax, MPFR_RNDN);

    const mpfr_exp_t e = mpfr_get_exp(rounded) - 1 - 2;

    mpfr_clear(rounded);
    return e;
}

/* Set *unit to the scale 2^e, -127 <= e <= 127. */
static void choose_scale(mpfr_ptr unit, mpfr_srcptr amax, int mode)
{
    mpfr_exp_t e = mpfr_zero_p(amax) ? -127 : exponent(amax, mode);

    if (e < -127)
        e = -127;
    if (e > 127) /* section 7 only: it stops there */
        e = 127;
    mpfr_set_ui_2exp(unit, 1, e, MPFR_RNDN);
}

/* Set *unit to the scale of the n elements: NaN, or a power of two. */
static void block_scale(mpfr_ptr unit, const mpfr_t *element, int64_t n,
                        const ng_rules *rules)
{
    ng_oracle_context *c = ng_oracle_here();
    bool nan = false;

    for (int64_t i = 0; i < n; i++)
        nan |= mpfr_nan_p(element[i]) != 0;
    if (!ng_oracle_amax(c->amax, element, n)) {
        if (rules->block_nan == NG_BLOCK_NAN_LARGEST
            || (rules->block_nan == NG_BLOCK_NAN_INFINITY_LARGEST && !nan))
            mpfr_set_ui_2exp(unit, 1, 127, MPFR_RNDN);
        else
            mpfr_set_nan(unit);
        return;
    }
    ng_oracle_amax_at_least(c->amax, rules->block_least);
    /* Rounded to one fraction bit in FP32, 2^128 is an infinity. */
    if (rules->mxfp4_scale == NG_MXFP4_EVEN_FP32
        && mpfr_cmp_d(c->amax, 0x1.cp127) >= 0)
        mpfr_set_nan(unit);
    else
        choose_scale(unit, c->amax, rules->mxfp4_scale);
}

/* What the elements are divided by: the scale, or what a peer has for 2^-127. */
static ng_oracle_grid *grid_under(mpfr_srcptr unit, const ng_rules *rules)
{
    const bool least = mpfr_cmp_ui_2exp(unit, 1, -127) == 0;
    ng_oracle_grid *grid;
    mpfr_t divisor;

    if (least && rules->mxfp4_byte_0 == NG_MXFP4_BYTE_0_ONE)
        return ng_oracle_grid_of(NG_FORMAT_E2M1);
    mpfr_init2(divisor, NG_ORACLE_BITS);
    mpfr_set(divisor, unit, MPFR_RNDN);
    if (least && rules->mxfp4_byte_0 == NG_MXFP4_BYTE_0_NORMAL)
        mpfr_mul_ui(divisor, divisor, 2, MPFR_RNDN);
    grid = ng_oracle_scaled_grid(NG_FORMAT_E2M1, divisor);
    mpfr_clear(divisor);
    return grid;
}

void ng_oracle_mxfp4_block(const ng_mxfp4 *y, int64_t r, int64_t first,
                           int64_t end, bool is_nan, const ng_options *options)
{
    ng_oracle_context *c = ng_oracle_here();
    uint8_t *row = y->codes + r * y->ld;
    ng_oracle_grid *grid = NULL;

    for (int64_t i = 0; is_nan && i < end - first; i++)
        mpfr_set_nan(c->element[i]);
    block_scale(c->unit, (const mpfr_t *)c->element, end - first,
                options->rules);
    if (mpfr_nan_p(c->unit) == 0)
        grid = grid_under(c->unit, options->rules);
    ng_oracle_store_scale(&y->scales, r, first / NG_ORACLE_MXFP4_BLOCK,
                          ng_oracle_blocks(y->cols, NG_ORACLE_MXFP4_BLOCK),
                          c->unit);

    for (int64_t col = first; col < end; col++) {
        unsigned bits = 0;
        uint32_t code = 0;

        if (grid == NULL) {
            bits = 1u << NG_EVENT_NAN;
            if (options->rules->block_nan == NG_BLOCK_NAN_CODED
                || options->rules->block_nan == NG_BLOCK_NAN_INFINITY_LARGEST)
                code = ng_oracle_nan(NG_FORMAT_E2M1, options->rules, false);
        } else {
            code = ng_oracle_round(
                grid, c->element[col - first], options->rules,
                ng_oracle_random(options, r, col, y->cols), &bits);
        }
        ng_oracle_store_nibble(row, col, code);
        ng_oracle_count(options, bits);
    }
}
