/* SPDX-License-Identifier: Apache-2.0
 *
 * E2M1 codes, bare and packed, and MXFP4 tensors.
 */
#include "conformance/checks/inputs_block.h"

#include "formats/e2m1.h"

static int64_t count_pack(const ng_variant *variant, int level)
{
    (void)variant, (void)level;
    return 3;
}

/* All pairs of codes, in even and in odd rows; then with bits set that are not
 * read: the upper nibbles of bare codes, the spare ones of packed rows. */
static void fill_pack(ng_case *c, int64_t index)
{
    static const uint8_t l12[] = {0x2, 0xC, 0x1, 0x7};  /* 1, -2, .5, 6 */
    const int64_t cols = index == 0 ? 2 : index == 1 ? 3 : 5;
    ng_block_case b;

    if (!ng_block_begin(&b, c, 256, cols, NG_DENSE, NULL))
        return;
    for (int64_t r = 0; r < 256; r++)
        for (int64_t col = 0; col < cols; col++) {
            uint32_t code = (uint32_t)(col % 2 == 0 ? r & 0xF : r >> 4);

            if (index == 2)
                code = l12[(r + col) % 4];
            if (index == 2 && b.from.kind == NG_SIDE_E2M1)
                code |= (uint32_t)ng_case_below(c, 16) << 4;
            ng_block_put(&b, r, col, code);
        }
}

const ng_stratum ng_pack_strata[] = {
    {"codes", "every pair of codes; unread nibbles set", 0, count_pack,
     fill_pack},
    NG_SHAPE_STRATA,
    {0},
};

static int64_t count_one(const ng_variant *variant, int level)
{
    (void)variant, (void)level;
    return 1;
}

/* Every code under every scale, twice: in even and in odd places. */
static void fill_codes(ng_case *c, int64_t index)
{
    ng_block_case b;

    (void)index;
    if (!ng_block_begin(&b, c, 256, 64, NG_DENSE, NULL))
        return;
    for (int64_t r = 0; r < 256; r++) {
        for (int64_t col = 0; col < 64; col++)
            ng_block_put(&b, r, col,
                         (uint32_t)(col % 32 < 16 ? col : 15 - col) & 0xF);
        ng_block_put_scale(&b, r, 0, (uint32_t)r);
        ng_block_put_scale(&b, r, 1, (uint32_t)(255 - r));
    }
}

const ng_stratum ng_dequantize_mxfp4_strata[] = {
    {"codes", "every code under every scale", 0, count_one, fill_codes},
    NG_SHAPE_STRATA,
    {0},
};

/* Nothing overflows under a headroom of 6 or less (6 * 2^6 = 384), so one
 * overflow rule is enough there. */
static bool is_repeated(const ng_variant *variant)
{
    return variant->rules.overflow == NG_IEEE
           && variant->rules.headroom <= NG_DEFAULT_HEADROOM
           && ng_variant_is_minor(variant);
}

/* All first scales for the least and the default headroom; else some at level
 * 0. */
static int64_t count_pairs(const ng_variant *variant, int level)
{
    if (level == 0 && ng_variant_is_minor(variant))
        return 2;
    return is_repeated(variant) ? 8 : 256;
}

/* Case numbers walk over all scales: near the bottom, where the types of FP8
 * scales differ, then NaN, then the others. */
static uint32_t first_scale(int64_t index)
{
    return (uint32_t)(2 - 3 * index) & 0xFF;
}

/* One scale against every other in a row of two blocks: every code under
 * both. */
static void fill_row_pairs(ng_case *c, int64_t index)
{
    enum { COLS = 48 };
    ng_block_case b;

    if (!ng_block_begin(&b, c, 256, COLS, NG_DENSE, NULL))
        return;
    for (int64_t r = 0; r < 256; r++) {
        for (int64_t col = 0; col < COLS; col++)
            ng_block_put(&b, r, col, (uint32_t)col & 0xF);
        ng_block_put_scale(&b, r, 0, first_scale(index));
        ng_block_put_scale(&b, r, 1, (uint32_t)r);
    }
}

/* The same in columns of two tokens, a group each. */
static void fill_col_pairs(ng_case *c, int64_t index)
{
    enum { GROUPS = 256, COLS = 16 };
    int64_t sizes[GROUPS];
    ng_block_case b;

    for (int g = 0; g < GROUPS; g++)
        sizes[g] = 2;
    if (!ng_block_begin(&b, c, 2 * GROUPS, COLS, GROUPS, sizes))
        return;
    for (int64_t r = 0; r < 2 * GROUPS; r++) {
        for (int64_t col = 0; col < COLS; col++)
            ng_block_put(&b, r, col, (uint32_t)col);
        ng_block_put_scale(&b, r, 0, r % 2 == 0 ? first_scale(index)
                                                : (uint32_t)(r / 2));
    }
}

static int64_t count_windows(const ng_variant *variant, int level)
{
    if (level == 0)
        return ng_variant_is_minor(variant) ? 1 : 16;
    return is_repeated(variant) ? 8 : 256;
}

/* L-16: under one largest scale a case, scales 0 to 21 binades down, in every
 * place among four blocks, and among tokens; every code. */
static void fill_windows(ng_case *c, int64_t index)
{
    enum { DEPTHS = 22, COLS = 128 };
    const uint32_t top = (uint32_t)(5 + index * 83) & 0xFF;
    ng_block_case b;

    if (!ng_block_begin(&b, c, 4 * DEPTHS, COLS, NG_DENSE, NULL))
        return;
    for (int64_t r = 0; r < 4 * DEPTHS; r++) {
        for (int64_t col = 0; col < COLS; col++)
            ng_block_put(&b, r, col, (uint32_t)col & 0xF);
        for (int64_t j = 0; j < 4; j++) {
            const uint32_t depth = j == r % 4 ? 0 : (uint32_t)(r / 4);

            ng_block_put_scale(&b, r, j, top > depth ? top - depth : 0);
        }
    }
}

#define TO_FP8_STRATA(fill_pairs)                                              \
    {"pairs", "every code under every pair of scales", 0, count_pairs,         \
     fill_pairs},                                                              \
    {"windows", "scales 0 to 21 binades under the largest, in every place", 0, \
     count_windows, fill_windows},                                             \
    NG_SHAPE_STRATA,                                                           \
    {0}

const ng_stratum ng_mxfp4_to_fp8_row_strata[] = {TO_FP8_STRATA(fill_row_pairs)};
const ng_stratum ng_mxfp4_to_fp8_col_strata[] = {TO_FP8_STRATA(fill_col_pairs)};
