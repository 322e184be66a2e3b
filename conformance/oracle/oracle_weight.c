/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/oracle/oracle_weight.h"

#include <stdlib.h>

#include "conformance/oracle/oracle_ieee.h"
#include "conformance/oracle/oracle_round.h"

static ng_format_id format_of(ng_dtype dtype)
{
    return dtype == NG_BF16 ? NG_FORMAT_BF16 : NG_FORMAT_FP16;
}

/* Round a real to the low format, infinite past the end. */
static uint32_t to_low(ng_format_id id, mpfr_srcptr x, ng_rounding rounding)
{
    const ng_rules rules = {.rounding = (int)rounding, .overflow = NG_IEEE};
    unsigned events = 0;

    return ng_oracle_round(ng_oracle_grid_of(id), x, &rules, 0, &events);
}

static bool is_infinite(const ng_oracle_format *format, uint32_t low)
{
    return (low & ~format->sign) == format->infinity;
}

/* e with 2^e <= |x| < 2^(e + 1), not below the format's least binade. */
static long binade(const ng_oracle_format *format, mpfr_srcptr x)
{
    const long least = 1 - format->bias;
    const long e = mpfr_regular_p(x) ? (long)mpfr_get_exp(x) - 1 : least;

    return e > least ? e : least;
}

/* ---- ulp ---- */

/* Between two neighbours of the low format the values of F_n are 2^n equal
 * steps, and codes count them: nearest with ties away of the code is that of
 * the value, and rho is the distance from low in those steps. */
static ng_oracle_pair split_ulp(mpfr_srcptr theta, ng_format_id id, int n)
{
    const ng_oracle_format *format = &ng_oracle_formats[id];
    MPFR_DECL_INIT(x, NG_ORACLE_BITS);
    MPFR_DECL_INIT(step, NG_ORACLE_BITS);
    ng_oracle_pair pair = {0};

    if (!mpfr_number_p(theta)) {
        pair.low = to_low(id, theta, NG_NEAREST_EVEN);
        return pair;
    }

    /* RNE_Fn(theta): a whole number of steps of F_n in theta's binade. */
    const long spacing =
        binade(format, theta) - (long)format->fraction_bits - n;

    ng_oracle_require_exact(mpfr_mul_2si(x, theta, -spacing, MPFR_RNDN));
    mpfr_rint(x, x, MPFR_RNDN);
    ng_oracle_require_exact(mpfr_mul_2si(x, x, spacing, MPFR_RNDN));

    pair.low = to_low(id, x, n > 0 ? NG_NEAREST_AWAY : NG_NEAREST_EVEN);
    if (is_infinite(format, pair.low)) {
        pair.low = (pair.low & format->sign) | format->max;
        pair.rho = n > 0 ? (1L << (n - 1)) - 1 : 0;
        pair.saturated = true;
        return pair;
    }
    if (n == 0)
        return pair;

    /* From the one neighbour of low to the other lies x's own binade. */
    const long unit = binade(format, x) - (long)format->fraction_bits - n;

    ng_oracle_value(step, id, pair.low & ~format->sign);
    mpfr_abs(x, x, MPFR_RNDN);
    ng_oracle_require_exact(mpfr_sub(step, x, step, MPFR_RNDN));
    ng_oracle_require_exact(mpfr_mul_2si(step, step, -unit, MPFR_RNDN));
    if (!mpfr_integer_p(step))
        abort();
    pair.rho = mpfr_get_si(step, MPFR_RNDN);
    return pair;
}

/* The value of the F_n code (low << n) + rho, modulo 2^(16 + n), by the
 * definition of a format with p = fraction_bits + n fraction bits. */
