/* SPDX-License-Identifier: Apache-2.0
 *
 * FP8 tensors: E4M3 codes under power-of-two or general scales.
 */
#include "conformance/checks/inputs_block.h"

#include <math.h>
#include <string.h>

#include "conformance/checks/numbers.h"
#include "formats/e4m3.h"
#include "formats/fp32.h"
#include "formats/ue8m0.h"

static const char *scales_axis(const ng_variant *variant)
{
    return ng_variant_get(variant, "scales", -1) >= 0 ? "scales" : "from";
}

/* Scales a case of "codes"; past those of ng_block_scale come random ones. */
enum { SCALES_A_CASE = 16, RANDOM_CASES = 8 };

static int64_t count_codes(const ng_variant *variant, int level)
{
    const char *axis = scales_axis(variant);
    const int64_t all =
        ng_ceil_div(ng_variant_n_scales(variant, axis), SCALES_A_CASE);

    if (level == 0 && ng_variant_is_minor(variant))
        return 4;
    if (ng_variant_get(variant, axis, 0) != NG_FP32)
        return all;
    return all + (level == 0 ? 2 : RANDOM_CASES);
}

/* Case numbers walk through the scales backwards: NaN and infinity first. */
static uint32_t scale_number(ng_block_case *b, int64_t i)
{
    const int64_t n = ng_block_n_scales(b);

    return i < n ? ng_block_scale(b, n - 1 - i)
                 : ng_block_random_scale(b, 0, 60);
}

/* Every code under every scale. */
static void fill_codes(ng_case *c, int64_t index)
{
    enum { SIZE = 128, N = 2 * SCALES_A_CASE };
    ng_block_case b;

    if (!ng_block_list(&b, c, N, SIZE))
        return;
    for (int64_t block = 0; block < N; block++) {
        for (int64_t i = 0; i < SIZE; i++)
            ng_block_put_in(&b, block, i,
                            (uint32_t)(block % 2 * SIZE + i));
        ng_block_put_scale_of(
            &b, block, scale_number(&b, index * SCALES_A_CASE + block / 2));
    }
}

static int64_t count_tiles(const ng_variant *variant, int level)
{
    return level == 0 && ng_variant_is_minor(variant) ? 2 : 3;
}

/* L-13, L-15: sizes from which the side of a tile would be guessed wrong, and a
 * tensor with as many tiles down as across. Every tile has its own scale. */
static void fill_tiles(ng_case *c, int64_t index)
{
    static const int64_t shapes[3][2] = {{1000, 3}, {2, 448}, {250, 256}};
    const int64_t *shape = shapes[index];
    ng_block_case b;

    if (!ng_block_begin(&b, c, shape[0], shape[1], NG_DENSE, NULL))
        return;
    for (int64_t r = 0; r < b.rows; r++)
        for (int64_t col = 0; col < b.cols; col++)
            ng_block_put(&b, r, col,
                         ng_case_chance(c, 4)
                             ? (uint32_t)ng_case_below(c, NG_E4M3_MAX_CODE)
                             : 0x38);
    for (int64_t line = 0; line < b.lines; line++)
        for (int64_t j = 0; j < b.n_scales; j++) {
            const int k = (int)(line * b.n_scales + j);

            ng_block_put_scale(&b, line, j,
                               b.scales_dtype == NG_FP32
                                   ? ng_number_power(k)
                                   : (uint32_t)(k + NG_UE8M0_BIAS));
        }
}

const ng_stratum ng_dequantize_fp8_strata[] = {
    {"codes", "every code under every scale, and random general ones", 0,
     count_codes, fill_codes},
    NG_SHAPE_STRATA,
    {0},
};

const ng_stratum ng_dequantize_fp8_tile_strata[] = {
    {"codes", "every code under every scale, and random general ones", 0,
     count_codes, fill_codes},
    {"tiles", "shapes whose tiles could be miscounted or turned", 0,
     count_tiles, fill_tiles},
    NG_SHAPE_STRATA,
    {0},
};

static int64_t count_moved(const ng_variant *variant, int level)
{
    (void)variant;
    return level == 0 ? 4 : 32;
}

/* Any bits at all, NaN payloads and scales that no quantiser writes included:
 * nothing may change. */
