/* SPDX-License-Identifier: Apache-2.0
 *
 * Profile ng: codes are the nearest integers to exact quotients, found by
 * comparing exact products. Nothing is rounded but what semantics section 9
 * names: the square root, the scale and the decoder's steps.
 */
#include <stdlib.h>

#include "conformance/oracle/oracle_ieee.h"
#include "conformance/oracle/oracle_round.h"
#include "conformance/oracle/oracle_state.h"

/* s + |m| reaches from 2^18 down to 2^-149; the products below have 9 bits
 * more. Every ternary value is checked. */
enum { WIDE_BITS = 192 };

/* min(limit, RNI(n / d)) for n >= 0, d > 0: the k with (2k-1) d <= 2n <= (2k+1)
 * d, of two the even one. */
static uint8_t nearest_quotient(mpfr_srcptr n, mpfr_srcptr d,
                                unsigned long limit)
{
    MPFR_DECL_INIT(twice, NG_ORACLE_BITS);
    MPFR_DECL_INIT(product, WIDE_BITS);
    MPFR_DECL_INIT(quotient, NG_ORACLE_BITS);

    ng_oracle_require_exact(mpfr_mul_2ui(twice, n, 1, MPFR_RNDN));
    ng_oracle_require_exact(mpfr_mul_ui(product, d, 2 * limit - 1, MPFR_RNDN));
    if (mpfr_cmp(twice, product) > 0)
        return (uint8_t)limit;

    /* Truncating to 64 bits does not change the integer part. */
    mpfr_div(quotient, n, d, MPFR_RNDZ);

    const unsigned long k = mpfr_get_ui(quotient, MPFR_RNDZ);

    ng_oracle_require_exact(mpfr_mul_ui(product, d, 2 * k, MPFR_RNDN));
    if (mpfr_cmp(product, twice) > 0)
        abort();
    ng_oracle_require_exact(mpfr_mul_ui(product, d, 2 * k + 1, MPFR_RNDN));

    const int order = mpfr_cmp(twice, product);

    return (uint8_t)(k + (order > 0 || (order == 0 && k % 2 == 1)));
}

/* What a code is measured by: |m|, r = RN32(sqrt v), or linear v itself. */
static void measure(mpfr_ptr a, mpfr_srcptr x, ng_state_kind kind,
                    ng_state_coding coding)
{
    if (kind == NG_MOMENTUM)
        mpfr_abs(a, x, MPFR_RNDN);
    else if (coding == NG_STATE_COMPANDED)
        ng_oracle_sqrt(a, x);
    else
        mpfr_set(a, x, MPFR_RNDN);
}

static uint8_t code_of(mpfr_srcptr x, mpfr_srcptr s, ng_state_kind kind,
                       ng_state_coding coding)
{
    MPFR_DECL_INIT(a, NG_ORACLE_FP32_BITS);
    MPFR_DECL_INIT(n, NG_ORACLE_BITS);
    MPFR_DECL_INIT(d, WIDE_BITS);
    const bool companded = coding == NG_STATE_COMPANDED;
    const unsigned long limit = kind == NG_MOMENTUM ? 127 : 255;
    const unsigned long factor = kind == NG_VARIANCE ? 255
                                 : companded         ? 254
                                                     : 127;

    measure(a, x, kind, coding);
    ng_oracle_require_exact(mpfr_mul_ui(n, a, factor, MPFR_RNDN));
    if (kind == NG_MOMENTUM && companded)
        ng_oracle_require_exact(mpfr_add(d, s, a, MPFR_RNDN));
    else
        ng_oracle_require_exact(mpfr_set(d, s, MPFR_RNDN));

    const uint8_t code = nearest_quotient(n, d, limit);

    if (kind == NG_MOMENTUM)
        return mpfr_signbit(x) ? (uint8_t)(256u - code) : code;
    return companded && code == 0 && mpfr_sgn(x) > 0 ? 1 : code;
}

void ng_oracle_code_group_ng(uint8_t *codes, uint16_t *scale, const mpfr_t *x,
                             int n, ng_state_kind kind, ng_state_coding coding,
                             ng_group_counts *counts)
{
    MPFR_DECL_INIT(a, NG_ORACLE_FP32_BITS);
    MPFR_DECL_INIT(one, NG_ORACLE_FP32_BITS);
    MPFR_DECL_INIT(s, NG_ORACLE_BITS);
    bool nan = false;
    unsigned events = 0;

    mpfr_set_zero(a, 1);
    for (int i = 0; i < n; i++) {
        nan |=
            !mpfr_number_p(x[i]) || (kind == NG_VARIANCE && mpfr_sgn(x[i]) < 0);
        if (nan)
            break;
        measure(one, x[i], kind, coding);
        if (mpfr_cmp(one, a) > 0)
            mpfr_set(a, one, MPFR_RNDN);
    }
    if (nan) {
        *scale = 0xFFFF;
        for (int i = 0; i < n; i++)
            codes[i] = 0;
        counts->nan++;
        return;
    }

    *scale = (uint16_t)ng_oracle_round(ng_oracle_grid_of(NG_FORMAT_UE6M10), a,
                                       &ng_default_rules, 0, &events);
    ng_oracle_value(s, NG_FORMAT_UE6M10, *scale);
    if ((events & 1u << NG_EVENT_SATURATED) != 0)
        counts->saturated++;
    else if (mpfr_sgn(a) > 0 && mpfr_zero_p(s))
        counts->lost++;
    for (int i = 0; i < n; i++)
        codes[i] = mpfr_zero_p(s) ? 0 : code_of(x[i], s, kind, coding);
}

void ng_oracle_decode_code_ng(mpfr_ptr y, uint8_t code, uint16_t scale,
                              ng_state_kind kind, ng_state_coding coding)
{
    MPFR_DECL_INIT(q, NG_ORACLE_FP32_BITS);
    MPFR_DECL_INIT(d, NG_ORACLE_FP32_BITS);
    MPFR_DECL_INIT(s, NG_ORACLE_FP32_BITS);
    const long number =
        kind == NG_MOMENTUM && code > 127 ? (long)code - 256 : (long)code;

    mpfr_set_si(q, number, MPFR_RNDN);
    if (kind == NG_VARIANCE)
        mpfr_set_si(d, 255, MPFR_RNDN);
    else if (coding == NG_STATE_COMPANDED)
        mpfr_set_si(d, 254 - labs(number), MPFR_RNDN);
    else
        mpfr_set_si(d, 127, MPFR_RNDN);
    ng_oracle_value(s, NG_FORMAT_UE6M10, scale);
    ng_oracle_div(y, q, d);
    ng_oracle_mul(y, y, s);
    if (kind == NG_VARIANCE && coding == NG_STATE_COMPANDED)
        ng_oracle_mul(y, y, y);
}
