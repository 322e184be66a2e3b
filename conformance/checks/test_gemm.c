/* SPDX-License-Identifier: Apache-2.0
 *
 * Grouped GEMMs by hand: faults that happened (docs/cases.md L-13, L-14, L-15,
 * L-21, L-22), where the roundings lie, what the tensor core cuts, and what is
 * refused. Both writings must give the same.
 */
#include <math.h>
#include <stdlib.h>

#include "conformance/checks/dense_views.h"
#include "conformance/checks/writings.h"
#include "conformance/subject/gemm_functions.h"
#include "reference/moe/ref_hopper_fp8_dot.h"

#define N(array) ((int)(sizeof(array) / sizeof *(array)))

static const ng_gemm_functions *const functions[] = {
    &ng_reference_gemm_functions,
#ifdef HAVE_MPFR
    &ng_oracle_gemm_functions,
#endif
};

_Static_assert(N(functions) == N_WRITINGS, "the same writings");

enum { ONE = 0x38, HALF = 0x30, NAN_CODE = 0x7F };

static void fill_floats(float *x, int64_t n, float value)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = value;
}

/* One element: D = sum of a[q] * b[q] in one or more blocks, under scales. */
static uint32_t dot(int writing, const uint8_t *a, const uint8_t *b, int64_t k,
                    const float *s_a, const float *s_b, ng_gemm gemm)
{
    ng_rules rules = ng_default_rules;
    const ng_options options = {.rules = &rules};
    uint32_t bits = 0xA5A5A5A5;
    const ng_matrix d = dense_matrix(&bits, NG_FP32, 1, 1);
    const ng_fp8 x = dense_fp8((uint8_t *)a, (float *)s_a, NG_FP32, NG_FP8_ROW,
                               1, k);
    const ng_fp8 y = dense_fp8((uint8_t *)b, (float *)s_b, NG_FP32, NG_FP8_TILE,
                               1, k);

    rules.gemm = (int)gemm;
    ck_assert_int_eq(functions[writing]->fprop(&d, &x, &y, &options), NG_OK);
    return bits;
}

/* ---- layouts ---- */

/* Tiles of 128, not of rows/8 = 125 or columns/4 = 112. */
START_TEST(trap_l13_tile_index)
{
    enum { ROWS = 1000, COLS = 448 };
    static uint8_t w[ROWS * COLS], x[COLS];
    static float d[ROWS];
    float grid[8][4], one[4] = {1, 1, 1, 1};
    const ng_matrix y = dense_matrix(d, NG_FP32, 1, ROWS);
    const ng_fp8 a = dense_fp8(x, one, NG_FP32, NG_FP8_ROW, 1, COLS);
    const ng_fp8 b = dense_fp8(w, grid, NG_FP32, NG_FP8_TILE, ROWS, COLS);

    memset(w, ONE, sizeof w);
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 4; j++)
            grid[i][j] = ldexpf(1, i + 8 * j);
    for (int k = 0; k < COLS; k += 37) {
        memset(x, 0, sizeof x);
        x[k] = ONE;
        ck_assert_int_eq(functions[_i]->fprop(&y, &a, &b, NULL), NG_OK);
        for (int n = 0; n < ROWS; n++)
            expect(_i, "d", n, ng_fp32_bits(ldexpf(1, n / 128 + k / 128 * 8)),
                   ng_fp32_bits(d[n]));
    }
}
END_TEST

