/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers to be coded in groups of 32. Of variances most strata choose r and
 * put r * r, near enough that the coder's root comes out around the same place.
 */
#include "conformance/checks/inputs_optim.h"

#include <math.h>
#include <string.h>

#include "conformance/checks/numbers.h"
#include "formats/fp32.h"
#include "formats/optim.h"

typedef struct numbers {
    ng_case *c;
    uint32_t *x;
    int64_t n;
    bool variance, linear;
    const ng_format *scale;
} numbers;

static bool begin(numbers *to, ng_case *c, int64_t n)
{
    const int64_t n_groups = ng_ceil_div(n, NG_STATE_GROUP);
    ng_dtype scales;

    to->c = c;
    to->n = n;
    to->variance = strstr(c->call.operation, "variance") != NULL;
    to->linear = ng_variant_get(c->variant, "linear", 0) != 0;
    to->scale = ng_case_scale_format(c, &scales);
    to->x = ng_case_input(c, "x", NG_FP32, 1, &n);
    ng_case_output(c, "y.codes", to->variance ? NG_U8 : NG_I8, 1, &n, false);
    ng_case_output(c, "y.scales", scales, 1, &n_groups, false);
    ng_case_counts(c);
    ng_case_attribute(c, "linear", to->linear);
    return !c->failed;
}

/* Put what has this magnitude to the coder, `steps` FP32 steps beside it; of
 * momentum with a random sign. */
static void put(numbers *to, int64_t i, double magnitude, int64_t steps)
{
    const double x =
        to->variance && !to->linear ? magnitude * magnitude : magnitude;
    const int64_t bits = (int64_t)ng_fp32_bits((float)x) + steps;

    to->x[i] = (uint32_t)(bits < 0 ? 0 : bits);
    if (!to->variance && ng_case_chance(to->c, 2))
        to->x[i] |= NG_FP32_SIGN;
}

/* A group around a magnitude, as training makes them: normal, spread over a few
 * binades, some zeros and some very small. */
static void put_group(numbers *to, int64_t first, double center)
{
    for (int64_t i = first; i < to->n && i < first + NG_STATE_GROUP; i++) {
        const double binade = ng_case_normal(to->c);
        const double at = ng_case_normal(to->c) * exp2(binade);

        put(to, i,
            ng_case_chance(to->c, 12)  ? 0
            : ng_case_chance(to->c, 8) ? center * fabs(at) * 0x1p-9
                                       : center * fabs(at),
            0);
    }
}

/* 2^k over the range of the scales and past both ends. */
static double any_center(ng_case *c)
{
    const double power = exp2((double)ng_case_below(c, 80) - 60);

    return power * (1 + ng_case_normal(c) / 8);
}

static int64_t count_special(const ng_variant *variant, int level)
{
    (void)variant;
    return level == 0 ? 24 : 200;
}

/* One infinity somewhere in a group; of a variance without sign. */
static void put_infinity(numbers *to, int64_t first)
{
    const int64_t left = to->n - first;
    const int64_t at = ng_case_below(
        to->c, left < NG_STATE_GROUP ? left : NG_STATE_GROUP);
    const bool negative = !to->variance && ng_case_chance(to->c, 2);

    to->x[first + at] = NG_FP32_INFINITY | (negative ? NG_FP32_SIGN : 0);
}

/* Groups of five kinds in turn: special numbers alone, or among others; zeros;
 * numbers of training; and one infinity among those, which no NaN hides. */
static void fill_special(ng_case *c, int64_t index)
{
    const int64_t n = ng_case_length(c, index);
    numbers to;

    if (!begin(&to, c, n))
        return;
    for (int64_t first = 0; first < n; first += NG_STATE_GROUP) {
        const int64_t kind = (index + first / NG_STATE_GROUP) % 5;

        put_group(&to, first, any_center(c));
        if (kind == 4)
            put_infinity(&to, first);
        for (int64_t i = first; i < n && i < first + NG_STATE_GROUP; i++)
            if (kind == 0 || (kind == 1 && ng_case_chance(c, 16)))
                to.x[i] = ng_case_special(c);
            else if (kind == 2)
                to.x[i] = ng_case_chance(c, 2) ? NG_FP32_SIGN : 0;
    }
}

static int64_t count_shares(const ng_variant *variant, int level)
{
    (void)variant;
    return level == 0 ? 8 : 128;
}

/* Under a scale, every threshold between two codes and the FP32 numbers beside
 * it: of k - 1 and k, m/s = (2k-1)/(509-2k) or r/s = (2k-1)/510, linear m/s =
 * (2k-1)/254 or v/s = (2k-1)/510. The first of each group sets the scale: to a
 * stored value (even cases) or to what is rounded to one. */
