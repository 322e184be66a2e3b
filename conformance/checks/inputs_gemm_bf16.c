/* SPDX-License-Identifier: Apache-2.0
 *
 * What is hard about a BF16 GEMM: sums that cancel within an instruction of the
 * tensor core, across two, across many; sums that grow in one direction, or
 * that one product outweighs; subnormal operands, products and sums; infinities
 * and NaN; short, ragged and empty groups.
 */
#include <math.h>
#include <stdlib.h>

#include "conformance/checks/inputs_gemm.h"
#include "conformance/checks/numbers.h"
#include "formats/fp32.h"
#include "formats/layout.h"

enum { DENSE = -1, SIGN = 0x8000 };

typedef struct gemm {
    ng_case *c;
    bool wgrad;
    int64_t t, n, k, n_groups; /* one group if dense */
    int64_t *offsets;          /* null: dense */
    uint16_t *a, *b;
    void *addend; /* null: overwrite */
    ng_dtype dtype;
} gemm;

/* wgrad, by its axis. */
static bool contracts_rows(const ng_variant *variant)
{
    return ng_variant_get(variant, "accumulate", -1) >= 0;
}

static int64_t first_of(const gemm *m, int64_t g)
{
    return m->offsets != NULL ? m->offsets[g] : g == 0 ? 0 : m->t;
}

static uint16_t *input(ng_case *c, const char *name, int64_t rows, int64_t cols)
{
    const int64_t shape[2] = {rows, cols};

    return ng_case_input(c, name, NG_BF16, 2, shape);
}

/* Declare all tensors for t rows in groups of the sizes given, which sum to at
 * most t. Rows past the groups are NaN. */
static bool begin(gemm *m, ng_case *c, int64_t t, int64_t n, int64_t k,
                  int64_t n_groups, const int64_t *sizes)
{
    const bool wgrad = contracts_rows(c->variant);
    const int64_t length = n_groups + 1;

    *m = (gemm){.c = c, .wgrad = wgrad, .t = t, .n = n, .k = k, .n_groups = 1};
    m->dtype = (ng_dtype)ng_variant_get(c->variant, "d", NG_FP32);
    if (n_groups != DENSE) {
        m->n_groups = n_groups;
        m->offsets = ng_case_input(c, "offsets", NG_I64, 1, &length);
        for (int64_t g = 0; m->offsets != NULL && g < n_groups; g++)
            m->offsets[g + 1] = m->offsets[g] + sizes[g];
    }
    m->a = input(c, "a", t, wgrad ? n : k);
    m->b = input(c, "b", wgrad ? t : m->n_groups * n, k);
    if (c->failed)
        return false;
    for (int64_t i = first_of(m, m->n_groups) * (wgrad ? n : k);
         i < t * (wgrad ? n : k); i++)
        m->a[i] = 0xFFFF;
    for (int64_t i = first_of(m, m->n_groups) * k; wgrad && i < t * k; i++)
        m->b[i] = 0xFFFF;

    const int64_t d[2] = {wgrad ? m->n_groups * n : t, wgrad ? k : n};

    if (ng_variant_get(c->variant, "accumulate", 0) != 0)
        m->addend = ng_case_input(c, "c", m->dtype, 2, d);
    ng_case_output(c, "d", m->dtype, 2, d, false);
    return !c->failed;
}

/* ---- lines along the contraction ---- */

typedef enum line_kind {
    NEAR_ONE,
    WIDE, /* exponents 30 apart */
    POSITIVE,
    OUTLIER, /* one that outweighs all */
    SPARSE,
    TINY,       /* products and sums that are subnormal, or nothing */
    CANCELLING, /* product q + h is minus product q, but for a few */
    N_LINE_KINDS
} line_kind;

static uint16_t number(ng_case *c, int exponent, int spread)
{
    const int field =
        127 + exponent + (int)ng_case_below(c, 2 * spread + 1) - spread;

    return (uint16_t)((ng_case_random(c) & (SIGN | 0x7F))
                      | (uint64_t)(field < 0 ? 0 : field) << 7);
}

static uint16_t some_number(ng_case *c, line_kind kind, bool is_a)
{
    switch (kind) {
    case WIDE:
        return number(c, 0, 15);
    case POSITIVE:
        return (uint16_t)(number(c, 0, 2) & ~SIGN);
    case OUTLIER:
        return number(c, -14, 3);
    case SPARSE:
        return ng_case_chance(c, 8) ? number(c, 0, 4)
                                    : (uint16_t)(ng_case_random(c) & SIGN);
    case TINY:
        return is_a ? number(c, -126, 3) : number(c, -16, 6);
    default:
        return number(c, 0, 2);
    }
}