/* 12 scales of a row in a line of 16: the padding is not read. */
START_TEST(trap_l14_dirty_scale_padding)
{
    enum { K = 1504, BLOCKS = 12, LINE = 16 };
    static const unsigned char fill[] = {0x00, 0x7F, 0xFF};
    static uint8_t codes[K];
    uint32_t plane[LINE];

    memset(codes, ONE, sizeof codes);
    for (int f = 0; f < N(fill); f++)
        for (int type = 0; type < 3; type++) {
            static const ng_dtype types[] = {NG_FP32, NG_UE8M0, NG_UE8M0X4};
            uint32_t bits = 0;
            const ng_matrix d = dense_matrix(&bits, NG_FP32, 1, 1);
            ng_fp8 a = dense_fp8(codes, plane, types[type], NG_FP8_ROW, 1, K);
            ng_fp8 b = a;

            memset(plane, fill[f], sizeof plane);
            for (int j = 0; j < BLOCKS; j++)
                if (type == 0)
                    plane[j] = 0x3F800000;
                else
                    ((uint8_t *)plane)[j] = 127;
            a.scales.ld = LINE;
            b.form = NG_FP8_TILE;
            ck_assert_int_eq(functions[_i]->fprop(&d, &a, &b, NULL), NG_OK);
            expect(_i, "d", f, ng_fp32_bits(K), bits);
        }
}
END_TEST

/* Rows and columns differ, their tiles do not: the grid must turn too. */
START_TEST(trap_l15_untransposed_scale_grid)
{
    enum { ROWS = 250, COLS = 256 };
    static uint8_t w[ROWS][COLS], turned[COLS][ROWS], g[ROWS];
    static float d[COLS];
    float grid[4] = {1, 2, 4, 8}, turned_grid[4], one[2] = {1, 1};
    const ng_fp8 x = dense_fp8(w[0], grid, NG_FP32, NG_FP8_TILE, ROWS, COLS);
    const ng_fp8 b =
        dense_fp8(turned[0], turned_grid, NG_FP32, NG_FP8_TILE, COLS, ROWS);
    const ng_fp8 a = dense_fp8(g, one, NG_FP32, NG_FP8_ROW, 1, ROWS);
    const ng_matrix y = dense_matrix(d, NG_FP32, 1, COLS);

    memset(w, ONE, sizeof w);
    g[0] = ONE;
    ck_assert_int_eq(writings[_i].transpose_fp8_tile(&b, &x, NULL), NG_OK);
    ck_assert_int_eq(functions[_i]->fprop(&y, &a, &b, NULL), NG_OK);
    ck_assert(d[0] == 1.0f && d[200] == 2.0f);      /* untransposed: 4 */
    g[0] = 0;
    g[ROWS - 1] = ONE;
    ck_assert_int_eq(functions[_i]->fprop(&y, &a, &b, NULL), NG_OK);
    ck_assert(d[0] == 4.0f && d[200] == 8.0f);
}
END_TEST

/* ---- ragged ---- */

/* Groups 0 and 3 have no rows: +0 over NaN, or C as it was. */
START_TEST(trap_l21_gradient_of_an_empty_expert)
{
    enum { GROUPS = 5, T = 32, W = 2 };
    static const int64_t offsets[GROUPS + 1] = {0, 0, 8, 16, 16, 32};
    static const float want[GROUPS] = {0, 8, 8, 0, 16};
    const ng_groups groups = {GROUPS, offsets};
    const ng_options options = {.groups = &groups};
    uint8_t codes[W * T];
    float scales[W * 3];
    uint32_t d[GROUPS * W * W], c[GROUPS * W * W];
    ng_fp8 a = dense_fp8(codes, scales, NG_FP32, NG_FP8_COL, T, W);
    const ng_matrix y = dense_matrix(d, NG_FP32, GROUPS * W, W);
    const ng_matrix addend = dense_matrix(c, NG_FP32, GROUPS * W, W);

    memset(codes, ONE, sizeof codes);
    fill_floats(scales, N(scales), 1);
    a.scales.ld = 3;                    /* a block each for groups 1, 2, 4 */
    memset(d, 0xFF, sizeof d);
    ck_assert_int_eq(functions[_i]->wgrad(&y, NULL, &a, &a, &options), NG_OK);
    for (int i = 0; i < N(d); i++)
        expect(_i, "d", i, ng_fp32_bits(want[i / (W * W)]), d[i]);

    /* Bits that no sum would keep. */
    for (int i = 0; i < N(c); i++)
        c[i] = want[i / (W * W)] == 0 ? (i % 2 == 0 ? 0x80000000 : 0xFFC00001)
                                      : ng_fp32_bits(0.5f);
    for (int in_place = 0; in_place < 2; in_place++) {
        const ng_matrix *to = in_place == 0 ? &y : &addend;
        const uint32_t *got = to->data;

        ck_assert_int_eq(functions[_i]->wgrad(to, &addend, &a, &a, &options),
                         NG_OK);
        for (int i = 0; i < N(c); i++)
            expect(_i, "accumulated", i,
                   want[i / (W * W)] != 0
                       ? ng_fp32_bits(want[i / (W * W)] + 0.5f)
                   : i % 2 == 0 ? 0x80000000
                                : 0xFFC00001,
                   got[i]);
    }
}
END_TEST

