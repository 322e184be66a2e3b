/* SPDX-License-Identifier: Apache-2.0
 *
 * What is hard about a GEMM of narrow numbers: sums that cancel, that grow in
 * one direction, that one product outweighs; scale products that underflow or
 * overflow; NaN; short blocks, short tiles, ragged and empty groups.
 */
#include "conformance/checks/inputs_gemm.h"

#include <math.h>
#include <stdlib.h>

#include "conformance/checks/gemm_case.h"
#include "conformance/checks/inputs_block.h"
#include "conformance/checks/numbers.h"
#include "formats/e4m3.h"
#include "formats/fp32.h"
#include "formats/ue8m0.h"

/* ---- codes of a line ---- */

typedef enum line_kind {
    ANY,    /* every code but NaN, evenly */
    SPREAD, /* magnitudes of a bell around a binade */
    POSITIVE,
    OUTLIER, /* one 448 among small ones */
    ASCENDING,
    DESCENDING,
    SPARSE, /* zeros of both signs, a few others */
    SUBNORMAL,
    CANCELLING, /* product q + h is minus product q, but for a few */
    N_LINE_KINDS
} line_kind;

/* Which product a cancelling one answers: within an instruction of the tensor
 * core, across two, across two blocks. */
static const int64_t distances[] = {1, 16, 32, 64, 128};

enum { N_DISTANCES = sizeof distances / sizeof *distances };

static int compare_magnitude(const void *x, const void *y)
{
    return (*(const uint8_t *)x & 0x7F) - (*(const uint8_t *)y & 0x7F);
}

static uint8_t some_code(ng_case *c, line_kind kind)
{
    const uint8_t sign = (uint8_t)(ng_case_random(c) & NG_E4M3_SIGN);
    const double bell = 4 * ng_case_normal(c);

    switch (kind) {
    case SPREAD:
        return (uint8_t)(sign | (uint8_t)fmin(fmax(60 + 3 * bell, 0), 126));
    case POSITIVE:
        return (uint8_t)ng_case_below(c, NG_E4M3_MAX_CODE + 1);
    case OUTLIER:
        return (uint8_t)(sign | ng_case_below(c, 24));
    case SPARSE:
        return ng_case_chance(c, 8)
                   ? (uint8_t)(sign | ng_case_below(c, NG_E4M3_MAX_CODE + 1))
                   : sign;
    case SUBNORMAL:
        return (uint8_t)(sign | ng_case_below(c, 9));
    default:
        return (uint8_t)(sign | ng_case_below(c, NG_E4M3_MAX_CODE + 1));
    }
}

/* n codes of one line. Cancelling lines repeat their codes after `distance`, of
 * operand a with the other sign, so that every pair of lines cancels. */
static void fill_line(ng_case *c, uint8_t *code, int64_t n, line_kind kind,
                      int64_t distance, bool is_a)
{
    for (int64_t q = 0; q < n; q++)
        code[q] = some_code(c, kind);
    if (kind == OUTLIER && n > 0)
        code[ng_case_below(c, n)] = NG_E4M3_MAX_CODE;
    if (kind == ASCENDING || kind == DESCENDING)
        qsort(code, (size_t)n, 1, compare_magnitude);
    for (int64_t q = 0; kind == DESCENDING && q < n / 2; q++) {
        const uint8_t swap = code[q];

        code[q] = code[n - 1 - q];
        code[n - 1 - q] = swap;
    }
    for (int64_t q = 0; kind == CANCELLING && q + distance < n; q++)
        if (q / distance % 2 == 0)
            code[q + distance] = (uint8_t)(code[q] ^ (is_a ? NG_E4M3_SIGN : 0));
    if (kind == CANCELLING && n > 0 && ng_case_chance(c, 2)) {
        const int64_t at = ng_case_below(c, n);

        code[at] = (uint8_t)ng_case_below(c, 64);
    }
}

