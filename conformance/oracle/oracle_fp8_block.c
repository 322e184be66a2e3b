/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/oracle/oracle_fp8_block.h"

#include "conformance/oracle/oracle_mxfp4_block.h"
#include "conformance/oracle/oracle_round.h"
#include "conformance/oracle/oracle_view.h"

ng_status ng_oracle_fp8_rules(const ng_rules *rules, ng_dtype scales)
{
    if (rules->fp8_scale == NG_FP8_POW2)
        return NG_OK;
    return rules->rounding == NG_STOCHASTIC || scales != NG_FP32 ? NG_BAD_RULES
                                                                 : NG_OK;
}

/* Set *s to the scale of a block of this amax. */
static void choose_scale(mpfr_ptr s, mpfr_srcptr amax, int kind)
{
    if (mpfr_zero_p(amax)) {
        mpfr_set_ui(s, 1, MPFR_RNDN);
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

void ng_oracle_fp8_block(const ng_fp8 *y, const ng_oracle_fp8_part *part,
                         const ng_options *options)
{
    ng_oracle_context *c = ng_oracle_here();
    const int64_t n = (part->r1 - part->r0) * (part->c1 - part->c0);
    ng_oracle_grid *grid = NULL;

    if (ng_oracle_amax(c->amax, (const mpfr_t *)c->element, n)) {
        choose_scale(c->unit, c->amax, options->rules->fp8_scale);
        grid = ng_oracle_scaled_grid(NG_FORMAT_E4M3, c->unit);
    } else {
        mpfr_set_nan(c->unit);
    }
    ng_oracle_store_scale(&y->scales, part->line, part->j, part->n, c->unit);

    for (int64_t r = part->r0; r < part->r1; r++) {
        for (int64_t col = part->c0; col < part->c1; col++) {
            const int64_t i = ng_oracle_fp8_index(part, r, col);
            unsigned bits = 1u << NG_EVENT_NAN;
            uint32_t code = 0x7F;

            if (grid != NULL) {
                bits = c->bits[i];
                code = ng_oracle_round(
                    grid, c->element[i], options->rules,
                    ng_oracle_random(options, r, col, y->cols), &bits);
            }
            *ng_oracle_fp8_code(y, r, col) = (uint8_t)code;
            ng_oracle_count(options, bits);
        }
    }
}
