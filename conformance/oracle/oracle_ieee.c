/* SPDX-License-Identifier: Apache-2.0
 *
 * MPFR's exponents have no end, so each result is first computed toward zero to
 * 64 bits. Where that was inexact one more bit is set below: the value then
 * lies strictly between the same two numbers of 64 bits as the exact result,
 * hence on the same side of every FP64 and FP32 number and midpoint, and
 * rounding it is rounding the exact result (rounding to odd).
 */
#include "conformance/oracle/oracle_ieee.h"

#include <stdbool.h>
#include <stdlib.h>

#include "conformance/oracle/oracle_format.h"
#include "conformance/oracle/oracle_round.h"
#include "formats/fp32.h"

enum { CUT_BITS = 64, ODD_BITS = CUT_BITS + 1 };

typedef struct limits {
    long least; /* 2^least is the smallest subnormal */
    long end;   /* every finite number lies below 2^end */
} limits;

static limits limits_of(mpfr_srcptr y)
{
    switch (mpfr_get_prec(y)) {
    case NG_ORACLE_FP32_BITS:
        return (limits){-149, 128};
    case NG_ORACLE_FP64_BITS:
        return (limits){-1074, 1024};
    default:
        abort();
    }
}

/* Round a number below the smallest normal one to a multiple of 2^least. */
static void round_subnormal(mpfr_ptr y, mpfr_srcptr x, long least)
{
    mpfr_t units;

    mpfr_init2(units, mpfr_get_prec(x));
    ng_oracle_require_exact(mpfr_mul_2si(units, x, -least, MPFR_RNDN));
    mpfr_rint(units, units, MPFR_RNDN); /* ties to even; keeps -0 */
    ng_oracle_require_exact(mpfr_mul_2si(y, units, least, MPFR_RNDN));
    mpfr_clear(units);
}

void ng_oracle_round_to(mpfr_ptr y, mpfr_srcptr x)
{
    const limits limit = limits_of(y);

    if (mpfr_regular_p(x)
        && mpfr_get_exp(x) < limit.least + (long)mpfr_get_prec(y)) {
        round_subnormal(y, x, limit.least);
        return;
    }
    mpfr_set(y, x, MPFR_RNDN);
    if (mpfr_regular_p(y) && mpfr_get_exp(y) > limit.end)
        mpfr_set_inf(y, mpfr_sgn(y));
}

typedef int operation(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);

static void perform(mpfr_ptr y, operation *op, mpfr_srcptr a, mpfr_srcptr b)
{
    MPFR_DECL_INIT(cut, CUT_BITS);
    MPFR_DECL_INIT(odd, ODD_BITS);

    if (op(cut, a, b, MPFR_RNDZ) == 0) {
        ng_oracle_round_to(y, cut);
        return;
    }
    ng_oracle_require_exact(mpfr_set(odd, cut, MPFR_RNDN));
    if (mpfr_signbit(odd))
        mpfr_nextbelow(odd);
    else
        mpfr_nextabove(odd);
    ng_oracle_round_to(y, odd);
}

static int root(mpfr_ptr y, mpfr_srcptr a, mpfr_srcptr unused,
                mpfr_rnd_t rounding)
{
    (void)unused;
    return mpfr_sqrt(y, a, rounding);
}

void ng_oracle_add(mpfr_ptr y, mpfr_srcptr a, mpfr_srcptr b)
{
    perform(y, mpfr_add, a, b);
}

void ng_oracle_sub(mpfr_ptr y, mpfr_srcptr a, mpfr_srcptr b)
{
    perform(y, mpfr_sub, a, b);
}

void ng_oracle_mul(mpfr_ptr y, mpfr_srcptr a, mpfr_srcptr b)
{
    perform(y, mpfr_mul, a, b);
}

void ng_oracle_div(mpfr_ptr y, mpfr_srcptr a, mpfr_srcptr b)
{
    perform(y, mpfr_div, a, b);
}

void ng_oracle_sqrt(mpfr_ptr y, mpfr_srcptr a)
{
    perform(y, root, a, a);
}

void ng_oracle_scale(mpfr_ptr y, mpfr_srcptr a, long k)
{
    MPFR_DECL_INIT(product, CUT_BITS);

    ng_oracle_require_exact(mpfr_mul_2si(product, a, k, MPFR_RNDN));
    ng_oracle_round_to(y, product);
}

void ng_oracle_from_fp32(mpfr_ptr y, uint32_t bits)
{
    ng_oracle_value(y, NG_FORMAT_FP32, bits);
}

uint32_t ng_oracle_to_fp32(mpfr_srcptr x)
{
    if (mpfr_nan_p(x))
        return 0x7FFFFFFF;

    const float value = mpfr_get_flt(x, MPFR_RNDZ);

    if (mpfr_cmp_d(x, (double)value) != 0)
        abort(); /* no FP32 number */
    return ng_fp32_bits(value);
}
