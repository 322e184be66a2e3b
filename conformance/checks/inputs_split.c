/* SPDX-License-Identifier: Apache-2.0
 *
 * FP32 weights to be split, by the axes "low" and "correction" (its type; the
 * stratum "bare" goes without).
 */
#include "conformance/checks/inputs_optim.h"

#include <math.h>

#include "conformance/checks/numbers.h"
#include "formats/fp32.h"

enum { PER_CASE = 1 << 16 };

static const ng_format *low_format(const ng_case *c)
{
    return ng_number_format(
        (ng_dtype)ng_variant_get(c->variant, "low", NG_BF16));
}

static int bits_of(const ng_variant *variant)
{
    return ng_variant_get(variant, "correction", NG_I8) == NG_I8 ? 8 : 16;
}

/* Declare everything and return where the n numbers go. */
static uint32_t *begin(ng_case *c, int64_t n, bool bare)
{
    uint32_t *x = ng_case_input(c, "x", NG_FP32, 1, &n);

    ng_case_output(c, "y.low",
                   (ng_dtype)ng_variant_get(c->variant, "low", NG_BF16), 1, &n,
                   false);
    if (!bare)
        ng_case_output(
            c, "y.correction",
            (ng_dtype)ng_variant_get(c->variant, "correction", NG_I8), 1, &n,
            false);
    ng_case_counts(c);
    return x;
}

static int64_t count_special(const ng_variant *variant, int level)
{
    (void)variant;
    return level == 0 ? 12 : 40;
}

static void fill_special(ng_case *c, int64_t index)
{
    const int64_t n = ng_case_length(c, index);
    uint32_t *x = begin(c, n, false);

    for (int64_t i = 0; x != NULL && i < n; i++)
        x[i] = ng_case_special(c);
}

static int64_t count_ties(const ng_variant *variant, int level)
{
    (void)variant;
    return level == 0 ? 3 : 65;
}

/* Whether case `index` takes this low code: case 0 both ends of the format and
 * of every binade, the others every 64th code each. */
static bool takes(const ng_format *format, int64_t index, uint32_t code)
{
    enum { ENDS = 20 };
    const uint32_t in_field = (UINT32_C(1) << format->fraction_bits) - 1;

    if (index > 0)
        return code % 64 == (uint32_t)(index * 27) % 64;
    return code < ENDS || code + ENDS > format->max_finite
           || (code & in_field) == 0 || (code & in_field) == in_field;
}

/* Each low and its midpoint to the next (L-17: to the even one up and the even
 * one down), one FP32 step either side. */
static void fill_ties(ng_case *c, int64_t index)
{
    const ng_format *format = low_format(c);
    int64_t n = 0;

    for (uint32_t code = 0; code <= format->max_finite; code++)
        n += takes(format, index, code);
    uint32_t *x = begin(c, 12 * n, false);
    for (uint32_t code = 0; x != NULL && code <= format->max_finite; code++) {
        const double low = ng_number_value(format, code);
        const double high = ng_number_value(format, code + 1);
        const float at[2] = {(float)low, (float)(low / 2 + high / 2)};

        for (int k = 0; takes(format, index, code) && k < 12; k++) {
            const uint32_t bits = ng_fp32_bits(at[k / 6]);
            const uint32_t step = (uint32_t)(k % 3) - 1;    /* -1, 0, 1 */

            *x++ = (bits == 0 && k % 3 == 0 ? 1 : bits + step)
                   | (k % 6 < 3 ? 0 : NG_FP32_SIGN);
        }
    }
}

static int64_t count_steps(const ng_variant *variant, int level)
{
    (void)variant;
    return level == 0 ? 3 : 64;
}

/* Where a correction turns into the next: half way between codes of low's
 * format with n more fraction bits, or between the flashoptim multiples of half
 * an ulp over 127 or 32767; up to two FP32 steps beside it. */