/* 10 rows of which 7 count; the others NaN, then 448. */
START_TEST(trap_l22_rows_past_the_last_offset)
{
    enum { T = 10, USED = 7, K = 3, GROUPS = 2 };
    static const int64_t offsets[GROUPS + 1] = {0, 3, 7};
    static const uint8_t poison[] = {NAN_CODE, 0x7E};
    const ng_groups groups = {GROUPS, offsets};
    const ng_options options = {.groups = &groups};

    for (int p = 0; p < 2 * N(poison); p++) {
        uint8_t x[T * K], turned[K * T], w[GROUPS * K];
        uint32_t s_x[T], s_turned[K * GROUPS], d[T], gradient[GROUPS * K * K];
        float s_w[GROUPS] = {1, 2};
        const ng_fp8 a = dense_fp8(x, s_x, NG_FP32, NG_FP8_ROW, T, K);
        const ng_fp8 b = dense_fp8(w, s_w, NG_FP32, NG_FP8_TILE, GROUPS, K);
        ng_fp8 col = dense_fp8(turned, s_turned, NG_FP32, NG_FP8_COL, T, K);
        const ng_matrix y = dense_matrix(d, NG_FP32, T, 1);
        const ng_matrix z = dense_matrix(gradient, NG_FP32, GROUPS * K, K);

        memset(w, ONE, sizeof w);
        memset(x, poison[p / 2], sizeof x);
        memset(turned, poison[p / 2], sizeof turned);
        memset(s_x, poison[p / 2], sizeof s_x);
        memset(d, 0xC3, sizeof d);
        memset(x, ONE, USED * K);
        for (int k = 0; k < K; k++)
            memset(turned + k * T, ONE, USED);
        for (int t = 0; t < USED; t++)
            s_x[t] = 0x3F800000;
        for (int i = 0; i < N(s_turned); i++)
            s_turned[i] = 0x3F800000;
        col.scales.ld = GROUPS;         /* a block of each group */
        ck_assert_int_eq(functions[_i]->fprop(&y, &a, &b, &options), NG_OK);
        ck_assert_int_eq(
            functions[_i]->wgrad(&z, NULL, &col, &col, &options), NG_OK);
        for (int t = 0; t < T; t++)
            expect(_i, "d", t,
                   t < 3      ? ng_fp32_bits(3)
                   : t < USED ? ng_fp32_bits(6)
                              : 0xC3C3C3C3,
                   d[t]);
        for (int i = 0; i < N(gradient); i++)
            expect(_i, "gradient", i, ng_fp32_bits(i < K * K ? 3 : 4),
                   gradient[i]);
    }
}
END_TEST

/* ---- where it rounds ---- */

/* A block is exact, the chain is FP32: 2^24, then 1 (a tie, to even), then
 * -2^24. In another order, or in one sum, 1 remains. */