static void merge_ulp(mpfr_ptr theta, ng_oracle_pair pair, ng_format_id id,
                      int n)
{
    const ng_oracle_format *format = &ng_oracle_formats[id];
    const unsigned p = format->fraction_bits + (unsigned)n;
    const uint64_t sign = UINT64_C(1) << (15 + n);
    const uint64_t code =
        (((uint64_t)pair.low << n) + (uint64_t)pair.rho) % (2 * sign);
    const uint64_t field = code % sign >> p;
    const uint64_t fraction = code % (UINT64_C(1) << p);
    const uint64_t last_field = (sign >> p) - 1;
    MPFR_DECL_INIT(x, NG_ORACLE_BITS);

    if (field == last_field && fraction != 0) {
        mpfr_set_nan(theta);
        return;
    }
    if (field == last_field) {
        mpfr_set_inf(x, 1);
    } else {
        mpfr_set_ui(x, fraction + (field > 0 ? UINT64_C(1) << p : 0),
                    MPFR_RNDN);
        mpfr_mul_2si(x, x,
                     (field > 0 ? (long)field : 1) - format->bias - (long)p,
                     MPFR_RNDN);
    }
    mpfr_setsign(x, x, code >= sign, MPFR_RNDN);
    ng_oracle_round_to(theta, x);
}

/* ---- flashoptim: FP32, an operation a line ---- */

static const unsigned long full_scale[2] = {127, 32767};

static ng_oracle_pair split_flashoptim(mpfr_srcptr theta, ng_format_id id,
                                       int n)
{
    const ng_oracle_format *format = &ng_oracle_formats[id];
    MPFR_DECL_INIT(low, NG_ORACLE_FP32_BITS);
    MPFR_DECL_INIT(x, NG_ORACLE_FP32_BITS);
    MPFR_DECL_INIT(other, NG_ORACLE_FP32_BITS);
    ng_oracle_pair pair = {.low = to_low(id, theta, NG_NEAREST_EVEN)};

    ng_oracle_value(low, id, pair.low);
    pair.saturated = mpfr_number_p(theta) && mpfr_inf_p(low);
    if (n == 0 || !mpfr_number_p(low))
        return pair;

    const long l = binade(format, low) - (long)format->fraction_bits - 1;

    ng_oracle_sub(x, theta, low);
    ng_oracle_scale(x, x, -l);
    if (mpfr_cmp_si(x, 1) > 0)
        mpfr_set_si(x, 1, MPFR_RNDN);
    if (mpfr_cmp_si(x, -1) < 0)
        mpfr_set_si(x, -1, MPFR_RNDN);
    mpfr_set_ui(other, full_scale[n / 16], MPFR_RNDN);
    ng_oracle_mul(x, x, other);

    const bool negative = mpfr_signbit(x) != 0;

    mpfr_abs(x, x, MPFR_RNDN);
    mpfr_set_d(other, 0.5, MPFR_RNDN);
    ng_oracle_add(x, x, other);
    pair.rho = mpfr_get_si(x, MPFR_RNDD);
    if (negative)
        pair.rho = -pair.rho;
    return pair;
}

static void merge_flashoptim(mpfr_ptr theta, ng_oracle_pair pair,
                             ng_format_id id, int n)
{
    const ng_oracle_format *format = &ng_oracle_formats[id];
    MPFR_DECL_INIT(low, NG_ORACLE_FP32_BITS);
    MPFR_DECL_INIT(x, NG_ORACLE_FP32_BITS);
    MPFR_DECL_INIT(m, NG_ORACLE_FP32_BITS);

    ng_oracle_value(low, id, pair.low);
    if (n == 0 || !mpfr_number_p(low)) {
        mpfr_set(theta, low, MPFR_RNDN);
        return;
    }
    mpfr_set_si(x, pair.rho, MPFR_RNDN);
    mpfr_set_ui(m, full_scale[n / 16], MPFR_RNDN);
    ng_oracle_div(x, x, m);
    ng_oracle_scale(x, x,
                    binade(format, low) - (long)format->fraction_bits - 1);
    ng_oracle_add(theta, low, x);
}

/* ---- either ---- */

ng_oracle_pair ng_oracle_split(mpfr_srcptr theta, ng_dtype dtype, int n,
                               int split)
{
    return split == NG_SPLIT_ULP ? split_ulp(theta, format_of(dtype), n)
                                 : split_flashoptim(theta, format_of(dtype), n);
}

void ng_oracle_merge(mpfr_ptr theta, ng_oracle_pair pair, ng_dtype dtype, int n,
                     int split)
{
    if (split == NG_SPLIT_ULP)
        merge_ulp(theta, pair, format_of(dtype), n);
    else
        merge_flashoptim(theta, pair, format_of(dtype), n);
}
