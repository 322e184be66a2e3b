/* SPDX-License-Identifier: Apache-2.0
 *
 * Pairs of a low and a correction to be merged, those that split never writes
 * among them.
 */
#include "conformance/checks/inputs_optim.h"

enum { PER_CASE = 1 << 16 };

typedef struct pairs {
    uint16_t *low;
    int8_t *narrow;             /* one of the two, by the axis "correction" */
    int16_t *wide;
} pairs;

static bool is_narrow(const ng_variant *variant)
{
    return ng_variant_get(variant, "correction", NG_I8) == NG_I8;
}

static pairs begin(ng_case *c, int64_t n, bool bare)
{
    const ng_variant *variant = c->variant;
    pairs x = {.low = ng_case_input(
                   c, "x.low",
                   (ng_dtype)ng_variant_get(variant, "low", NG_BF16), 1, &n)};

    if (!bare && is_narrow(variant))
        x.narrow = ng_case_input(c, "x.correction", NG_I8, 1, &n);
    else if (!bare)
        x.wide = ng_case_input(c, "x.correction", NG_I16, 1, &n);
    ng_case_output(c, "y", NG_FP32, 1, &n, false);
    return x;
}

static void put(pairs *x, int64_t i, uint32_t low, int64_t rho)
{
    x->low[i] = (uint16_t)low;
    if (x->narrow != NULL)
        x->narrow[i] = (int8_t)rho;
    else if (x->wide != NULL)
        x->wide[i] = (int16_t)rho;
}

static int64_t count_special(const ng_variant *variant, int level)
{
    (void)variant;
    return level == 0 ? 10 : 20;
}

/* Lows at the ends of binades and classes, under corrections at their ends. */
static void fill_special(ng_case *c, int64_t index)
{
    static const uint16_t low[] = {
        0x0000, 0x0001, 0x0002, 0x007F, 0x0080, 0x0081, 0x00FF, 0x0100, 0x03FF,
        0x0400, 0x0401, 0x07FF, 0x0800, 0x3BFF, 0x3C00, 0x3C01, 0x3F7F, 0x3F80,
        0x3F81, 0x7BFE, 0x7BFF, 0x7C00, 0x7C01, 0x7E00, 0x7F7E, 0x7F7F, 0x7F80,
        0x7F81, 0x7FC0, 0x7FFF};
    const int64_t half = is_narrow(c->variant) ? 1 << 7 : 1 << 15;
    const int64_t rho[] = {-half, -half + 1, -1, 0, 1, half - 2, half - 1};
    const int64_t n = index < 10 ? ng_case_length(c, index) : 2000;
    pairs x = begin(c, n, false);

    for (int64_t i = 0; !c->failed && i < n; i++) {
        const uint32_t sign = ng_case_chance(c, 2) ? 0x8000 : 0;
        const int64_t part = rho[ng_case_below(c, sizeof rho / sizeof *rho)];

        put(&x, i, low[ng_case_below(c, sizeof low / sizeof *low)] | sign,
            part);
    }
}

static int64_t count_random(const ng_variant *variant, int level)
{
    (void)variant;
    return level == 0 ? 3 : 32;
}

static void fill_random(ng_case *c, int64_t index)
{
    enum { COUNT = 4096 };
    pairs x = begin(c, COUNT, false);

    (void)index;
    for (int64_t i = 0; !c->failed && i < COUNT; i++) {
        const uint32_t low = (uint32_t)ng_case_below(c, 1 << 16);

        put(&x, i, low, ng_case_below(c, 1 << 16) - (1 << 15));
    }
}

static int64_t count_bare(const ng_variant *variant, int level)
{
    return !is_narrow(variant) ? 0 : level == 0 ? 1 : 16;
}

/* Every low alone; a sixteenth of them a case. */
static void fill_bare(ng_case *c, int64_t index)
{
    enum { COUNT = PER_CASE / 16 };
    pairs x = begin(c, COUNT, true);

    for (int64_t i = 0; !c->failed && i < COUNT; i++)
        put(&x, i, (uint32_t)(16 * i + (index * 7 + 15) % 16), 0);
}

static int64_t count_pairs(const ng_variant *variant, int level)
{
    return is_narrow(variant) ? 256 : level < 2 ? 64 : PER_CASE;
}

/* Every low under one correction; of 16 bits, an odd multiplier walks them so
 * that the first cases are spread out. */
static void fill_pairs(ng_case *c, int64_t index)
{
    pairs x = begin(c, PER_CASE, false);

    for (int64_t i = 0; !c->failed && i < PER_CASE; i++)
        put(&x, i, (uint32_t)i, (int16_t)(uint16_t)(index * 40503));
}

const ng_stratum ng_merge_strata[] = {
    {"special", "ends of binades and classes under ends of corrections", 0,
     count_special, fill_special},
    {"random", "any pairs", 0, count_random, fill_random},
    {"bare", "no correction: every low", 0, count_bare, fill_bare},
    {"pairs", "every low under every correction (16 bits: level 2)", 1,
     count_pairs, fill_pairs},
    {0},
};