START_TEST(blocks_in_ascending_order)
{
    static uint8_t codes[3 * 128];
    static const float s_a[3] = {0x1p24f, 1, -0x1p24f}, one[3] = {1, 1, 1};

    codes[0] = codes[128] = codes[256] = ONE;
    expect(_i, "chain", 0, 0, dot(_i, codes, codes, 384, s_a, one, 0));
    /* The same inside a block: 2^16 = 256 * 256 and 2^-9 keep company. */
    uint8_t a[3] = {0x78, 0x01, 0xF8}, b[3] = {0x78, ONE, 0x78};
    expect(_i, "block", 0, ng_fp32_bits(0x1p-9f),
           dot(_i, a, b, 3, one, one, 0));
}
END_TEST

/* The scale product is rounded before anything else: (1 + 2^-23)^2 loses
 * 2^-46, and 2^-150 is 0 though 2^-150 * 2^16 would not be. */
START_TEST(scale_product_is_rounded)
{
    static const uint8_t big[1] = {0x78};
    const float above = 0x1.000002p0f, tiny = 0x1p-75f, least = 0x1p-149f;
    const float one = 1, two = 2;

    expect(_i, "above 1", 0, ng_fp32_bits(0x1.000004p16f),
           dot(_i, big, big, 1, &above, &above, 0));
    expect(_i, "2^-150", 0, 0, dot(_i, big, big, 1, &tiny, &tiny, 0));
    expect(_i, "2^-148", 0, ng_fp32_bits(0x1p-132f),
           dot(_i, big, big, 1, &least, &two, 0));
    expect(_i, "2^-149", 0, ng_fp32_bits(0x1p-133f),
           dot(_i, big, big, 1, &least, &one, 0));
}
END_TEST

/* RN32 of the block's sum: 2^16 + 2^-8 is a tie at 2^-7, to even; 2^16 + 2^-8 +
 * 2^-9 goes up. */
START_TEST(dot_is_rounded)
{
    const uint8_t a[3] = {0x78, 0x02, 0x01}, b[3] = {0x78, ONE, ONE};
    const float one = 1;

    expect(_i, "tie", 0, ng_fp32_bits(0x1p16f), dot(_i, a, b, 2, &one, &one, 0));
    expect(_i, "up", 0, ng_fp32_bits(0x1.000002p16f),
           dot(_i, a, b, 3, &one, &one, 0));
}
END_TEST

/* NaN codes of either sign, zeros beside them, and NaN scales: canonical. */
START_TEST(nan_is_canonical)
{
    const uint8_t nan[2] = {ONE, 0xFF}, zero[2] = {ONE, 0};
    const float one = 1, bad = ng_fp32_from_bits(0xFF800001);
    const float inf = (float)INFINITY;

    for (int gemm = 0; gemm < NG_N_GEMMS; gemm++) {
        expect(_i, "code", gemm, NG_FP32_NAN,
               dot(_i, nan, zero, 2, &one, &one, (ng_gemm)gemm));
        expect(_i, "other code", gemm, NG_FP32_NAN,
               dot(_i, zero, nan, 2, &one, &one, (ng_gemm)gemm));
        expect(_i, "scale", gemm, NG_FP32_NAN,
               dot(_i, zero, zero, 2, &one, &bad, (ng_gemm)gemm));
        expect(_i, "Inf * 0", gemm, NG_FP32_NAN,
               dot(_i, zero + 1, zero + 1, 1, &inf, &one, (ng_gemm)gemm));
        expect(_i, "Inf", gemm, NG_FP32_INFINITY,
               dot(_i, zero, zero, 2, &inf, &one, (ng_gemm)gemm));
    }
}
END_TEST

/* ---- the tensor core ---- */

/* Under hopper-wgmma: cut at 2^-13 of the largest exponent, each term toward
 * zero; a product's exponent is the sum of its operands', a subnormal's -6. */
