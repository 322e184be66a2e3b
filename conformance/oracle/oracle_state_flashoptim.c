/* SPDX-License-Identifier: Apache-2.0
 *
 * Profile flashoptim: FP32, an operation a line, in the published order.
 */
#include "conformance/oracle/oracle_ieee.h"
#include "conformance/oracle/oracle_round.h"
#include "conformance/oracle/oracle_state.h"

/* The largest of what is no NaN, not below 1e-12 (0x2B8CBCCC). */
static const uint32_t least_largest = 0x2B8CBCCC;

/* floor(x + 0.5), a NaN 0. */
static long round_half_up(mpfr_srcptr x)
{
    MPFR_DECL_INIT(y, NG_ORACLE_FP32_BITS);

    mpfr_set_d(y, 0.5, MPFR_RNDN);
    ng_oracle_add(y, x, y);
    return mpfr_nan_p(y) ? 0 : mpfr_get_si(y, MPFR_RNDD);
}

static uint8_t momentum_code(mpfr_srcptr m, mpfr_srcptr a,
                             ng_state_coding coding)
{
    MPFR_DECL_INIT(n, NG_ORACLE_FP32_BITS);
    MPFR_DECL_INIT(twice, NG_ORACLE_FP32_BITS);
    MPFR_DECL_INIT(d, NG_ORACLE_FP32_BITS);
    MPFR_DECL_INIT(other, NG_ORACLE_FP32_BITS);

    ng_oracle_div(n, m, a);
    if (coding == NG_STATE_COMPANDED) {
        ng_oracle_add(twice, n, n);
        mpfr_abs(d, n, MPFR_RNDN);
        mpfr_set_ui(other, 1, MPFR_RNDN);
        ng_oracle_add(d, other, d);
        ng_oracle_div(n, twice, d);
    }
    mpfr_set_ui(other, 127, MPFR_RNDN);
    ng_oracle_mul(n, n, other);
    return (uint8_t)round_half_up(n);
}

static uint8_t variance_code(mpfr_srcptr v, mpfr_srcptr a,
                             ng_state_coding coding)
{
    MPFR_DECL_INIT(n, NG_ORACLE_FP32_BITS);
    MPFR_DECL_INIT(other, NG_ORACLE_FP32_BITS);

    mpfr_set(n, v, MPFR_RNDN);
    if (coding == NG_STATE_COMPANDED)
        ng_oracle_sqrt(n, n);
    ng_oracle_div(n, n, a);
    mpfr_set_ui(other, 255, MPFR_RNDN);
    ng_oracle_mul(n, n, other);

    /* Below zero only a linear v can be: an unsigned code stops at 0. */
    if (mpfr_nan_p(n) || mpfr_sgn(n) <= 0)
        return 0;
    return (uint8_t)round_half_up(n);
}

/* What makes the scale is the largest of these. It is a magnitude of linear
 * variance too, as published; profile ng, which takes no v < 0, asks for v. */
static void measure(mpfr_ptr a, mpfr_srcptr x, ng_state_kind kind,
                    ng_state_coding coding)
{
    if (kind == NG_VARIANCE && coding == NG_STATE_COMPANDED)
        ng_oracle_sqrt(a, x);
    else
        mpfr_abs(a, x, MPFR_RNDN);
}

void ng_oracle_code_group_flashoptim(uint8_t *codes, uint16_t *scale,
                                     const mpfr_t *x, int n, ng_state_kind kind,
                                     ng_state_coding coding,
                                     ng_group_counts *counts)
{
    static const ng_rules rules = {.rounding = NG_NEAREST_EVEN,
                                   .overflow = NG_IEEE};
    MPFR_DECL_INIT(a, NG_ORACLE_FP32_BITS);
    MPFR_DECL_INIT(one, NG_ORACLE_FP32_BITS);
    bool nan = false;
    unsigned events = 0;

    mpfr_set_zero(a, 1);
    for (int i = 0; i < n; i++) {
        nan |=
            !mpfr_number_p(x[i]) || (kind == NG_VARIANCE && mpfr_sgn(x[i]) < 0);
        measure(one, x[i], kind, coding);
        if (!mpfr_nan_p(one) && mpfr_cmp(one, a) > 0)
            mpfr_set(a, one, MPFR_RNDN);
    }

    const bool some = mpfr_sgn(a) > 0;

    ng_oracle_from_fp32(one, least_largest);
    if (mpfr_cmp(one, a) > 0)
        mpfr_set(a, one, MPFR_RNDN);
    *scale = (uint16_t)ng_oracle_round(ng_oracle_grid_of(NG_FORMAT_FP16), a,
                                       &rules, 0, &events);
    if (nan)
        counts->nan++;
    else if ((events & 1u << NG_EVENT_SATURATED) != 0)
        counts->saturated++;
    else if (some && *scale == 0)
        counts->lost++;
    for (int i = 0; i < n; i++)
        codes[i] = kind == NG_MOMENTUM ? momentum_code(x[i], a, coding)
                                       : variance_code(x[i], a, coding);
}

void ng_oracle_decode_code_flashoptim(mpfr_ptr y, uint8_t code, uint16_t scale,
                                      ng_state_kind kind,
                                      ng_state_coding coding)
{
    MPFR_DECL_INIT(t, NG_ORACLE_FP32_BITS);
    MPFR_DECL_INIT(d, NG_ORACLE_FP32_BITS);
    MPFR_DECL_INIT(s, NG_ORACLE_FP32_BITS);

    mpfr_set_si(
        t, kind == NG_MOMENTUM && code > 127 ? (long)code - 256 : (long)code,
        MPFR_RNDN);
    mpfr_set_ui(d, kind == NG_MOMENTUM ? 127 : 255, MPFR_RNDN);
    ng_oracle_div(t, t, d);
    if (kind == NG_MOMENTUM && coding == NG_STATE_COMPANDED) {
        MPFR_DECL_INIT(two, NG_ORACLE_FP32_BITS);

        mpfr_set_ui(two, 2, MPFR_RNDN);
        mpfr_abs(d, t, MPFR_RNDN);
        ng_oracle_sub(d, two, d);
        ng_oracle_div(t, t, d);
    }
    ng_oracle_value(s, NG_FORMAT_FP16, scale);
    ng_oracle_mul(y, t, s);
    if (kind == NG_VARIANCE && coding == NG_STATE_COMPANDED)
        ng_oracle_mul(y, y, y);
}