/* Element q of line i of group g of either operand. */
static uint16_t *element(gemm *m, bool is_a, int64_t g, int64_t i, int64_t q)
{
    if (m->wgrad)
        return is_a ? m->a + (first_of(m, g) + q) * m->n + i
                    : m->b + (first_of(m, g) + q) * m->k + i;
    return is_a ? m->a + (first_of(m, g) + i) * m->k + q
                : m->b + (g * m->n + i) * m->k + q;
}

static void fill_line(gemm *m, bool is_a, int64_t g, int64_t i, int64_t depth,
                      line_kind kind, int64_t distance)
{
    ng_case *c = m->c;

    for (int64_t q = 0; q < depth; q++)
        *element(m, is_a, g, i, q) = some_number(c, kind, is_a);
    if (kind == OUTLIER && depth > 0) {
        uint16_t *const outlier =
            element(m, is_a, g, i, ng_case_below(c, depth));

        *outlier = number(c, 12, 2);
    }
    for (int64_t q = 0; kind == CANCELLING && q + distance < depth; q++)
        if (q / distance % 2 == 0)
            *element(m, is_a, g, i, q + distance) =
                (uint16_t)(*element(m, is_a, g, i, q) ^ (is_a ? SIGN : 0));
    if (kind == CANCELLING && depth > 0 && ng_case_chance(c, 2)) {
        uint16_t *const rest = element(m, is_a, g, i, ng_case_below(c, depth));

        *rest = number(c, -20, 4);
    }
}

/* C: numbers about as large as the products, zeros of both signs. */
static void fill_addend(gemm *m)
{
    const ng_format *format = ng_number_format(m->dtype);
    const int64_t n = m->n_groups * m->n * m->k;

    for (int64_t i = 0; m->addend != NULL && i < n; i++) {
        const double x = ng_case_normal(m->c);
        const uint32_t code = ng_number_below(
            format, ng_case_chance(m->c, 16) ? copysign(0.0, x) : ldexp(x, 2));

        if (m->dtype == NG_FP32)
            ((uint32_t *)m->addend)[i] = code;
        else
            ((uint16_t *)m->addend)[i] = (uint16_t)code;
    }
}

static void fill(gemm *m, line_kind kind)
{
    static const int64_t distances[] = {1, 8, 16, 64, 128};
    const int64_t distance = distances[ng_case_below(m->c, 5)];

    for (int64_t g = 0; g < m->n_groups; g++) {
        const int64_t rows = first_of(m, g + 1) - first_of(m, g);
        const int64_t depth = m->wgrad ? rows : m->k;

        for (int64_t i = 0; i < (m->wgrad ? m->n : rows); i++)
            fill_line(m, true, g, i, depth, kind, distance);
        for (int64_t i = 0; i < (m->wgrad ? m->k : m->n); i++)
            fill_line(m, false, g, i, depth, kind, distance);
    }
    fill_addend(m);
}

/* ---- strata ---- */

static int64_t count_random(const ng_variant *variant, int level)
{
    (void)variant;
    return level == 0 ? 6 : 80;
}

static void fill_random(ng_case *c, int64_t index)
{
    static const int64_t edge[] = {15,  16,  17,  63,  64,  65,
                                   127, 128, 129, 255, 256, 257};
    gemm m;
    int64_t size[3];

    for (int i = 0; i < 3; i++)
        size[i] = ng_case_chance(c, 3)
                      ? edge[ng_case_below(c, sizeof edge / sizeof *edge)]
                      : 1 + ng_case_below(c, 40);
    while (size[0] * size[1] * size[2] > 200000)
        size[ng_case_below(c, 3)] = 1 + ng_case_below(c, 20);
    c->odd_layout = index % 2 == 0;
    if (begin(&m, c, size[0], size[1], size[2], DENSE, NULL))
        fill(&m, (line_kind)ng_case_below(c, N_LINE_KINDS));
}

static int64_t count_ragged(const ng_variant *variant, int level)
{
    (void)variant;
    return level == 0 ? 5 : 60;
}

static void fill_ragged(ng_case *c, int64_t index)
{
    static const int64_t first[] = {0, 1, 127, 0, 0, 64, 65, 0};
    static const int64_t some[] = {0, 1, 2, 63, 64, 65, 127, 128, 129, 200};
    const ng_gemm_rows rows = ng_gemm_draw_rows(c, index, first, some);
    gemm m;

    c->odd_layout = !ng_case_chance(c, 4);

    const int64_t n = 1 + ng_case_below(c, 12), k = 1 + ng_case_below(c, 40);

    if (begin(&m, c, rows.used + rows.past, n, k, rows.n_groups, rows.sizes))
        fill(&m, (line_kind)ng_case_below(c, N_LINE_KINDS));
}

static int64_t count_sums(const ng_variant *variant, int level)
{
    (void)variant;
    return level == 0 ? N_LINE_KINDS : 8 * N_LINE_KINDS;
}