START_TEST(hopper_cuts)
{
    static const struct {
        const char *what;
        uint8_t a[3], b[3];
        float exact, hopper;
    } cases[] = {
        {"1 + 2^-13", {ONE, 0x04, 0}, {ONE, 0x08, 0}, 0x1.0008p0f, 0x1.0008p0f},
        {"1 + 2^-14", {ONE, 0x02, 0}, {ONE, 0x08, 0}, 0x1.0004p0f, 1},
        {"1 - 2^-14", {ONE, 0x82, 0}, {ONE, 0x08, 0}, 0x1.fff8p-1f, 1},
        {"1 + 2 * 2^-14", {ONE, 0x02, 0x02}, {ONE, 0x08, 0x08}, 0x1.0008p0f, 1},
        {"2.25 + 2 * 2^-13", {0x3C, 0x04, 0x04}, {0x3C, 0x08, 0x08},
         0x1.2008p1f, 0x1.2008p1f},
        {"2.25 + 2^-13", {0x3C, 0x04, 0}, {0x3C, 0x08, 0}, 0x1.2004p1f,
         0x1.2p1f},
        {"0.875 of exponent 2, + 2^-12", {0x01, 0x04, 0}, {0x7E, 0x10, 0},
         0x1.c02p-1f, 0x1.cp-1f},
    };
    const float one = 1;

    for (int i = 0; i < N(cases); i++) {
        expect(_i, cases[i].what, 0, ng_fp32_bits(cases[i].exact),
               dot(_i, cases[i].a, cases[i].b, 3, &one, &one, NG_GEMM_EXACT));
        expect(_i, cases[i].what, 1, ng_fp32_bits(cases[i].hopper),
               dot(_i, cases[i].a, cases[i].b, 3, &one, &one,
                   NG_GEMM_HOPPER_WGMMA));
    }
}
END_TEST

/* Products 32 apart are added by different instructions: -2^-12 is lost beside
 * 8, and 8 - 8 is then 0 and not -2^-12; in one instruction it is lost too, but
 * not where it comes after both. */
START_TEST(hopper_instructions)
{
    const float one = 1;
    uint8_t a[128] = {0}, b[128] = {0};

    a[0] = 0x50;                        /* 8 */
    b[0] = b[32] = ONE;
    a[32] = 0xD0;
    a[1] = 0x82;                        /* -2^-8 * 2^-6 = -2^-14 */
    b[1] = 0x08;
    expect(_i, "before", 0, 0,
           dot(_i, a, b, 128, &one, &one, NG_GEMM_HOPPER_WGMMA));
    a[64] = a[1];
    b[64] = b[1];
    a[1] = 0;
    expect(_i, "after", 0, ng_fp32_bits(-0x1p-14f),
           dot(_i, a, b, 128, &one, &one, NG_GEMM_HOPPER_WGMMA));
}
END_TEST

/* An instruction by itself: the accumulator. */
START_TEST(hopper_accumulator)
{
    static const uint8_t zero[32];
    uint8_t one[32] = {ONE};

    ck_assert_uint_eq(
        ng_ref_hopper_fp8_dot(zero, zero, ng_fp32_bits(1 + 0x1p-23f)),
        ng_fp32_bits(1));
    ck_assert_uint_eq(ng_ref_hopper_fp8_dot(one, one, ng_fp32_bits(0x1p-13f)),
                      ng_fp32_bits(1 + 0x1p-13f));
    ck_assert_uint_eq(ng_ref_hopper_fp8_dot(one, one, ng_fp32_bits(0x1p-14f)),
                      ng_fp32_bits(1));
    ck_assert_uint_eq(ng_ref_hopper_fp8_dot(one, one, ng_fp32_bits(-1)), 0);
}
END_TEST

/* ---- refused, outputs untouched ---- */

