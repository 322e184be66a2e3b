/* SPDX-License-Identifier: Apache-2.0
 *
 * How a block may come to another scale: a rule near the right one, an exponent
 * taken by floating-point functions, an amax of something else. (The four rules
 * of MX blocks and the two of FP8 are values of rules, and tried as such.)
 */
#include <math.h>

#include "conformance/checks/recoding.h"

#define N(array) ((int)(sizeof(array) / sizeof *(array)))

#define SCALE(name, expression)                                               \
    static double scale_##name(const ng_block_values *b)                      \
    {                                                                         \
        return expression;                                                    \
    }                                                                         \
    static ng_status name(const ng_call *call, const ng_specification *right) \
    {                                                                         \
        return ng_rescale(call, right, scale_##name);                         \
    }

/* The largest code's value, and its exponent. */
static double largest(const ng_block_values *b)
{
    return b->mx == NG_FORMAT_E2M1 ? 6 : 448;
}

static int emax(const ng_block_values *b)
{
    return b->mx == NG_FORMAT_E2M1 ? 2 : 8;
}

static double power(double k)
{
    return ldexp(1, (int)fmax(k, -200));
}

/* FP32, as a kernel computes it. */
static float ratio(const ng_block_values *b)
{
    return (float)b->amax / (float)largest(b);
}

static double by_frexp(float x)
{
    int k;

    frexpf(x, &k);
    return power(k);
}

/* Neighbours of the rules. Zero blocks are a matter of their own. */
static double unless_zero(const ng_block_values *b, double s)
{
    return b->amax == 0 ? -1 : s;
}

SCALE(of_quotient, unless_zero(b, by_frexp(ratio(b)) / 2))
SCALE(floor_rule, unless_zero(b, power(floor(log2(b->amax)) - emax(b))))
SCALE(ceil_rule, unless_zero(b, power(ceil(log2(b->amax)) - emax(b))))
SCALE(doubled, unless_zero(b, 2 * b->right))
SCALE(halved, unless_zero(b, b->right / 2))
SCALE(bare, unless_zero(b, (double)ratio(b)))
SCALE(by_product,
      unless_zero(b, (double)((float)b->amax *(1.0f / (float)largest(b)))))
SCALE(least_1e4, (double)(fmaxf((float)b->amax, 1e-4f) / (float)largest(b)))
SCALE(least_1e10, (double)(fmaxf((float)b->amax, 1e-10f) / (float)largest(b)))
SCALE(least_1e12, (double)(fmaxf((float)b->amax, 1e-12f) / (float)largest(b)))

/* Exponents by functions that round. */
SCALE(floor_log2,
      unless_zero(b, power((double)floorf(log2f((float)b->amax)) - emax(b))))
SCALE(ceil_log2,
      unless_zero(b, power((double)ceilf(log2f((float)b->amax)) - emax(b))))
SCALE(ceil_log2_ratio, unless_zero(b, power(ceilf(log2f(ratio(b))))))
SCALE(floor_log2_ratio, unless_zero(b, power(floorf(log2f(ratio(b))))))
SCALE(near_log2_ratio, unless_zero(b, power(roundf(log2f(ratio(b))))))
SCALE(frexp_ratio, unless_zero(b, by_frexp(ratio(b))))
SCALE(frexp_amax, unless_zero(b, ldexp(by_frexp((float)b->amax), -emax(b))))

/* Another amax under the right rule. */
static double amax_of(const ng_block_values *b, int64_t n, bool is_signed)
{
    double amax = 0;

    for (int64_t i = 0; i < n; i++) {
        const double a = is_signed ? b->value[i] : fabs(b->value[i]);

        if (a > amax)
            amax = a;
    }
    return ng_scale_of_amax(b, amax);
}

static double bf16_cut(double amax)
{
    return ng_value_of(NG_BF16, ng_code_of_quotient(&ng_formats[NG_FORMAT_BF16],
                                                    amax, 1, NG_CUT));
}

static int64_t whole_part(const ng_block_values *b, int64_t unit)
{
    return b->n / unit * unit;
}

SCALE(bf16_amax, ng_scale_of_amax(b, ng_rounded_to(NG_FORMAT_BF16, b->amax)))
SCALE(fp16_amax, ng_scale_of_amax(b, ng_rounded_to(NG_FORMAT_FP16, b->amax)))
SCALE(cut_amax, ng_scale_of_amax(b, bf16_cut(b->amax)))
SCALE(signed_amax, amax_of(b, b->n, true))
SCALE(last_missed, amax_of(b, b->n - 1, false))
SCALE(fours, amax_of(b, whole_part(b, 4), false))
SCALE(eights, amax_of(b, whole_part(b, 8), false))
SCALE(sixteen, amax_of(b, b->n < 16 ? b->n : 16, false))

static const ng_hypothesis list[] = {
    {NG_KIND_SCALE_RULE, "the exponent of amax over the largest code, cut",
     of_quotient},
    {NG_KIND_SCALE_RULE, "floor(log2 amax), less the largest code's",
     floor_rule},
    {NG_KIND_SCALE_RULE, "ceil(log2 amax), less the largest code's", ceil_rule},
    {NG_KIND_SCALE_RULE, "twice the scale of the rule", doubled},
    {NG_KIND_SCALE_RULE, "half the scale of the rule", halved},
    {NG_KIND_SCALE_RULE, "amax over the largest code, without a least scale",
     bare},
    {NG_KIND_SCALE_RULE,
     "amax times the rounded reciprocal of the largest code", by_product},
    {NG_KIND_SCALE_RULE, "amax is at least 1e-4", least_1e4},
    {NG_KIND_SCALE_RULE, "amax is at least 1e-10", least_1e10},
    {NG_KIND_SCALE_RULE, "amax is at least 1e-12", least_1e12},
    {NG_KIND_LOG2, "floor(log2 amax) by a logarithm that is rounded",
     floor_log2},
    {NG_KIND_LOG2, "ceil(log2 amax) by a logarithm that is rounded", ceil_log2},
    {NG_KIND_LOG2, "ceil(log2) of the rounded quotient, both rounded",
     ceil_log2_ratio},
    {NG_KIND_LOG2, "floor(log2) of the rounded quotient, both rounded",
     floor_log2_ratio},
    {NG_KIND_LOG2, "the logarithm of the quotient is rounded to an integer",
     near_log2_ratio},
    {NG_KIND_LOG2, "the exponent is frexp's: exact powers of two are doubled",
     frexp_ratio},
    {NG_KIND_LOG2, "the exponent is frexp's of amax", frexp_amax},
    {NG_KIND_AMAX, "amax is rounded to BF16", bf16_amax},
    {NG_KIND_AMAX, "amax is rounded to FP16", fp16_amax},
    {NG_KIND_AMAX, "amax is cut to BF16", cut_amax},
    {NG_KIND_AMAX, "the largest value, not the largest magnitude", signed_amax},
    {NG_KIND_AMAX, "the last element of a block is left out", last_missed},
    {NG_KIND_AMAX, "elements past a multiple of 4 are left out", fours},
    {NG_KIND_AMAX, "elements past a multiple of 8 are left out", eights},
    {NG_KIND_AMAX, "only the first 16 elements of a block", sixteen},
};

const ng_hypotheses ng_scale_hypotheses = {list, N(list)};
