/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/oracle/oracle_mx_block.h"

#include <stdlib.h>

#include "conformance/oracle/oracle_round.h"
#include "conformance/oracle/oracle_view.h"

/* An element format as the rules of section 3 see it. */
typedef struct mx {
    ng_format_id element;
    mpfr_exp_t emax;  /* its largest power of two is 2^emax */
    mpfr_prec_t bits; /* of a significand */
    unsigned long largest;
    float share;          /* RN32(1 / largest) */
    double rounds_to_inf; /* the least that `bits` bits take to 2^128 */
} mx;

static const mx mxfp4 = {NG_FORMAT_E2M1, 2, 2, 6, 0x1.555556p-3f, 0x1.cp127};
static const mx mxfp8 = {NG_FORMAT_E4M3, 8, 4, 448, 0x1.24924ap-9f, 0x1.fp127};

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

/* The exponent of RN32(amax / largest), or of RN32(amax * RN32(1/largest)),
 * rounded up: the number's own, or that of its logarithm in FP32. */
static mpfr_exp_t exponent_of_a_share(const mx *to, mpfr_srcptr amax, int mode)
{
    mpfr_exp_t e;
    mpfr_t s;

    mpfr_init2(s, NG_ORACLE_BITS);
    if (mode == NG_MX_RCEIL_FP32) {
        mpfr_set_flt(s, to->share, MPFR_RNDN);
        ng_oracle_require_exact(mpfr_mul(s, amax, s, MPFR_RNDN));
    } else {
        /* A third or a seventh has no end, or is exact; what has none lies on
         * no midpoint of FP32, and 64 bits say on which side. */
        mpfr_div_ui(s, amax, to->largest, MPFR_RNDN);
    }
    mpfr_set_flt(s, mpfr_get_flt(s, MPFR_RNDN), MPFR_RNDN);
    if (mpfr_zero_p(s) != 0 || mpfr_inf_p(s) != 0) {
        e = mpfr_zero_p(s) != 0 ? -200 : 200; /* past every scale */
    } else if (mode == NG_MX_RCEIL_FP32) {
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
static mpfr_exp_t exponent(const mx *to, mpfr_srcptr amax, int mode)
{
    const mpfr_exp_t floor_log2 = mpfr_get_exp(amax) - 1;

    if (mode == NG_MX_FLOOR)
        return floor_log2 - to->emax;
    if (mode == NG_MX_CEIL)
        return floor_log2 + (mpfr_cmp_ui_2exp(amax, 1, floor_log2) > 0)
               - to->emax;
    if (mode == NG_MX_RCEIL) {
        mpfr_exp_t e = floor_log2 - to->emax - 1; /* too small as yet */

        while (mpfr_cmp_ui_2exp(amax, to->largest, e) > 0)
            e++;
        return e;
    }
    if (mode == NG_MX_FLOOR_LOG2) {
        mpfr_exp_t e;
        mpfr_t log2_amax;

        mpfr_init2(log2_amax, 24); /* RN32: no logarithm is a subnormal */
        mpfr_log2(log2_amax, amax, MPFR_RNDN);
        e = mpfr_get_si(log2_amax, MPFR_RNDD) - to->emax;
        mpfr_clear(log2_amax);
        return e;
    }
    if (mode == NG_MX_RCEIL_FP32 || mode == NG_MX_RCEIL_LOG2)
        return exponent_of_a_share(to, amax, mode);
    if (mode != NG_MX_EVEN && mode != NG_MX_EVEN_FP32)
        abort();

    /* The bits of an element. What matters is only what reaches the next power of
     * two, and there a tie goes up, whether to even or away. */
    mpfr_t rounded;

    mpfr_init2(rounded, to->bits);
    mpfr_set(rounded, amax, MPFR_RNDN);

    const mpfr_exp_t e = mpfr_get_exp(rounded) - 1 - to->emax;

    mpfr_clear(rounded);
    return e;
}

/* Set *unit to the scale 2^e, -127 <= e <= 127. */
static void choose_scale(mpfr_ptr unit, const mx *to, mpfr_srcptr amax,
                         int mode)
{
    mpfr_exp_t e = mpfr_zero_p(amax) ? -127 : exponent(to, amax, mode);

    if (e < -127)
        e = -127;
    if (e > 127) /* section 7 only: it stops there */
        e = 127;
    mpfr_set_ui_2exp(unit, 1, e, MPFR_RNDN);
}

/* MXFP8's own rule of NaN: they take no part, as a block without them is. */
static bool amax_of_the_others(mpfr_ptr amax, const mpfr_t *element, int64_t n)
{
    bool finite = true;

    mpfr_set_zero(amax, 1);
    for (int64_t i = 0; i < n; i++) {
        if (mpfr_nan_p(element[i]) != 0)
            continue;
        finite &= mpfr_inf_p(element[i]) == 0;
        if (mpfr_cmpabs(element[i], amax) > 0)
            mpfr_abs(amax, element[i], MPFR_RNDN);
    }
    return finite;
}

/* Set *unit to the scale of the n elements: NaN, or a power of two. */
static void block_scale(mpfr_ptr unit, const mx *to, const mpfr_t *element,
                        int64_t n, const ng_rules *rules)
{
    ng_oracle_context *c = ng_oracle_here();
    const bool unseen =
        to == &mxfp8 && rules->block_nan == NG_BLOCK_NAN_UNSEEN_LARGEST;
    const int mode = to == &mxfp8 ? rules->mxfp8_scale : rules->mxfp4_scale;
    bool nan = false;

    for (int64_t i = 0; i < n; i++)
        nan |= mpfr_nan_p(element[i]) != 0;
    if (!(unseen ? amax_of_the_others(c->amax, element, n)
                 : ng_oracle_amax(c->amax, element, n))) {
        if (unseen || rules->block_nan == NG_BLOCK_NAN_LARGEST
            || (rules->block_nan == NG_BLOCK_NAN_INFINITY_LARGEST && !nan))
            mpfr_set_ui_2exp(unit, 1, 127, MPFR_RNDN);
        else
            mpfr_set_nan(unit);
        return;
    }
    ng_oracle_amax_at_least(c->amax, rules->block_least);
    /* Rounded in FP32, 2^128 is an infinity. */
    if (mode == NG_MX_EVEN_FP32
        && mpfr_cmp_d(c->amax, to->rounds_to_inf) >= 0)
        mpfr_set_nan(unit);
    else
        choose_scale(unit, to, c->amax, mode);
}

/* What the elements are divided by: the scale, or what a peer has for 2^-127. */
static ng_oracle_grid *grid_under(mpfr_srcptr unit, ng_format_id element,
                                  const ng_rules *rules)
{
    const bool least = mpfr_cmp_ui_2exp(unit, 1, -127) == 0;
    ng_oracle_grid *grid;
    mpfr_t divisor;

    if (least && rules->mxfp4_byte_0 == NG_MXFP4_BYTE_0_ONE)
        return ng_oracle_grid_of(element);
    mpfr_init2(divisor, NG_ORACLE_BITS);
    mpfr_set(divisor, unit, MPFR_RNDN);
    if (least && rules->mxfp4_byte_0 == NG_MXFP4_BYTE_0_NORMAL)
        mpfr_mul_ui(divisor, divisor, 2, MPFR_RNDN);
    grid = ng_oracle_scaled_grid(element, divisor);
    mpfr_clear(divisor);
    return grid;
}

/* The code of an element under a NaN scale. */
static uint32_t code_in_a_nan_block(const mx *to, const ng_rules *rules)
{
    if (to == &mxfp8 || rules->block_nan == NG_BLOCK_NAN_CODED
        || rules->block_nan == NG_BLOCK_NAN_INFINITY_LARGEST)
        return ng_oracle_nan(to->element, rules, false);
    return 0;
}

/* Code columns first .. end - 1 of a row, into code[0 ..], and set the context's
 * unit to their scale. */
static void code_block(uint32_t *code, const mx *to, int64_t r, int64_t first,
                       int64_t end, int64_t cols, const ng_options *options)
{
    ng_oracle_context *c = ng_oracle_here();
    ng_oracle_grid *grid = NULL;

    block_scale(c->unit, to, (const mpfr_t *)c->element, end - first,
                options->rules);
    if (mpfr_nan_p(c->unit) == 0)
        grid = grid_under(c->unit, to->element, options->rules);
    for (int64_t i = 0; i < end - first; i++) {
        unsigned bits = grid == NULL ? 1u << NG_EVENT_NAN : 0;

        code[i] = grid == NULL
                      ? code_in_a_nan_block(to, options->rules)
                      : ng_oracle_round(
                          grid, c->element[i], options->rules,
                          ng_oracle_random(options, r, first + i, cols), &bits);
        ng_oracle_count(options, bits);
    }
}

void ng_oracle_mxfp4_block(const ng_mxfp4 *y, int64_t r, int64_t first,
                           int64_t end, bool is_nan, const ng_options *options)
{
    ng_oracle_context *c = ng_oracle_here();
    uint32_t code[NG_ORACLE_MX_BLOCK] = {0};

    for (int64_t i = 0; is_nan && i < end - first; i++)
        mpfr_set_nan(c->element[i]);
    code_block(code, &mxfp4, r, first, end, y->cols, options);
    ng_oracle_store_scale(&y->scales, r, first / NG_ORACLE_MX_BLOCK,
                          ng_oracle_blocks(y->cols, NG_ORACLE_MX_BLOCK),
                          c->unit);
    for (int64_t col = first; col < end; col++)
        ng_oracle_store_nibble(y->codes + r * y->ld, col, code[col - first]);
}

void ng_oracle_mxfp8_block(const ng_mxfp8 *y, int64_t r, int64_t first,
                           int64_t end, const ng_options *options)
{
    uint32_t code[NG_ORACLE_MX_BLOCK] = {0};

    code_block(code, &mxfp8, r, first, end, y->cols, options);
    ng_oracle_store_scale(&y->scales, r, first / NG_ORACLE_MX_BLOCK,
                          ng_oracle_blocks(y->cols, NG_ORACLE_MX_BLOCK),
                          ng_oracle_here()->unit);
    for (int64_t col = first; col < end; col++)
        y->codes[r * y->ld + col] = (uint8_t)code[col - first];
}