static void fill_shares(ng_case *c, int64_t index)
{
    enum { GROUPS = 42, COUNT = GROUPS * NG_STATE_GROUP };  /* 5 * 255 fit */
    numbers to;
    int64_t share = 0;

    if (!begin(&to, c, COUNT))
        return;

    const int64_t codes = to.variance ? 255 : 127;
    const uint32_t code =
        index == 0 ? 1u << to.scale->fraction_bits
                   : 1 + (uint32_t)ng_case_below(c, to.scale->max_finite - 1);
    const double stored = ng_number_value(to.scale, code);
    const double next = ng_number_value(to.scale, code + 1);
    const double top =
        index % 2 == 0
            ? stored
            : stored + (next - stored) * 0.4 * (ng_case_normal(c) > 0 ? 1 : -1);
    const double s = c->call.rules.compand == NG_COMPAND_NG ? stored : top;

    for (int64_t i = 0; i < COUNT; i++) {
        if (i % NG_STATE_GROUP == 0) {
            put(&to, i, top, 0);
            continue;
        }
        const double odd = (double)(2 * (1 + share / 5 % codes) - 1);
        const double at = to.variance ? odd / 510
                          : to.linear ? odd / 254
                                      : odd / (508 - odd);

        put(&to, i, s * at, share % 5 - 2);
        share++;
    }
}

/* Largest magnitudes that make a given scale: the values of the format and the
 * midpoints between them, an FP32 step beside. Case 0 takes the ends of the
 * format and of its binades, the others every so many codes. */
enum { STRIDE = 128 };

static int64_t count_scales(const ng_variant *variant, int level)
{
    (void)variant;
    return level == 0 ? 2 : 1 + STRIDE;
}

static bool takes(const ng_format *format, int64_t index, uint32_t code)
{
    const uint32_t in_field = (UINT32_C(1) << format->fraction_bits) - 1;

    if (index > 0)
        return code % STRIDE == (uint32_t)(index * 37) % STRIDE;
    return code < 10 || code + 4 > format->max_finite || (code & in_field) == 0
           || (code & in_field) == in_field;
}

static void fill_scales(ng_case *c, int64_t index)
{
    ng_dtype dtype;
    const ng_format *format = ng_case_scale_format(c, &dtype);
    int64_t n_groups = 0, first = 0;
    numbers to;

    for (uint32_t code = 0; code <= format->max_finite; code++)
        n_groups += 2 * takes(format, index, code);
    if (!begin(&to, c, n_groups * NG_STATE_GROUP))
        return;
    for (uint32_t code = 0; code <= format->max_finite; code++) {
        const double low = ng_number_value(format, code);
        const double high = ng_number_value(format, code + 1);

        if (!takes(format, index, code))
            continue;
        for (int half = 0; half < 2; half++, first += NG_STATE_GROUP) {
            const double at = half == 0 ? low : low / 2 + high / 2;

            for (int64_t i = first; i < first + NG_STATE_GROUP; i++)
                put(&to, i, at * exp2(-(double)ng_case_below(c, 6)) * 0.99, 0);

            const int64_t which = first + ng_case_below(c, NG_STATE_GROUP);

            put(&to, which, at, ng_case_below(c, 3) - 1);
        }
    }
}

static int64_t count_random(const ng_variant *variant, int level)
{
    (void)variant;
    return level == 0 ? 6 : 256;
}

static void fill_random(ng_case *c, int64_t index)
{
    enum { COUNT = 4000 };      /* 125 groups, and a short one */
    numbers to;

    if (!begin(&to, c, COUNT + index % 3))
        return;
    for (int64_t first = 0; first < to.n; first += NG_STATE_GROUP)
        put_group(&to, first, any_center(c));
}

static int64_t count_bits(const ng_variant *variant, int level)
{
    (void)variant;
    return level == 0 ? 2 : 64;
}

/* Any bits; most groups then hold neither NaN nor, of variance, a sign. */
static void fill_bits(ng_case *c, int64_t index)
{
    enum { COUNT = 64 * NG_STATE_GROUP };
    numbers to;

    (void)index;
    if (!begin(&to, c, COUNT))
        return;
    for (int64_t i = 0; i < COUNT; i++) {
        to.x[i] = (uint32_t)ng_case_random(c);
        if (to.variance && i / NG_STATE_GROUP % 4 != 0)
            to.x[i] &= ~NG_FP32_SIGN;
    }
}

const ng_stratum ng_compand_strata[] = {
    {"special", "NaN, infinities, zeros and ends of formats among others; any "
     "length", 0, count_special, fill_special},
    {"shares", "every threshold between codes, two FP32 steps either side", 0,
     count_shares, fill_shares},
    {"scales", "largest magnitudes at scales and between them", 0, count_scales,
     fill_scales},
    {"random", "groups as training makes them, of any magnitude", 0,
     count_random, fill_random},
    {"bits", "any bits", 0, count_bits, fill_bits},
    {0},
};