START_TEST(refused)
{
    static uint8_t codes[64];
    static float scales[64];
    const int64_t offsets[3] = {0, 2, 4}, bad[3] = {0, 3, 2};
    ng_groups groups = {2, offsets};
    const ng_options options = {.groups = &groups};
    float d[64];
    const ng_matrix y = dense_matrix(d, NG_FP32, 4, 3);
    const ng_fp8 a = dense_fp8(codes, scales, NG_FP32, NG_FP8_ROW, 4, 5);
    const ng_fp8 b = dense_fp8(codes, scales, NG_FP32, NG_FP8_TILE, 6, 5);
    ng_fp8 p = dense_fp8(codes, scales, NG_FP32, NG_FP8_COL, 4, 3);
    ng_fp8 q = dense_fp8(codes, scales, NG_FP32, NG_FP8_COL, 4, 5);
    const ng_matrix z = dense_matrix(d, NG_FP32, 6, 5);
    const ng_gemm_functions *f = functions[_i];

    p.scales.ld = q.scales.ld = 2;      /* a block of each group */
    fill_floats(d, N(d), 7);
#define FPROP(status, change)                                                  \
    do {                                                                       \
        ng_matrix to = y;                                                      \
        ng_fp8 x = a, w = b;                                                   \
        change;                                                                \
        ck_assert_int_eq(f->fprop(&to, &x, &w, &options), status);             \
    } while (0)
#define WGRAD(status, change)                                                  \
    do {                                                                       \
        ng_matrix to = z, c = z;                                               \
        ng_fp8 x = p, w = q;                                                   \
        change;                                                                \
        ck_assert_int_eq(f->wgrad(&to, &c, &x, &w, &options), status);         \
    } while (0)
    FPROP(NG_BAD_SHAPE, to.rows = 5);
    FPROP(NG_BAD_SHAPE, w.rows = 5);
    FPROP(NG_BAD_SHAPE, w.cols = 4);
    FPROP(NG_BAD_DTYPE, to.dtype = NG_FP16);
    FPROP(NG_BAD_GROUPS, groups.offsets = bad);
    groups.offsets = offsets;
    WGRAD(NG_BAD_SHAPE, x.rows = 5);
    WGRAD(NG_BAD_SHAPE, to.rows = 5);
    WGRAD(NG_BAD_SHAPE, c.cols = 4);
    WGRAD(NG_BAD_DTYPE, to.dtype = c.dtype = NG_FP16);
    WGRAD(NG_BAD_DTYPE, c.dtype = NG_BF16);
    WGRAD(NG_BAD_GROUPS, groups.offsets = bad);
    groups.offsets = offsets;
    if (_i == 0) {      /* the oracle leaves these to its callers */
        FPROP(NG_BAD_LAYOUT, x.form = NG_FP8_TILE);
        FPROP(NG_BAD_LAYOUT, w.form = NG_FP8_ROW);
        FPROP(NG_BAD_LAYOUT, to.ld = 2);
        FPROP(NG_BAD_LAYOUT, w.ld = 4);
        FPROP(NG_BAD_POINTER, x.codes = NULL);
        FPROP(NG_BAD_POINTER, w.scales.data = NULL);
        FPROP(NG_BAD_DTYPE, w.scales.dtype = NG_BF16);
        WGRAD(NG_BAD_LAYOUT, x.form = NG_FP8_ROW);
        WGRAD(NG_BAD_LAYOUT, w.ld = 3);
        WGRAD(NG_BAD_POINTER, to.data = NULL);
        ck_assert_int_eq(f->fprop(NULL, &a, &b, &options), NG_BAD_POINTER);
        ck_assert_int_eq(f->wgrad(&z, NULL, NULL, &q, &options),
                         NG_BAD_POINTER);
        ck_assert_int_eq(f->mxfp4_fprop(&y, NULL, &b, &options),
                         NG_BAD_POINTER);
        ck_assert_int_eq(f->mxfp4_wgrad(&z, NULL, &p, NULL, &options),
                         NG_BAD_POINTER);
    }
    for (int i = 0; i < N(d); i++)
        ck_assert(d[i] == 7);
}
END_TEST

/* ---- BF16 ---- */

enum { BF16_ONE = 0x3F80, BF16_NAN = 0x7FC0 };

/* 2^24 + 1 - 2^24 is 0 upward and 1 if the 1 comes last; the upper halves of
 * FP32. */
