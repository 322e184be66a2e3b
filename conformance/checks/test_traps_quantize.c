/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults of block quantisation that happened (docs/cases.md L-03, L-07, L-08,
 * L-09, L-11). Inputs and expected bytes are restated from there by hand; both
 * writings must give them.
 */
#include "conformance/checks/dense_views.h"
#include "conformance/checks/writings.h"

#define N(array) ((int)(sizeof(array) / sizeof *(array)))

/* Quantise n numbers, one block, to MXFP4; its scale. */
static uint8_t mxfp4_block(uint8_t *codes, int writing, float *x, int64_t n,
                           ng_mx_scale mode)
{
    ng_rules rules = ng_default_rules;
    const ng_options options = {.rules = &rules};
    uint8_t scale = 0xA5;
    const ng_mxfp4 y = dense_mxfp4(codes, &scale, NG_UE8M0, 1, n);
    const ng_matrix from = dense_matrix(x, NG_FP32, 1, n);

    rules.mxfp4_scale = (int)mode;
    ck_assert_int_eq(writings[writing].quantize_mxfp4(&y, &from, &options),
                     NG_OK);
    return scale;
}

START_TEST(trap_l07_exponent_of_a_quotient)
{
    static const struct {
        float amax;
        uint8_t scale, code;
    } floor_rule[] = {{2.7f, 126, 7}, {5.5f, 127, 7}, {1.2f, 125, 6}};
    static const struct {
        float amax;
        uint8_t scale[NG_N_MX_SCALES];      /* floor, ceil, even, rceil */
    } modes[] = {
        {4.0f, {127, 127, 127, 127}},
        {6.5f, {127, 128, 127, 128}},
        {7.0f, {127, 128, 128, 128}},
    };
    uint8_t codes[16];

    for (int i = 0; i < N(floor_rule); i++) {
        float x[3] = {0.0f, -floor_rule[i].amax, 0.0f};

        expect(_i, "scale", i, floor_rule[i].scale,
               mxfp4_block(codes, _i, x, 3, NG_MX_FLOOR));
        expect(_i, "amax's code", i, (uint32_t)floor_rule[i].code << 4 | 0x80,
               codes[0]);
        expect(_i, "spare nibble", i, 0, codes[1]);
    }
    for (int i = 0; i < N(modes); i++)
        for (int mode = 0; mode < NG_N_MX_SCALES; mode++) {
            float x[2] = {modes[i].amax, 0.0f};

            expect(_i, "mode", i * NG_N_MX_SCALES + mode, modes[i].scale[mode],
                   mxfp4_block(codes, _i, x, 2, (ng_mx_scale)mode));
        }
}
END_TEST

/* Quantise two numbers, one block, to MXFP8; its scale. */
static uint8_t mxfp8_block(uint8_t *codes, int writing, float *x, int mode,
                           ng_overflow overflow)
{
    ng_rules rules = ng_default_rules;
    const ng_options options = {.rules = &rules};
    uint8_t scale = 0xA5;
    const ng_mxfp8 y = dense_mxfp8(codes, &scale, NG_UE8M0, 1, 2);
    const ng_matrix from = dense_matrix(x, NG_FP32, 1, 2);

    rules.mxfp8_scale = mode;
    rules.overflow = (int)overflow;
    ck_assert_int_eq(writings[writing].quantize_mxfp8(&y, &from, &options),
                     NG_OK);
    return scale;
}

/* 448 is 1.75 * 2^8, and 1.9375 * 2^8 is 496: what E2M1's thresholds, 1.5 and
 * 1.75, would get wrong; and 500, which floor cuts to 448 and rceil takes to 512
 * (disagreement 23). */