static void fill_moved(ng_case *c, int64_t index)
{
    ng_block_case b;

    c->odd_layout = index % 2 != 0;
    const int64_t rows = 1 + ng_case_below(c, 300);
    const int64_t cols = 1 + ng_case_below(c, 300);

    if (!ng_block_begin(&b, c, rows, cols, NG_DENSE, NULL))
        return;
    for (int64_t r = 0; r < b.rows; r++)
        for (int64_t col = 0; col < b.cols; col++)
            ng_block_put(&b, r, col, (uint32_t)ng_case_below(c, 256));
    for (int64_t line = 0; line < b.lines; line++)
        for (int64_t j = 0; j < b.n_scales; j++) {
            const uint32_t bits = (uint32_t)ng_case_random(c);

            ng_block_put_scale(&b, line, j,
                               ng_case_chance(c, 3) ? bits | NG_FP32_INFINITY
                                                    : bits);
        }
}

const ng_stratum ng_transpose_strata[] = {
    {"moved", "any bits, NaN payloads too", 0, count_moved, fill_moved},
    {"tiles", "shapes whose tiles could be miscounted or turned", 0,
     count_tiles, fill_tiles},
    NG_SHAPE_STRATA,
    {0},
};

static int64_t count_largest(const ng_variant *variant, int level)
{
    const bool minor = ng_variant_is_minor(variant);

    return level == 0 ? (minor ? 1 : 5) : (minor ? 8 : 64);
}

/* Under one scale, every code as the largest of a block of 32 with every code
 * not above it. */
static void fill_largest(ng_case *c, int64_t index)
{
    enum { SIZE = NG_MXFP4_BLOCK, PER_BLOCK = SIZE - 1 };
    int64_t n = 0, block = 0;
    ng_block_case b;

    for (int64_t top = 0; top <= NG_E4M3_MAX_CODE; top++)
        n += ng_ceil_div(2 * (top + 1), PER_BLOCK);
    if (!ng_block_list(&b, c, n, SIZE))
        return;

    /* UE8M0 numbers walk from 0xFE down; FP32 from the largest significand, by
     * way of the subnormals, to any. */
    static const uint32_t first[] = {0x3FFFFFFF, 0x00000003, 0x7F000000,
                                     0x7F7FFFFF};
    const uint32_t scale =
        b.scales_dtype != NG_FP32 ? (uint32_t)(254 - index * 61) & 0xFF
        : index < 4               ? first[index]
                                  : ng_block_random_scale(&b, 0, 60);

    for (uint32_t top = 0; top <= NG_E4M3_MAX_CODE; top++) {
        const int64_t count = 2 * ((int64_t)top + 1);
        const int64_t blocks = ng_ceil_div(count, PER_BLOCK);

        for (int64_t k = 0; k < blocks; k++, block++) {
            const int64_t at = ng_case_below(c, SIZE);

            for (int64_t i = 0, v = k * PER_BLOCK; i < SIZE; i++) {
                const uint32_t code = (uint32_t)(v % count);

                if (i == at) {
                    ng_block_put_in(&b, block, i, top);
                    continue;
                }
                ng_block_put_in(&b, block, i,
                                code / 2 | (code % 2 != 0 ? NG_E4M3_SIGN : 0));
                v++;
            }
            ng_block_put_scale_of(&b, block, scale);
        }
    }
}

static int64_t count_scales(const ng_variant *variant, int level)
{
    const int64_t all = ng_variant_n_scales(variant, "from");

    return (level == 0 && ng_variant_is_minor(variant)
                ? 1
                : ng_ceil_div(all, 64) + (level == 0 ? 1 : 16));
}

/* Every scale over a few blocks each: random ones, one of zeros, one with a
 * NaN; the shorter side of the tensor is a short block. */
static void fill_scales(ng_case *c, int64_t index)
{
    enum { SCALES = 64, SIZE = 101 };   /* three blocks of 32 and one of 5 */
    ng_block_case b;

    if (!ng_block_list(&b, c, SCALES, SIZE))
        return;
    for (int64_t block = 0; block < SCALES; block++) {
        const int64_t nan_at = ng_case_below(c, 2 * SIZE);
        int64_t n = 1;

        for (int64_t i = 0; i < SIZE; i++) {
            if (i % 32 == 0)            /* codes below n, of both signs */
                n = i == 32 ? 1 : 1 + ng_case_below(c, NG_E4M3_NAN);

            uint32_t code = i == nan_at ? NG_E4M3_NAN
                                        : (uint32_t)ng_case_below(c, n);

            if (ng_case_chance(c, 2))
                code |= NG_E4M3_SIGN;
            ng_block_put_in(&b, block, i, code);
        }
        ng_block_put_scale_of(&b, block,
                              scale_number(&b, index * SCALES + block));
    }
}