START_TEST(bf16_ascends)
{
    static const uint16_t a[2][3] = {{0x4B80, BF16_ONE, 0xCB80},
                                     {0x4B80, 0xCB80, BF16_ONE}};
    static const uint16_t ones[3] = {BF16_ONE, BF16_ONE, BF16_ONE};
    uint32_t bits;
    const ng_matrix d = dense_matrix(&bits, NG_FP32, 1, 1);
    const ng_matrix b = dense_matrix((void *)ones, NG_BF16, 1, 3);
    const ng_matrix down = dense_matrix((void *)ones, NG_BF16, 3, 1);

    for (int i = 0; i < 2; i++) {
        const ng_matrix x = dense_matrix((void *)a[i], NG_BF16, 1, 3);
        const ng_matrix turned = dense_matrix((void *)a[i], NG_BF16, 3, 1);

        ck_assert_int_eq(functions[_i]->bf16_fprop(&d, &x, &b, NULL), NG_OK);
        expect(_i, "fprop", i, ng_fp32_bits((float)i), bits);
        ck_assert_int_eq(
            functions[_i]->bf16_wgrad(&d, NULL, &turned, &down, NULL), NG_OK);
        expect(_i, "wgrad", i, ng_fp32_bits((float)i), bits);
    }
}
END_TEST

/* L-21 and L-22 in BF16: groups 0 and 2 have no rows, and row 3 is NaN. */
START_TEST(bf16_ragged)
{
    static const int64_t offsets[4] = {0, 0, 3, 3};
    const ng_groups groups = {3, offsets};
    const ng_options options = {.groups = &groups};
    uint16_t a[4], b[4], w[3] = {BF16_NAN, BF16_ONE, BF16_NAN};
    uint32_t d[4] = {7, 7, 7, 7}, c[3] = {0x80000000, 0x3F000000, 0xFFC00001};
    const ng_matrix x = dense_matrix(a, NG_BF16, 4, 1);
    const ng_matrix y = dense_matrix(b, NG_BF16, 4, 1);
    const ng_matrix weights = dense_matrix(w, NG_BF16, 3, 1);
    const ng_matrix product = dense_matrix(d, NG_FP32, 4, 1);
    const ng_matrix gradient = dense_matrix(d, NG_FP32, 3, 1);
    const ng_matrix addend = dense_matrix(c, NG_FP32, 3, 1);

    for (int i = 0; i < 4; i++)
        a[i] = b[i] = i < 3 ? BF16_ONE : BF16_NAN;
    ck_assert_int_eq(
        functions[_i]->bf16_fprop(&product, &x, &weights, &options), NG_OK);
    for (int i = 0; i < 4; i++)
        expect(_i, "fprop", i, i < 3 ? 0x3F800000 : 7, d[i]);
    ck_assert_int_eq(
        functions[_i]->bf16_wgrad(&gradient, NULL, &x, &y, &options), NG_OK);
    for (int i = 0; i < 3; i++)
        expect(_i, "wgrad", i, i == 1 ? 0x40400000 : 0, d[i]);
    ck_assert_int_eq(
        functions[_i]->bf16_wgrad(&gradient, &addend, &x, &y, &options), NG_OK);
    expect(_i, "added", 0, 0x80000000, d[0]);
    expect(_i, "added", 1, 0x40600000, d[1]);
    expect(_i, "added", 2, 0xFFC00001, d[2]);
}
END_TEST