static void put_lines(ng_gemm_case *m, int64_t g, bool is_a, line_kind kind,
                      int64_t distance)
{
    ng_case *c = m->c;
    const int64_t n = ng_gemm_depth(m, g);
    const int64_t lines = is_a ? ng_gemm_lines_a(m, g) : ng_gemm_lines_b(m, g);
    const bool packed = is_a ? m->a.packed : m->b.packed;
    uint8_t *code = malloc((size_t)n + 1);

    if (code == NULL) {
        c->failed = true;
        return;
    }
    for (int64_t i = 0; i < lines; i++) {
        fill_line(c, code, n, kind, distance, is_a);
        for (int64_t q = 0; q < n; q++) {
            /* E2M1: the sign and three bits of the code. */
            const uint32_t put =
                packed ? (uint32_t)((code[q] >> 4 & 8) | (code[q] >> 4 & 7))
                       : code[q];

            if (is_a)
                ng_gemm_put_a(m, g, i, q, put);
            else
                ng_gemm_put_b(m, g, i, q, put);
        }
    }
    free(code);
}

static void fill_codes(ng_gemm_case *m, line_kind kind)
{
    const int64_t distance = distances[ng_case_below(m->c, N_DISTANCES)];

    for (int64_t g = 0; g < m->n_groups; g++) {
        put_lines(m, g, true, kind, distance);
        put_lines(m, g, false,
                  kind == OUTLIER && ng_case_chance(m->c, 2) ? SPREAD : kind,
                  distance);
    }
}

/* ---- scales and the addend ---- */

static uint32_t scale_near(ng_gemm_case *m, const ng_gemm_side *side,
                           double center, double spread)
{
    ng_block_case b = {.c = m->c, .scales_dtype = side->scales_dtype};

    return ng_block_random_scale(&b, center, spread);
}

static void fill_scales_of(ng_gemm_case *m, ng_gemm_side *side, double center,
                           double spread)
{
    const int64_t n = ng_gemm_n_scales(m, side);

    for (int64_t i = 0; i < n; i++)
        ng_gemm_put_scale(m, side, i, scale_near(m, side, center, spread));
}

/* C: numbers about as large as the products, zeros of both signs. */
static void fill_addend(ng_gemm_case *m, double center)
{
    const ng_format *format = ng_number_format(m->dtype);
    const int64_t n = m->n_groups * m->n * m->k;

    for (int64_t i = 0; m->addend != NULL && i < n; i++) {
        const double x = ng_case_chance(m->c, 16)
                             ? copysign(0.0, ng_case_normal(m->c))
                             : ldexp(ng_case_normal(m->c),
                                     (int)fmin(fmax(center, -140), 100));
        const uint32_t code = ng_number_below(format, x);

        if (m->dtype == NG_FP32)
            ((uint32_t *)m->addend)[i] = code;
        else
            ((uint16_t *)m->addend)[i] = (uint16_t)code;
    }
}

static void fill_scales(ng_gemm_case *m, double center_a, double center_b,
                        double spread)
{
    fill_scales_of(m, &m->a, center_a, spread);
    fill_scales_of(m, &m->b, center_b, spread);
    fill_addend(m, center_a + center_b + 6);
}

/* ---- strata ---- */

/* Variants that differ from another in little: a packing, a narrower output. */
static bool is_minor(const ng_variant *variant)
{
    return ng_variant_get(variant, "scales", NG_FP32) == NG_UE8M0X4
           || (ng_variant_get(variant, "d", NG_FP32) == NG_BF16
               && ng_variant_get(variant, "scales", NG_FP32) == NG_UE8M0)
           || ng_variant_get(variant, "headroom", NG_DEFAULT_HEADROOM)
                  != NG_DEFAULT_HEADROOM;
}

/* wgrad, by its axis. */
static bool contracts_rows(const ng_variant *variant)
{
    return ng_variant_get(variant, "accumulate", -1) >= 0;
}