/* Every kind of line over several stages of a kernel. */
static void fill_sums(ng_case *c, int64_t index)
{
    const int64_t depth = 256 + ng_case_below(c, 70);
    const bool wgrad = contracts_rows(c->variant);
    gemm m;

    if (begin(&m, c, wgrad ? depth : 9, 12, wgrad ? 9 : depth, DENSE, NULL))
        fill(&m, (line_kind)(N_LINE_KINDS - 1 - index % N_LINE_KINDS));
}

static int64_t count_special(const ng_variant *variant, int level)
{
    (void)variant;
    return level == 0 ? 8 : 40;
}

/* Infinities, NaN of either sign, largest and smallest numbers; C likewise,
 * also where the group is empty. */
static void fill_special(ng_case *c, int64_t index)
{
    static const uint16_t odd[] = {0x7FC1, 0xFF81, 0x7F80, 0xFF80, 0x7F7F,
                                   0xFF7F, 0x0001, 0x8000, 0x0080, 0x5F00};
    const int64_t sizes[] = {5, 0, 130};
    const bool wgrad = contracts_rows(c->variant);
    gemm m;

    if (!begin(&m, c, 137, 6, wgrad ? 40 : 140, 3, sizes))
        return;
    fill(&m, index % 2 == 0 ? NEAR_ONE : SPARSE);
    for (int i = 0; i < 5; i++) {
        const int64_t g = 2 * ng_case_below(c, 2);
        const bool is_a = ng_case_chance(c, 2);
        const int64_t lines =
            is_a ? (wgrad ? m.n : sizes[g]) : (wgrad ? m.k : m.n);

        const int64_t line = ng_case_below(c, lines);
        const int64_t q = ng_case_below(c, wgrad ? sizes[g] : m.k);

        *element(&m, is_a, g, line, q) =
            odd[(index + i * ng_case_below(c, 3))
                % (int64_t)(sizeof odd / sizeof *odd)];
    }
    if (m.addend != NULL && m.dtype == NG_FP32) {
        uint32_t *addend = m.addend;

        addend[0] = NG_FP32_NAN;
        addend[1] = NG_FP32_INFINITY;
        addend[2] = 0x7F7FFFFF;
        addend[m.n * m.k] = NG_FP32_SIGN; /* of the empty group: -0 stays */
        addend[m.n * m.k + 1] = NG_FP32_NAN;
    }
}

static int64_t count_edges(const ng_variant *variant, int level)
{
    (void)variant, (void)level;
    return 12;
}

/* Sizes around the tile, the stage and the instruction, and none at all. */
static void fill_edges(ng_case *c, int64_t index)
{
    static const int64_t size[12][3] = {
        {1, 1, 1},   {3, 2, 0},   {3, 0, 5},    {0, 3, 5},
        {2, 255, 3}, {2, 256, 3}, {2, 257, 66}, {130, 3, 64},
        {2, 3, 127}, {2, 3, 129}, {127, 2, 2},  {129, 2, 257}};
    const bool wgrad = contracts_rows(c->variant);
    const int64_t *at = size[index];
    gemm m;

    c->odd_layout = ng_case_chance(c, 2);
    if (begin(&m, c, at[wgrad ? 2 : 0], at[1], at[wgrad ? 0 : 2], DENSE, NULL))
        fill(&m, WIDE);
}

static int64_t count_groups(const ng_variant *variant, int level)
{
    (void)variant, (void)level;
    return 4;
}

/* A good case, whose offsets are then spoilt. */
static void fill_groups(ng_case *c, int64_t index)
{
    static const struct {
        int at;
        int64_t offset;
    } spoilt[] = {{0, 1}, {2, 2}, {3, 9}, {0, -1}};
    const int64_t sizes[] = {3, 0, 4};
    gemm m;

    if (!begin(&m, c, 8, 5, 33, 3, sizes))
        return;
    fill(&m, NEAR_ONE);
    m.offsets[spoilt[index].at] = spoilt[index].offset;
}

const ng_stratum ng_gemm_bf16_strata[] = {
    {"random", "shapes and kinds of lines", 0, count_random, fill_random},
    {"ragged", "groups of 0, 1, 63, 64, 65 ... rows, and rows past the last", 0,
     count_ragged, fill_ragged},
    {"sums", "cancelling, all positive, one outlier, wide, sparse, subnormal",
     0, count_sums, fill_sums},
    {"special", "NaN, infinities, largest and smallest numbers", 0,
     count_special, fill_special},
    {"edges", "sizes of 0, 1 and around 16, 64, 128 and 256", 0, count_edges,
     fill_edges},
    {"groups",
     "offsets that decrease, start late or end past the rows: refused", 0,
     count_groups, fill_groups},
    {NULL, NULL, 0, NULL, NULL}};