START_TEST(trap_l07_mxfp8_thresholds)
{
    static const struct {
        float amax;
        struct {
            uint8_t scale, code;
        } mode[NG_N_MX_SCALES]; /* floor, ceil, even, rceil */
    } table[] = {
        {256, {{127, 0x78}, {127, 0x78}, {127, 0x78}, {127, 0x78}}},
        {384, {{127, 0x7C}, {128, 0x74}, {127, 0x7C}, {127, 0x7C}}},
        {448, {{127, 0x7E}, {128, 0x76}, {127, 0x7E}, {127, 0x7E}}},
        {449, {{127, 0x7E}, {128, 0x76}, {127, 0x7E}, {128, 0x76}}},
        {480, {{127, 0x7E}, {128, 0x77}, {127, 0x7E}, {128, 0x77}}},
        {496, {{127, 0x7E}, {128, 0x78}, {128, 0x78}, {128, 0x78}}},
        {500, {{127, 0x7E}, {128, 0x78}, {128, 0x78}, {128, 0x78}}},
        {512, {{128, 0x78}, {128, 0x78}, {128, 0x78}, {128, 0x78}}},
    };
    uint8_t codes[2];

    for (int i = 0; i < N(table); i++)
        for (int mode = 0; mode < NG_N_MX_SCALES; mode++) {
            float x[2] = {-table[i].amax, -0.0f};
            const int at = i * NG_N_MX_SCALES + mode;

            expect(_i, "scale", at, table[i].mode[mode].scale,
                   mxfp8_block(codes, _i, x, mode, NG_SATURATE));
            expect(_i, "code", at, table[i].mode[mode].code | 0x80, codes[0]);
            expect(_i, "zero", at, 0x80, codes[1]);
        }
}
END_TEST

/* What passes 448 under the other overflow rule: 465 rounds to 480, 464 to 448. */
START_TEST(trap_l03_mxfp8_past_448)
{
    static const struct {
        float amax;
        uint8_t code[NG_N_OVERFLOWS]; /* saturate, ieee */
    } table[] = {{464, {0x7E, 0x7E}}, {465, {0x7E, 0x7F}}, {500, {0x7E, 0x7F}},
                 {-500, {0xFE, 0xFF}}};
    uint8_t codes[2];

    for (int i = 0; i < N(table); i++)
        for (int o = 0; o < NG_N_OVERFLOWS; o++) {
            float x[2] = {table[i].amax, 1};

            expect(_i, "scale", i, 127,
                   mxfp8_block(codes, _i, x, NG_MX_FLOOR, (ng_overflow)o));
            expect(_i, "code", i, table[i].code[o], codes[0]);
            expect(_i, "one", i, 0x38, codes[1]);
        }
}
END_TEST

/* One NaN: scale 0xFF, and every code a NaN too, so that a decoder which looks at
 * codes alone is told. Zeros: byte 0. A scale of 2^-127 is not flushed. */
START_TEST(trap_l11_mxfp8_odd_blocks)
{
    static const struct {
        uint32_t x[2];
        uint8_t scale, code[2];
    } table[] = {
        {{0x7FC00000, 0x3F800000}, 0xFF, {0x7F, 0x7F}},
        {{0x3F800000, 0xFF800000}, 0xFF, {0x7F, 0x7F}},
        {{0x00000000, 0x80000000}, 0x00, {0x00, 0x80}},
        {{0x00800000, 0x80400000}, 0x00, {0x40, 0xB8}}, /* 2^-126, -2^-127 */
        {{0x00000001, 0x00000000}, 0x00, {0x00, 0x00}}, /* 2^-149: 2^-22 */
    };
    uint8_t codes[2];

    for (int i = 0; i < N(table); i++)
        for (int mode = 0; mode < NG_N_MX_SCALES; mode++) {
            float x[2];
            float back[2];

            memcpy(x, table[i].x, sizeof x);
            uint8_t scale = mxfp8_block(codes, _i, x, mode, NG_SATURATE);

            expect(_i, "scale", i, table[i].scale, scale);
            expect(_i, "code", 2 * i, table[i].code[0], codes[0]);
            expect(_i, "code", 2 * i + 1, table[i].code[1], codes[1]);

            const ng_mxfp8 y = dense_mxfp8(codes, &scale, NG_UE8M0, 1, 2);
            const ng_matrix to = dense_matrix(back, NG_FP32, 1, 2);

            ck_assert_int_eq(writings[_i].dequantize_mxfp8(&to, &y, NULL),
                             NG_OK);
            for (int j = 0; i < 4 && j < 2; j++)
                expect(_i, "number", 2 * i + j,
                       scale == 0xFF ? 0x7FFFFFFF : table[i].x[j],
                       ng_fp32_bits(back[j]));
        }
}
END_TEST