static int64_t count_random(const ng_variant *variant, int level)
{
    return level == 0 ? (is_minor(variant) ? 1 : 4)
                      : (is_minor(variant) ? 8 : 64);
}

static void fill_random(ng_case *c, int64_t index)
{
    static const int64_t edge[] = {31,  32,  33,  64,  127,
                                   128, 129, 160, 256, 257};
    ng_gemm_case m;
    int64_t size[3];

    for (int i = 0; i < 3; i++)
        size[i] = ng_case_chance(c, 3)
                      ? edge[ng_case_below(c, sizeof edge / sizeof *edge)]
                      : 1 + ng_case_below(c, 40);
    while (size[0] * size[1] * size[2] > 300000)
        size[ng_case_below(c, 3)] = 1 + ng_case_below(c, 20);
    c->odd_layout = index % 2 == 0;
    if (!ng_gemm_begin(&m, c, size[0], size[1], size[2], NG_GEMM_DENSE, NULL))
        return;
    fill_codes(&m, (line_kind)ng_case_below(c, N_LINE_KINDS));

    const double center_a = (double)ng_case_below(c, 17) - 8;
    const double center_b = (double)ng_case_below(c, 17) - 8;

    fill_scales(&m, center_a, center_b, 3);
}

static int64_t count_ragged(const ng_variant *variant, int level)
{
    return level == 0 ? (is_minor(variant) ? 1 : 4)
                      : (is_minor(variant) ? 8 : 48);
}

ng_gemm_rows ng_gemm_draw_rows(ng_case *c, int64_t index,
                               const int64_t first[static NG_GEMM_MAX_GROUPS],
                               const int64_t some[static NG_GEMM_GROUP_SIZES])
{
    ng_gemm_rows rows = {.n_groups = 1 + ng_case_below(c, 5)};

    rows.past = ng_case_chance(c, 2) ? 1 + ng_case_below(c, 6) : 0;
    if (index == 0) {
        rows.n_groups = NG_GEMM_MAX_GROUPS;
        rows.past = 3;
    } else if (index == 2) {
        rows.n_groups = 2;
        rows.past = 5;
    }
    for (int64_t g = 0; g < rows.n_groups; g++) {
        rows.sizes[g] = index == 0 ? first[g]
                        : index == 2
                            ? 0
                            : some[ng_case_below(c, NG_GEMM_GROUP_SIZES)];
        rows.used += rows.sizes[g];
    }
    return rows;
}

static void fill_ragged(ng_case *c, int64_t index)
{
    static const int64_t first[] = {0, 1, 127, 0, 0, 128, 129, 0};
    static const int64_t some[] = {0, 1, 2, 31, 32, 33, 127, 128, 129, 200};
    const ng_gemm_rows rows = ng_gemm_draw_rows(c, index, first, some);
    ng_gemm_case m;

    c->odd_layout = !ng_case_chance(c, 4);

    const int64_t width = 1 + ng_case_below(c, 12);
    const bool wgrad = contracts_rows(c->variant);
    const int64_t depth = wgrad                  ? 1 + ng_case_below(c, 20)
                          : ng_case_chance(c, 3) ? 125 + ng_case_below(c, 10)
                                                 : 1 + ng_case_below(c, 60);

    if (!ng_gemm_begin(&m, c, rows.used + rows.past, width, depth,
                       rows.n_groups, rows.sizes))
        return;
    fill_codes(&m, (line_kind)ng_case_below(c, N_LINE_KINDS));
    fill_scales(&m, -2, 3, 2);
}

static int64_t count_sums(const ng_variant *variant, int level)
{
    return is_minor(variant) ? 2 : level == 0 ? N_LINE_KINDS : 6 * N_LINE_KINDS;
}