static void fill_steps(ng_case *c, int64_t index)
{
    enum { COUNT = 4096 };
    const ng_format *format = low_format(c);
    const int64_t half = INT64_C(1) << (bits_of(c->variant) - 1);
    const double steps = c->call.rules.split == NG_SPLIT_ULP
                             ? 2 * (double)half
                             : 2 * (double)(half - 1);
    const int64_t edge[] = {-half - 1, -half, -half + 1, -1, 0, 1, half - 2,
                            half - 1,  half};
    uint32_t *x = begin(c, COUNT, false);

    for (int i = 0; x != NULL && i < COUNT; i++) {
        const uint32_t low =
            index == 0 ? (uint32_t)ng_case_below(c, 600)
                       : (uint32_t)ng_case_below(c, format->max_finite + 1);
        const double value = ng_number_value(format, low);
        const double ulp = ng_number_value(format, low + 1) - value;
        const int64_t k = ng_case_chance(c, 2)
                              ? edge[ng_case_below(c, 9)]
                              : ng_case_below(c, 2 * half) - half;
        const double at =
            value + ulp / steps * ((double)k + (ng_case_chance(c, 4) ? 0 : .5));
        const uint32_t bits = ng_fp32_bits((float)fabs(at));
        const int64_t near = (int64_t)bits + ng_case_below(c, 5) - 2;

        x[i] = (uint32_t)(near < 0 ? 0 : near)
               | (ng_case_chance(c, 2) ? NG_FP32_SIGN : 0);
    }
}

static int64_t count_random(const ng_variant *variant, int level)
{
    (void)variant;
    return level == 0 ? 3 : 64;
}

/* Any bits, and weights as they are in models. */
static void put_random(ng_case *c, uint32_t *x, int64_t n)
{
    for (int64_t i = 0; x != NULL && i < n; i++)
        x[i] = i % 2 == 0 ? (uint32_t)ng_case_random(c)
                          : ng_fp32_bits((float)(ng_case_normal(c) * 0.02));
}

static void fill_random(ng_case *c, int64_t index)
{
    enum { COUNT = 4096 };

    (void)index;
    put_random(c, begin(c, COUNT, false), COUNT);
}

static int64_t count_bare(const ng_variant *variant, int level)
{
    return bits_of(variant) != 8 ? 0 : level == 0 ? 2 : 16;
}

static void fill_bare(ng_case *c, int64_t index)
{
    enum { COUNT = 1024 };
    uint32_t *x = begin(c, COUNT, true);

    put_random(c, x, COUNT);
    for (int i = 0; x != NULL && index == 0 && i < COUNT; i++)
        x[i] = ng_case_special(c);
}

static int64_t count_sixteen(const ng_variant *variant, int level)
{
    (void)variant, (void)level;
    return 5;
}

/* Every upper half beside a lower one, and every low itself. */
static void fill_sixteen(ng_case *c, int64_t index)
{
    static const uint32_t lower[] = {0x0000, 0x7FFF, 0x8000};
    const ng_format *format = low_format(c);
    uint32_t *x = begin(c, PER_CASE, false);

    for (uint32_t i = 0; x != NULL && i < PER_CASE; i++) {
        const uint32_t magnitude = i & 0x7FFF;
        const double value = ng_number_value(
            format, magnitude > format->max_finite ? 0 : magnitude);

        if (index < 3)
            x[i] = i << 16 | lower[index];
        else if (index == 3)
            x[i] = i << 16 | (uint32_t)ng_case_below(c, 1 << 16);
        else
            x[i] = ng_fp32_bits((float)value) | (i & 0x8000) << 16;
    }
}

static int64_t count_all(const ng_variant *variant, int level)
{
    (void)variant, (void)level;
    return 1 << 16;
}

static void fill_all(ng_case *c, int64_t index)
{
    uint32_t *x = begin(c, PER_CASE, false);

    for (uint32_t i = 0; x != NULL && i < PER_CASE; i++)
        x[i] = (uint32_t)index << 16 | i;
}

const ng_stratum ng_split_strata[] = {
    {"special", "zeros, subnormals, ends of formats, infinities, NaNs", 0,
     count_special, fill_special},
    {"ties", "every low and every midpoint, one FP32 step either side", 0,
     count_ties, fill_ties},
    {"steps", "where a correction turns into the next", 0, count_steps,
     fill_steps},
    {"random", "any bits, and weights as models have them", 0, count_random,
     fill_random},
    {"bare", "no correction: low is all", 0, count_bare, fill_bare},
    {"sixteen", "every upper half, every low", 1, count_sixteen, fill_sixteen},
    {"all", "all 2^32 FP32 numbers", 2, count_all, fill_all},
    {0},
};