START_TEST(trap_l08_fp8_exponent_by_frexp)
{
    static const struct {
        uint32_t amax;
        uint8_t scale, code;
    } table[] = {
        {0x43600000, 126, 0x7E},        /* 224: 448 * 2^-1 */
        {0x43E00000, 127, 0x7E},        /* 448; frexp doubles both */
        {0x43E00001, 128, 0x76},        /* 224.00002 under 2 */
    };
    const ng_rules rules = {.fp8_scale = NG_FP8_POW2, .headroom = 6};
    const ng_options options = {.rules = &rules};

    for (int i = 0; i < N(table); i++) {
        uint8_t code, scale;
        uint32_t bits = table[i].amax;
        const ng_matrix x = dense_matrix(&bits, NG_FP32, 1, 1);
        const ng_fp8 y = dense_fp8(&code, &scale, NG_UE8M0, NG_FP8_ROW, 1, 1);

        ck_assert_int_eq(writings[_i].quantize_fp8(&y, &x, &options), NG_OK);
        expect(_i, "scale", i, table[i].scale, scale);
        expect(_i, "code", i, table[i].code, code);
    }
}
END_TEST

/* 256 x 256 zeros in tiles of 128, but for a 1 at [0, 0] and a -0. */
START_TEST(trap_l09_zero_tiles)
{
    enum { SIDE = 256 };
    static uint32_t x[SIDE][SIDE], back[SIDE][SIDE];
    static uint8_t codes[SIDE][SIDE];
    uint32_t scales[2][2];
    const ng_matrix from = dense_matrix(x, NG_FP32, SIDE, SIDE);
    const ng_matrix to = dense_matrix(back, NG_FP32, SIDE, SIDE);
    ng_fp8 y =
        dense_fp8(codes[0], scales, NG_FP32, NG_FP8_TILE, SIDE, SIDE);

    x[0][0] = 0x3F800000;
    x[200][201] = 0x80000000;
    ck_assert_int_eq(writings[_i].quantize_fp8(&y, &from, NULL), NG_OK);
    ck_assert_int_eq(writings[_i].dequantize_fp8(&to, &y, NULL), NG_OK);
    for (int r = 0; r < SIDE; r++)
        for (int c = 0; c < SIDE; c++) {
            const bool minus = r == 200 && c == 201;

            if (r == 0 && c == 0)
                continue;
            expect(_i, "code", r * SIDE + c, minus ? 0x80 : 0, codes[r][c]);
            expect(_i, "number", r * SIDE + c, minus ? 0x80000000 : 0,
                   back[r][c]);
        }
    expect(_i, "code", 0, 0x7E, codes[0][0]);
    expect(_i, "scale", 0, 0x3B124925, scales[0][0]);       /* RN32(1/448) */
    expect(_i, "scale", 1, 0x3F800000, scales[0][1]);
    expect(_i, "scale", 2, 0x3F800000, scales[1][0]);
    expect(_i, "scale", 3, 0x3F800000, scales[1][1]);
}
END_TEST