/* Every kind of line over several blocks, their scales near each other. */
static void fill_sums(ng_case *c, int64_t index)
{
    const line_kind kind = (line_kind)(N_LINE_KINDS - 1 - index % N_LINE_KINDS);
    const int64_t depth = 256 + ng_case_below(c, 70);
    ng_gemm_case m;
    const bool wgrad = contracts_rows(c->variant);

    if (!ng_gemm_begin(&m, c, wgrad ? depth : 9, 12, wgrad ? 9 : depth,
                       NG_GEMM_DENSE, NULL))
        return;
    fill_codes(&m, kind);
    fill_scales(&m, 0, 0, index % 2 == 0 ? 0 : 2);
}

static int64_t count_scales(const ng_variant *variant, int level)
{
    return is_minor(variant) ? 2 : level == 0 ? 8 : 40;
}

/* Scale products about to underflow, to overflow, far from each other, or
 * cancelling each other's range. */
static void fill_scales_stratum(ng_case *c, int64_t index)
{
    static const double center[8][3] = {
        {-64, -66, 4},  {-75, -75, 3},  {60, 58, 3}, {64, 64, 2},
        {-100, 100, 8}, {120, -126, 4}, {0, 0, 30},  {-149, 40, 1}};
    const double *at = center[index % 8];
    const bool wgrad = contracts_rows(c->variant);
    ng_gemm_case m;

    if (!ng_gemm_begin(&m, c, wgrad ? 150 : 20, 17, wgrad ? 20 : 150,
                       NG_GEMM_DENSE, NULL))
        return;
    fill_codes(&m, ng_case_chance(c, 2) ? SPREAD : ANY);
    fill_scales(&m, at[0], at[1], at[2]);
}

static int64_t count_special(const ng_variant *variant, int level)
{
    return is_minor(variant) ? 2 : level == 0 ? 6 : 24;
}

/* A NaN of either sign among codes and scales, and what else scales and C can
 * hold: infinity, zero, negative numbers. */
