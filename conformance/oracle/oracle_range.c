/* SPDX-License-Identifier: Apache-2.0
 *
 * The rules of oracle_range.h. Let x, y be reals, x', y' the FP32 numbers that
 * stand for them, |x' - x| <= X, |y' - y| <= Y, u = 2^-24 and e = 2^-150 (half
 * the smallest subnormal). Without overflow fl(z) = z (1 + d) + t with |d| <=
 * u, |t| <= e, one of the two zero; t = 0 for sums, which are exact below
 * 2^-126, and for roots, which are never that small. Hence the error of
 *
 *   x + y     W + u (|x + y| + W),      W = X + Y
 *   x * y     W + u (|x y| + W) + e,    W = |x| Y + |y| X + X Y
 *   x / y     W + u (|x / y| + W) + e,  W = (X + |x/y| Y) / (|y| - Y), Y < |y|,
 *             since x'/y' - x/y = ((x' - x) - (x/y) (y' - y)) / y'
 *   sqrt x    W + u (sqrt x + W),       W = min(X / sqrt x, sqrt X),
 *             since |sqrt x' - sqrt x| = |x' - x| / (sqrt x' + sqrt x)
 *   sign x    0 if X < |x| or x = X = 0, else 2
 *
 * MPFR's own rounding, 2^-512 of each value, is added; errors round upward.
 */
#include "conformance/oracle/oracle_range.h"

#include <stdbool.h>

enum { VALUE_BITS = 512, ERROR_BITS = 64, U = -24, E = -150 };

typedef ng_oracle_range range;

void ng_oracle_range_init(range *y)
{
    mpfr_init2(y->value, VALUE_BITS);
    mpfr_init2(y->error, ERROR_BITS);
    mpfr_set_zero(y->value, 1);
    mpfr_set_zero(y->error, 1);
}

void ng_oracle_range_clear(range *y)
{
    mpfr_clear(y->value);
    mpfr_clear(y->error);
}

void ng_oracle_range_set(range *y, float x)
{
    mpfr_set_flt(y->value, x, MPFR_RNDN);
    mpfr_set_zero(y->error, 1);
}

void ng_oracle_range_copy(range *y, const range *x)
{
    mpfr_set(y->value, x->value, MPFR_RNDN);
    mpfr_set(y->error, x->error, MPFR_RNDU);
}

/* y = the result z with the error w of its operands, rounded once: w + u (|z| +
 * w), + e where products underflow. No bound past the largest FP32 number. */
static void settle(range *y, mpfr_srcptr z, mpfr_srcptr w, bool product)
{
    MPFR_DECL_INIT(most, ERROR_BITS);
    MPFR_DECL_INIT(rounding, ERROR_BITS);

    mpfr_abs(most, z, MPFR_RNDU);
    mpfr_add(most, most, w, MPFR_RNDU);
    mpfr_mul_2si(rounding, most, U, MPFR_RNDU);
    mpfr_set(y->value, z, MPFR_RNDN);
    mpfr_add(y->error, w, rounding, MPFR_RNDU);
    if (product) {
        mpfr_set_ui_2exp(rounding, 1, E, MPFR_RNDU);
        mpfr_add(y->error, y->error, rounding, MPFR_RNDU);
    }
    mpfr_mul_2si(rounding, most, -VALUE_BITS, MPFR_RNDU);
    mpfr_add(y->error, y->error, rounding, MPFR_RNDU);

    mpfr_add(most, most, y->error, MPFR_RNDU);
    mpfr_set_ui_2exp(rounding, 1, 128, MPFR_RNDD);
    if (!mpfr_number_p(most) || mpfr_cmp(most, rounding) >= 0)
        mpfr_set_inf(y->error, 1);
}

void ng_oracle_range_sum(range *y, const range *a, const range *b, bool minus)
{
    MPFR_DECL_INIT(z, VALUE_BITS);
    MPFR_DECL_INIT(w, ERROR_BITS);

    if (minus)
        mpfr_sub(z, a->value, b->value, MPFR_RNDN);
    else
        mpfr_add(z, a->value, b->value, MPFR_RNDN);
    mpfr_add(w, a->error, b->error, MPFR_RNDU);
    settle(y, z, w, false);
}

/* w = |x| X, upward. */
static void magnify(mpfr_ptr w, mpfr_srcptr x, mpfr_srcptr error)
{
    MPFR_DECL_INIT(magnitude, ERROR_BITS);

    mpfr_abs(magnitude, x, MPFR_RNDU);
    mpfr_mul(w, magnitude, error, MPFR_RNDU);
}

void ng_oracle_range_product(range *y, const range *a, const range *b)
{
    MPFR_DECL_INIT(z, VALUE_BITS);
    MPFR_DECL_INIT(w, ERROR_BITS);
    MPFR_DECL_INIT(more, ERROR_BITS);

    mpfr_mul(z, a->value, b->value, MPFR_RNDN);
    magnify(w, a->value, b->error);
    magnify(more, b->value, a->error);
    mpfr_add(w, w, more, MPFR_RNDU);
    mpfr_mul(more, a->error, b->error, MPFR_RNDU);
    mpfr_add(w, w, more, MPFR_RNDU);
    settle(y, z, w, true);
}

void ng_oracle_range_quotient(range *y, const range *a, const range *b)
{
    MPFR_DECL_INIT(z, VALUE_BITS);
    MPFR_DECL_INIT(w, ERROR_BITS);
    MPFR_DECL_INIT(least, ERROR_BITS);

    mpfr_div(z, a->value, b->value, MPFR_RNDN);
    mpfr_abs(least, b->value, MPFR_RNDD);
    mpfr_sub(least, least, b->error, MPFR_RNDD);
    magnify(w, z, b->error);
    mpfr_add(w, w, a->error, MPFR_RNDU);
    if (mpfr_sgn(least) > 0)
        mpfr_div(w, w, least, MPFR_RNDU);
    else
        mpfr_set_inf(w, 1);
    settle(y, z, w, true);
}

void ng_oracle_range_root(range *y, const range *a)
{
    MPFR_DECL_INIT(z, VALUE_BITS);
    MPFR_DECL_INIT(w, ERROR_BITS);
    MPFR_DECL_INIT(other, ERROR_BITS);

    mpfr_sqrt(z, a->value, MPFR_RNDN);
    mpfr_sqrt(w, a->error, MPFR_RNDU);
    if (mpfr_sgn(z) > 0) {
        mpfr_set(other, z, MPFR_RNDD);
        mpfr_div(other, a->error, other, MPFR_RNDU);
        if (mpfr_cmp(other, w) < 0)
            mpfr_set(w, other, MPFR_RNDU);
    }
    settle(y, z, w, false);
}

void ng_oracle_range_sign(range *y, const range *a)
{
    const int order = mpfr_cmpabs(a->value, a->error);
    const bool zero = mpfr_zero_p(a->value) && mpfr_zero_p(a->error);

    mpfr_set_si(y->value, mpfr_sgn(a->value), MPFR_RNDN);
    mpfr_set_ui(y->error, order > 0 || zero ? 0 : 2, MPFR_RNDU);
}

bool ng_oracle_within(const ng_oracle_range *x, float result)
{
    MPFR_DECL_INIT(off, VALUE_BITS);

    if (!mpfr_number_p(x->error))
        return true; /* no claim */
    mpfr_set_flt(off, result, MPFR_RNDN);
    mpfr_sub(off, off, x->value, MPFR_RNDA);
    return mpfr_cmpabs(off, x->error) <= 0;
}