START_TEST(trap_l09_zero_mxfp4_block)
{
    float x[32] = {0.0f, -0.0f};
    uint8_t codes[16];

    expect(_i, "scale", 0, 0x00, mxfp4_block(codes, _i, x, 32, NG_MX_FLOOR));
    for (int i = 0; i < 16; i++)
        expect(_i, "byte", i, i == 0 ? 0x80 : 0, codes[i]);
}
END_TEST

/* The block's BF16 numbers, along a row and along a column. */
static void fill_l11(uint16_t x[32])
{
    memset(x, 0, 32 * sizeof *x);
    x[0] = 0x3F80;
    x[1] = 0x7FC0;
    x[2] = 0x4000;
}

START_TEST(trap_l11_one_nan_mxfp4)
{
    for (int mode = 0; mode < NG_N_MX_SCALES; mode++) {
        ng_rules rules = ng_default_rules;
        const ng_options options = {.rules = &rules};
        uint16_t x[32];
        uint8_t codes[16], scale;
        const ng_matrix from = dense_matrix(x, NG_BF16, 1, 32);
        const ng_mxfp4 y = dense_mxfp4(codes, &scale, NG_UE8M0, 1, 32);

        fill_l11(x);
        rules.mxfp4_scale = mode;
        ck_assert_int_eq(writings[_i].quantize_mxfp4(&y, &from, &options),
                         NG_OK);
        expect(_i, "scale", mode, 0xFF, scale);     /* skipped, 126 by floor */
        for (int i = 0; i < 16; i++)
            expect(_i, "byte", i, 0, codes[i]);
    }
}
END_TEST

static void one_nan_fp8(int writing, ng_fp8_form form, ng_fp8_scale kind,
                        ng_dtype dtype, uint32_t nan)
{
    const bool col = form == NG_FP8_COL;
    ng_rules rules = ng_default_rules;
    const ng_options options = {.rules = &rules};
    uint16_t x[32];
    uint8_t codes[32];
    uint32_t scale = 0;
    const ng_matrix from =
        dense_matrix(x, NG_BF16, col ? 32 : 1, col ? 1 : 32);
    const ng_fp8 y = dense_fp8(codes, &scale, dtype, form, from.rows,
                               from.cols);

    fill_l11(x);
    rules.fp8_scale = (int)kind;
    ck_assert_int_eq(writings[writing].quantize_fp8(&y, &from, &options),
                     NG_OK);
    expect(writing, "scale", (int)form, nan, scale);
    for (int i = 0; i < 32; i++)
        expect(writing, "code", i, 0x7F, codes[i]);
}

START_TEST(trap_l11_one_nan_fp8)
{
    static const ng_fp8_form forms[] = {NG_FP8_ROW, NG_FP8_COL, NG_FP8_TILE};

    for (int f = 0; f < N(forms); f++) {
        one_nan_fp8(_i, forms[f], NG_FP8_POW2, NG_UE8M0, 0xFF);
        one_nan_fp8(_i, forms[f], NG_FP8_POW2, NG_FP32, 0x7FFFFFFF);
        one_nan_fp8(_i, forms[f], NG_FP8_FP32, NG_FP32, 0x7FFFFFFF);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("quantisation traps");
    TCase *tcase = tcase_create("traps");

    tcase_set_timeout(tcase, 60);
    ADD_TRAP(tcase, trap_l07_exponent_of_a_quotient);
    ADD_TRAP(tcase, trap_l07_mxfp8_thresholds);
    ADD_TRAP(tcase, trap_l03_mxfp8_past_448);
    ADD_TRAP(tcase, trap_l11_mxfp8_odd_blocks);
    ADD_TRAP(tcase, trap_l08_fp8_exponent_by_frexp);
    ADD_TRAP(tcase, trap_l09_zero_tiles);
    ADD_TRAP(tcase, trap_l09_zero_mxfp4_block);
    ADD_TRAP(tcase, trap_l11_one_nan_mxfp4);
    ADD_TRAP(tcase, trap_l11_one_nan_fp8);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