static void fill_special(ng_case *c, int64_t index)
{
    static const uint32_t odd[] = {NG_FP32_NAN, 0xFF800001, NG_FP32_INFINITY,
                                   0xFF800000,  0,          NG_FP32_SIGN,
                                   0xC0400000,  0x7F7FFFFF, 1};
    const int64_t sizes[] = {5, 0, 130};
    const bool wgrad = contracts_rows(c->variant);
    ng_gemm_case m;

    if (!ng_gemm_begin(&m, c, 137, 6, wgrad ? 40 : 140, 3, sizes))
        return;
    fill_codes(&m, SPREAD);
    fill_scales(&m, 0, 0, 1);
    for (int64_t g = 0; g < m.n_groups && index % 3 != 1; g++) {
        const int64_t lines_a = ng_gemm_lines_a(&m, g);
        const int64_t lines_b = ng_gemm_lines_b(&m, g);
        const int64_t depth = ng_gemm_depth(&m, g);
        const uint32_t nan = ng_case_chance(c, 2) ? 0x7F : 0xFF;

        if (lines_a == 0 || lines_b == 0 || depth == 0)
            continue;

        const int64_t q = ng_case_below(c, depth);

        if (!m.a.packed && index % 2 == 0)
            ng_gemm_put_a(&m, g, ng_case_below(c, lines_a), q, nan);
        if (!m.b.packed && index % 4 == 2)
            ng_gemm_put_b(&m, g, ng_case_below(c, lines_b), q, nan);
    }
    for (int i = 0; i < 4 && index % 3 != 0; i++) {
        ng_gemm_side *side = ng_case_chance(c, 2) ? &m.a : &m.b;
        const int64_t at = ng_case_below(c, ng_gemm_n_scales(&m, side));

        ng_gemm_put_scale(&m, side, at,
                          side->scales_dtype == NG_FP32
                              ? odd[ng_case_below(c, sizeof odd / sizeof *odd)]
                              : NG_UE8M0_NAN);
    }
    if (m.addend != NULL && index % 3 == 2 && m.dtype == NG_FP32) {
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
    (void)level;
    return is_minor(variant) ? 4 : 12;
}

/* Sizes around the tile and the block, and none at all. */
static void fill_edges(ng_case *c, int64_t index)
{
    static const int64_t size[12][3] = {
        {1, 1, 1},   {3, 2, 0},   {3, 0, 5},     {0, 3, 5},
        {2, 127, 3}, {2, 128, 3}, {2, 129, 130}, {130, 3, 128},
        {2, 3, 127}, {2, 3, 129}, {127, 2, 2},   {129, 2, 257}};
    const bool wgrad = contracts_rows(c->variant);
    const int64_t *at = size[index];
    ng_gemm_case m;

    c->odd_layout = ng_case_chance(c, 2);
    if (!ng_gemm_begin(&m, c, at[wgrad ? 2 : 0], at[1], at[wgrad ? 0 : 2],
                       NG_GEMM_DENSE, NULL))
        return;
    fill_codes(&m, ANY);
    fill_scales(&m, 0, 0, 4);
}

static int64_t count_products(const ng_variant *variant, int level)
{
    const bool packed = ng_variant_get(variant, "headroom", -1) >= 0;

    return level > 0
           || (!packed && ng_variant_get(variant, "d", 0) == NG_FP32
               && ng_variant_get(variant, "scales", 0) == NG_FP32
               && ng_variant_get(variant, "accumulate", 0) == 0);
}

/* Each code times each: 256 lines of one code on either side. */
static void fill_products(ng_case *c, int64_t index)
{
    const bool wgrad = contracts_rows(c->variant);
    ng_gemm_case m;

    (void)index;
    if (!ng_gemm_begin(&m, c, wgrad ? 1 : 256, 256, wgrad ? 256 : 1,
                       NG_GEMM_DENSE, NULL))
        return;
    for (int64_t code = 0; code < 256; code++) {
        ng_gemm_put_a(&m, 0, code, 0,
                      (uint32_t)(code & (m.a.packed ? 15 : 255)));
        ng_gemm_put_b(&m, 0, code, 0,
                      (uint32_t)(code & (m.b.packed ? 15 : 255)));
    }
    fill_scales(&m, 0, 0, 0);
}

static int64_t count_groups(const ng_variant *variant, int level)
{
    (void)variant, (void)level;
    return 4;
}

/* A good case, whose offsets are then spoilt. */
static void fill_groups(ng_case *c, int64_t index)
{
    const int64_t sizes[] = {3, 0, 4};
    ng_gemm_case m;

    if (!ng_gemm_begin(&m, c, 8, 5, 33, 3, sizes))
        return;
    fill_codes(&m, ANY);
    fill_scales(&m, 0, 0, 1);
    if (index == 0)
        m.offsets[0] = 1;
    else if (index == 1)
        m.offsets[2] = 2; /* after a 3 */
    else if (index == 2)
        m.offsets[3] = 9; /* of 8 rows */
    else
        m.offsets[0] = -1;
}

const ng_stratum ng_gemm_strata[] = {
    {"random", "shapes and kinds of lines", 0, count_random, fill_random},
    {"ragged", "groups of 0, 1, 127, 128, 129 ... rows, and rows past the last",
     0, count_ragged, fill_ragged},
    {"sums", "cancelling, all positive, one outlier, sorted, sparse, subnormal",
     0, count_sums, fill_sums},
    {"scales", "scale products near and past the ends of FP32", 0, count_scales,
     fill_scales_stratum},
    {"special", "NaN codes and scales, infinite, zero and negative scales", 0,
     count_special, fill_special},
    {"edges", "sizes of 0, 1 and around 128", 0, count_edges, fill_edges},
    {"products", "every code times every code", 0, count_products,
     fill_products},
    {"groups",
     "offsets that decrease, start late or end past the rows: refused", 0,
     count_groups, fill_groups},
    {NULL, NULL, 0, NULL, NULL}};