#define TO_MXFP4_STRATA                                                        \
    {"largest", "every code under every largest code, a scale a case", 0,      \
     count_largest, fill_largest},                                             \
    {"scales", "every scale over random, zero and NaN blocks", 0,              \
     count_scales, fill_scales},                                               \
    NG_SHAPE_STRATA

const ng_stratum ng_fp8_to_mxfp4_strata[] = {TO_MXFP4_STRATA, {0}};
const ng_stratum ng_fp8_tile_to_mxfp4_strata[] = {
    {"tiles", "shapes whose tiles could be miscounted or turned", 0,
     count_tiles, fill_tiles},
    TO_MXFP4_STRATA,
    {0},
};

static bool is_pow2(const ng_variant *variant)
{
    return ng_variant_get(variant, "from", NG_FP32) != NG_FP32
           || ng_variant_get(variant, "pow2", 0) != 0;
}

static int64_t count_shifts(const ng_variant *variant, int level)
{
    const int64_t all = ng_variant_n_scales(variant, "from");

    return !is_pow2(variant) ? 0
           : level == 0      ? (ng_variant_is_minor(variant) ? 3 : 20)
                             : all;
}

/* L-29: every code, in tokens whose scales lie 0 to 24 and more binades under
 * the column's largest, one of them NaN; then a group of NaN scales alone. */
static void fill_shifts(ng_case *c, int64_t index)
{
    enum { COLS = 256, TOKENS = 30, NANS = 2 };
    static const int64_t far[] = {40, 100, 200, 276};
    const int64_t sizes[] = {TOKENS, NANS};
    ng_block_case b;

    if (!ng_block_begin(&b, c, TOKENS + NANS, COLS, 2, sizes))
        return;

    const int64_t n_finite = b.scales_dtype == NG_FP32 ? 277 : 255;
    const int64_t top = n_finite - 1 - index * 61 % n_finite;
    const int64_t turn = ng_case_below(c, TOKENS);

    for (int64_t r = 0; r < TOKENS + NANS; r++) {
        const int64_t t = (r + turn) % TOKENS;
        const int64_t shift = t < 25 ? t : t < 29 ? far[t - 25] : 0;
        const bool nan = r >= TOKENS || t == 29;

        for (int64_t col = 0; col < COLS; col++)
            ng_block_put(&b, r, col, (uint32_t)col);
        for (int64_t j = 0; j < b.n_scales; j++)
            ng_block_put_scale(
                &b, r, j,
                ng_block_scale(&b, nan           ? n_finite
                                   : shift > top ? 0
                                                 : top - shift));
    }
}

static int64_t count_near(const ng_variant *variant, int level)
{
    return is_pow2(variant) ? 0 : level == 0 ? 24 : 512;
}

/* General scales made from the answer: the first token sets S, and each other
 * token's scale puts code * scale at a code or midpoint times S, or one step of
 * FP32 beside it. */
