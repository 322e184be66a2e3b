/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/cli/real_number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SHORT_DIGITS = 28, ABOUT_DIGITS = 9, MOST_DIGITS = 400 };

void ng_real_from_exact(ng_real *x, ng_exact exact)
{
    x->kind = exact.kind;
    x->negative = exact.negative;
    ng_natural_set(&x->top, exact.significand);
    ng_natural_set(&x->bottom, 1);
    if (exact.exponent >= 0)
        ng_natural_shift_left(&x->top, exact.exponent);
    else
        ng_natural_shift_left(&x->bottom, -exact.exponent);
}

ng_exact ng_real_to_exact(const ng_real *x)
{
    ng_exact exact = {.kind = x->kind, .negative = x->negative};
    ng_natural rest = x->top, divisor = x->bottom, part;

    if (x->kind != NG_EXACT_FINITE || ng_natural_is_zero(&x->top))
        return exact;

    /* Scaled by 2^shift the quotient lies in (2^61, 2^63). */
    const int shift =
        62 - (ng_natural_bits(&x->top) - ng_natural_bits(&x->bottom));
    if (shift >= 0)
        ng_natural_shift_left(&rest, shift);
    else
        ng_natural_shift_left(&divisor, -shift);
    exact.exponent = -shift;
    for (int bit = 62; bit >= 0; bit--) {
        part = divisor;
        ng_natural_shift_left(&part, bit);
        if (ng_natural_compare(&rest, &part) >= 0) {
            ng_natural_subtract(&rest, &part);
            exact.significand |= UINT64_C(1) << bit;
        }
    }
    exact.sticky = !ng_natural_is_zero(&rest);
    return exact;
}

int ng_real_compare_magnitude(const ng_real *a, const ng_real *b)
{
    ng_natural left, right;

    ng_natural_multiply(&left, &a->top, &b->bottom);
    ng_natural_multiply(&right, &b->top, &a->bottom);
    return ng_natural_compare(&left, &right);
}

void ng_real_distance(ng_real *distance, const ng_real *a, const ng_real *b)
{
    ng_natural left, right;

    ng_natural_multiply(&left, &a->top, &b->bottom);
    ng_natural_multiply(&right, &b->top, &a->bottom);
    distance->kind = NG_EXACT_FINITE;
    distance->negative = false;
    ng_natural_multiply(&distance->bottom, &a->bottom, &b->bottom);
    if (a->negative != b->negative) { /* |a - b| = |a| + |b| */
        ng_natural sum = {0};
        uint64_t carry = 0;

        for (int i = 0; i < left.n || i < right.n || carry != 0; i++) {
            carry += (uint64_t)(i < left.n ? left.limb[i] : 0)
                     + (i < right.n ? right.limb[i] : 0);
            sum.limb[sum.n++] = (uint32_t)carry;
            carry >>= 32;
        }
        distance->top = sum;
    } else if (ng_natural_compare(&left, &right) >= 0) {
        ng_natural_subtract(&left, &right);
        distance->top = left;
    } else {
        ng_natural_subtract(&right, &left);
        distance->top = right;
    }
}

/* Decimal digits of a number that is not zero: digit[0] is the one of
 * 10^exponent. */
typedef struct digits {
    char digit[MOST_DIGITS + 1];
    int n, exponent;
    bool exact;
} digits;

/* Multiply or divide by powers of ten until 1 <= top / bottom < 10; return the
 * exponent that was taken out. */
static int normalize(ng_natural *top, ng_natural *bottom)
{
    const int log2 = ng_natural_bits(top) - ng_natural_bits(bottom);
    int exponent = (int)floor((log2 - 1) * 0.30102999566398120);

    if (exponent >= 0)
        ng_natural_scale_ten(bottom, exponent);
    else
        ng_natural_scale_ten(top, -exponent);
    for (;; exponent++) { /* at most once or twice: the guess is low */
        ng_natural ten = *bottom;

        ng_natural_multiply_add(&ten, 10, 0);
        if (ng_natural_compare(top, &ten) < 0)
            return exponent;
        *bottom = ten;
    }
}

/* Add one unit in the last place. */
static void round_up(digits *d)
{
    int i = d->n - 1;

    for (; i >= 0 && d->digit[i] == '9'; i--)
        d->digit[i] = '0';
    if (i >= 0) {
        d->digit[i]++;
        return;
    }
    d->digit[0] = '1'; /* 99.9 became 100: the zeros are there */
    d->exponent++;
}

static void find_digits(digits *d, const ng_real *x, int max_digits)
{
    ng_natural top = x->top, bottom = x->bottom;

    *d = (digits){.exponent = normalize(&top, &bottom)};
    while (d->n < max_digits && !ng_natural_is_zero(&top)) {
        char digit = '0';

        for (; ng_natural_compare(&top, &bottom) >= 0; digit++)
            ng_natural_subtract(&top, &bottom);
        d->digit[d->n++] = digit;
        ng_natural_multiply_add(&top, 10, 0);
    }
    d->exact = ng_natural_is_zero(&top);
    ng_natural_multiply_add(&bottom, 5, 0); /* half of the next unit */
    if (!d->exact && ng_natural_compare(&top, &bottom) >= 0)
        round_up(d);
    while (d->n > 1 && d->digit[d->n - 1] == '0')
        d->n--;
}

/* Lay the digits out plainly, or with an exponent where that is far off. */
static void lay_out(char *text, size_t size, const digits *d, bool negative)
{
    const char *sign = negative ? "-" : "";
    const int e = d->exponent;

    if (e < -6 || e > 20)
        snprintf(text, size, "%s%c%s%.*se%+d", sign, d->digit[0],
                 d->n > 1 ? "." : "", d->n - 1, d->digit + 1, e);
    else if (e < 0)
        snprintf(text, size, "%s0.%.*s%.*s", sign, -e - 1, "00000", d->n,
                 d->digit);
    else if (d->n <= e + 1)
        snprintf(text, size, "%s%.*s%.*s", sign, d->n, d->digit, e + 1 - d->n,
                 "00000000000000000000");
    else
        snprintf(text, size, "%s%.*s.%.*s", sign, e + 1, d->digit, d->n - e - 1,
                 d->digit + e + 1);
}

bool ng_real_decimal(char *text, size_t size, const ng_real *x, int max_digits)
{
    digits d;

    if (x->kind == NG_EXACT_NAN) {
        snprintf(text, size, "nan");
        return true;
    }
    if (x->kind == NG_EXACT_INFINITE || ng_natural_is_zero(&x->top)) {
        snprintf(text, size, "%s%s", x->negative ? "-" : "",
                 x->kind == NG_EXACT_INFINITE ? "inf" : "0");
        return true;
    }
    find_digits(&d, x, max_digits < MOST_DIGITS ? max_digits : MOST_DIGITS);
    lay_out(text, size, &d, x->negative);
    return d.exact;
}

void ng_real_text(char *text, size_t size, const ng_real *x)
{
    char about[64];

    if (ng_real_decimal(text, size, x, SHORT_DIGITS))
        return;
    const ng_exact exact = ng_real_to_exact(x);
    const double value = ldexp((double)exact.significand, exact.exponent);

    ng_real_decimal(about, sizeof about, x, ABOUT_DIGITS);
    if (!exact.sticky
        && (uint64_t)(double)exact.significand == exact.significand
        && isnormal(value))
        snprintf(text, size, "%a (about %s)", x->negative ? -value : value,
                 about);
    else
        snprintf(text, size, "about %s", about);
}
