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
    if (mode != NG_MXFP4_EVEN)
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

void ng_oracle_mxfp4_block(const ng_mxfp4 *y, int64_t r, int64_t first,
                           int64_t end, bool is_nan, const ng_options *options)
{
    ng_oracle_context *c = ng_oracle_here();
    uint8_t *row = y->codes + r * y->ld;
    ng_oracle_grid *grid = NULL;

    if (is_nan
        || !ng_oracle_amax(c->amax, (const mpfr_t *)c->element, end - first)) {
        mpfr_set_nan(c->unit);
    } else {
        choose_scale(c->unit, c->amax, options->rules->mxfp4_scale);
        grid = ng_oracle_scaled_grid(NG_FORMAT_E2M1, c->unit);
    }
    ng_oracle_store_scale(&y->scales, r, first / NG_ORACLE_MXFP4_BLOCK,
                          ng_oracle_blocks(y->cols, NG_ORACLE_MXFP4_BLOCK),
                          c->unit);

    for (int64_t col = first; col < end; col++) {
        unsigned bits = 0;
        uint32_t code = 0;

        if (grid == NULL)
            bits = 1u << NG_EVENT_NAN;
        else
            code = ng_oracle_round(
                grid, c->element[col - first], options->rules,
                ng_oracle_random(options, r, col, y->cols), &bits);
        ng_oracle_store_nibble(row, col, code);
        ng_oracle_count(options, bits);
    }
}