START_TEST(bf16_refused)
{
    static uint16_t x[32];
    const int64_t offsets[3] = {0, 2, 4}, bad[3] = {0, 3, 2};
    ng_groups groups = {2, offsets};
    const ng_options options = {.groups = &groups};
    float d[30];
    const ng_matrix a = dense_matrix(x, NG_BF16, 4, 5);
    const ng_matrix b = dense_matrix(x, NG_BF16, 6, 5);
    const ng_matrix g = dense_matrix(x, NG_BF16, 4, 3);
    const ng_matrix y = dense_matrix(d, NG_FP32, 4, 3);
    const ng_matrix z = dense_matrix(d, NG_FP32, 6, 5);
    const ng_gemm_functions *f = functions[_i];

    fill_floats(d, N(d), 7);
#define BF16_FPROP(status, change)                                             \
    do {                                                                       \
        ng_matrix to = y, l = a, r = b;                                        \
        change;                                                                \
        ck_assert_int_eq(f->bf16_fprop(&to, &l, &r, &options), status);        \
    } while (0)
#define BF16_WGRAD(status, change)                                             \
    do {                                                                       \
        ng_matrix to = z, c = z, l = g, r = a;                                 \
        change;                                                                \
        ck_assert_int_eq(f->bf16_wgrad(&to, &c, &l, &r, &options), status);    \
    } while (0)
    BF16_FPROP(NG_BAD_SHAPE, to.rows = 5);
    BF16_FPROP(NG_BAD_SHAPE, r.rows = 5);
    BF16_FPROP(NG_BAD_SHAPE, r.cols = 4);
    BF16_FPROP(NG_BAD_DTYPE, to.dtype = NG_FP16);
    BF16_FPROP(NG_BAD_DTYPE, l.dtype = NG_FP16);
    BF16_FPROP(NG_BAD_DTYPE, r.dtype = NG_FP16);
    BF16_WGRAD(NG_BAD_SHAPE, l.rows = 5);
    BF16_WGRAD(NG_BAD_SHAPE, to.rows = 5);
    BF16_WGRAD(NG_BAD_SHAPE, c.cols = 4);
    BF16_WGRAD(NG_BAD_DTYPE, to.dtype = c.dtype = NG_FP16);
    BF16_WGRAD(NG_BAD_DTYPE, c.dtype = NG_BF16);
    BF16_WGRAD(NG_BAD_DTYPE, l.dtype = NG_FP16);
    BF16_WGRAD(NG_BAD_DTYPE, r.dtype = NG_FP16);
    BF16_FPROP(NG_BAD_GROUPS, groups.offsets = bad);
    BF16_WGRAD(NG_BAD_GROUPS, (void)to);
    groups.offsets = offsets;
    if (_i == 0) { /* the oracle leaves these to its callers */
        BF16_FPROP(NG_BAD_LAYOUT, to.ld = 2);
        BF16_FPROP(NG_BAD_POINTER, l.data = NULL);
        BF16_WGRAD(NG_BAD_LAYOUT, r.ld = 3);
        ck_assert_int_eq(f->bf16_fprop(NULL, &a, &b, &options), NG_BAD_POINTER);
        ck_assert_int_eq(f->bf16_wgrad(&z, NULL, NULL, &a, &options),
                         NG_BAD_POINTER);
    }
    for (int i = 0; i < N(d); i++)
        ck_assert(d[i] == 7);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("grouped GEMM");
    TCase *tcase = tcase_create("all");

    ADD_TRAP(tcase, trap_l13_tile_index);
    ADD_TRAP(tcase, trap_l14_dirty_scale_padding);
    ADD_TRAP(tcase, trap_l15_untransposed_scale_grid);
    ADD_TRAP(tcase, trap_l21_gradient_of_an_empty_expert);
    ADD_TRAP(tcase, trap_l22_rows_past_the_last_offset);
    ADD_TRAP(tcase, blocks_in_ascending_order);
    ADD_TRAP(tcase, scale_product_is_rounded);
    ADD_TRAP(tcase, dot_is_rounded);
    ADD_TRAP(tcase, nan_is_canonical);
    ADD_TRAP(tcase, hopper_cuts);
    ADD_TRAP(tcase, hopper_instructions);
    tcase_add_test(tcase, hopper_accumulator);
    ADD_TRAP(tcase, refused);
    ADD_TRAP(tcase, bf16_ascends);
    ADD_TRAP(tcase, bf16_ragged);
    ADD_TRAP(tcase, bf16_refused);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