static void fill_near(ng_case *c, int64_t index)
{
    enum { TOKENS = 128, COLS = 3 };
    const ng_format *e4m3 = &ng_formats[NG_FORMAT_E4M3];
    const ng_format *fp32 = &ng_formats[NG_FORMAT_FP32];
    const int64_t sizes[] = {TOKENS};
    ng_block_case b;

    if (!ng_block_begin(&b, c, TOKENS, COLS, 1, sizes))
        return;

    const uint32_t bits = ng_block_random_scale(&b, 0, index % 4 == 0 ? 60 : 3);
    const double first = ng_number_value(fp32, bits);
    const double amax = 448 * first;
    const double scale =
        ng_fp8_scale_is_pow2(c->call.rules.fp8_scale)
            ? ldexp(1, (int)ceil(log2(first)))
            : (double)((float)amax / 448.0f);

    for (int64_t t = 0; t < TOKENS; t++) {
        const uint32_t code = 1 + (uint32_t)ng_case_below(c, NG_E4M3_MAX_CODE);
        const uint32_t slot = (uint32_t)ng_case_below(c, 2 * NG_E4M3_MAX_CODE);
        const double low = ng_number_value(e4m3, slot / 2);
        const double high = ng_number_value(e4m3, slot / 2 + 1);
        const double at = slot % 2 == 0 ? low : low / 2 + high / 2;
        const double ideal = at * scale / ng_number_value(e4m3, code);

        for (int64_t col = 0; col < COLS; col++)
            ng_block_put(&b, t, col,
                         t == 0 ? NG_E4M3_MAX_CODE
                                : code | (col == 1 ? NG_E4M3_SIGN : 0));
        ng_block_put_scale(&b, t, 0,
                           t == 0 || ideal * ng_number_value(e4m3, code) > amax
                               ? bits
                               : ng_number_step(
                                     fp32, ng_number_below(fp32, ideal),
                                     (int)ng_case_below(c, 4) - 1));
    }
}

static int64_t count_products(const ng_variant *variant, int level)
{
    return is_pow2(variant) ? 0 : level == 0 ? 9 : 64;
}

/* Every code under any general scale, in columns of two tokens: subnormal and
 * overflowing products, infinite and NaN scales. */
static void fill_products(ng_case *c, int64_t index)
{
    enum { GROUPS = 16, COLS = 256 };
    int64_t sizes[GROUPS];
    ng_block_case b;

    for (int g = 0; g < GROUPS; g++)
        sizes[g] = 2;
    if (!ng_block_begin(&b, c, 2 * GROUPS, COLS, GROUPS, sizes))
        return;
    for (int64_t r = 0; r < 2 * GROUPS; r++) {
        const int64_t i = index * 2 * GROUPS + r;

        for (int64_t col = 0; col < COLS; col++)
            ng_block_put(&b, r, col,
                         (uint32_t)(r % 2 == 0 ? col : 255 - col * 7) & 0xFF);
        for (int64_t j = 0; j < b.n_scales; j++)
            ng_block_put_scale(&b, r, j,
                               j == 0 && i % 3 == 0
                                   ? scale_number(&b, i / 3)
                                   : ng_block_random_scale(
                                         &b, (double)(i * 37 % 277) - 149, 2));
    }
}

static const uint32_t no_power[] = {
    0x00000000, 0x80000000, NG_FP32_INFINITY, 0xFF800000, 0xBF800000,
    0x3F800001, 0x3BE48E8A, 0x00000003, 0x7F7FFFFF, 0x40400000};
enum { N_NO_POWER = sizeof no_power / sizeof *no_power };

static int64_t count_refused(const ng_variant *variant, int level)
{
    (void)level;
    return ng_variant_get(variant, "pow2", 0) != 0 ? N_NO_POWER : 0;
}

/* Scales declared to be powers of two, one of which is none. */
static void fill_refused(ng_case *c, int64_t index)
{
    enum { ROWS = 140, COLS = 130 };
    const int64_t bad = ng_case_below(c, 2 * ROWS);
    ng_block_case b;

    if (!ng_block_begin(&b, c, ROWS, COLS, NG_DENSE, NULL))
        return;
    for (int64_t r = 0; r < ROWS; r++) {
        for (int64_t col = 0; col < COLS; col++)
            ng_block_put(&b, r, col, (uint32_t)ng_case_below(c, 256));
        for (int64_t j = 0; j < 2; j++)
            ng_block_put_scale(&b, r, j, 2 * r + j == bad
                                             ? no_power[index]
                                             : ng_number_power((int)(r % 9)));
    }
}

const ng_stratum ng_fp8_row_to_col_strata[] = {
    {"shifts", "powers of two: every code, 0 to 24 and more binades down", 0,
     count_shifts, fill_shifts},
    {"near", "general scales: quotients at and beside codes and midpoints", 0,
     count_near, fill_near},
    {"products", "general scales: subnormal, overflowing, not finite", 0,
     count_products, fill_products},
    NG_SHAPE_STRATA,
    {"refused", "a scale declared to be a power of two that is none", 0,
     count_refused, fill_refused},
    {0},
};
