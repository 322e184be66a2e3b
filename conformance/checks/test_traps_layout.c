/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults of layouts and of changes of format that happened (docs/cases.md L-05,
 * L-10, L-12 to L-16, L-29). Inputs and expected bytes are restated from there
 * by hand; both writings must give them.
 */
#include <math.h>

#include "conformance/checks/dense_views.h"
#include "conformance/checks/writings.h"

#define N(array) ((int)(sizeof(array) / sizeof *(array)))

/* 1.0 under UE8M0 0x00 is 2^-127, an FP32 subnormal. */
START_TEST(trap_l05_element_under_the_least_scale)
{
    uint8_t e4m3 = 0x38, e2m1 = 0x2, scale = 0x00;
    uint32_t number[2] = {0, 0};
    const ng_matrix y8 = dense_matrix(&number[0], NG_FP32, 1, 1);
    const ng_matrix y4 = dense_matrix(&number[1], NG_FP32, 1, 1);
    const ng_fp8 x8 = dense_fp8(&e4m3, &scale, NG_UE8M0, NG_FP8_ROW, 1, 1);
    const ng_mxfp4 x4 = dense_mxfp4(&e2m1, &scale, NG_UE8M0, 1, 1);

    ck_assert_int_eq(writings[_i].dequantize_fp8(&y8, &x8, NULL), NG_OK);
    ck_assert_int_eq(writings[_i].dequantize_mxfp4(&y4, &x4, NULL), NG_OK);
    expect(_i, "fp8", 0, 0x00400000, number[0]);
    expect(_i, "mxfp4", 0, 0x00400000, number[1]);
}
END_TEST

START_TEST(trap_l10_scales_packed_in_a_word)
{
    uint32_t bits[4] = {0x3F800000, 0x00400000, 0x3F800000, 0x3F800000};
    uint32_t word = 0xA5A5A5A5;
    const ng_scales x = dense_scales(bits, NG_FP32, 4);
    const ng_scales y = dense_scales(&word, NG_UE8M0X4, 4);

    ck_assert_int_eq(writings[_i].convert_scales(&y, &x, 1, 4), NG_OK);
    expect(_i, "word", 0, 0x7F7F007F, word);        /* leaky: 7F7F00FF */
    ck_assert_int_eq(writings[_i].convert_scales(&x, &y, 1, 4), NG_OK);
    expect(_i, "back", 1, 0x00400000, bits[1]);

    /* No powers of two: refused, where others cut to 77777777 or leak. */
    for (int i = 0; i < 4; i++)
        bits[i] = 0x3BE48E8A;
    word = 0xA5A5A5A5;
    ck_assert_int_eq(writings[_i].convert_scales(&y, &x, 1, 4), NG_BAD_SCALE);
    expect(_i, "untouched", 0, 0xA5A5A5A5, word);
}
END_TEST

START_TEST(trap_l12_nibble_order)
{
    static const uint8_t bytes[2] = {0xC2, 0x71};   /* swapped: 2C 17 */
    uint8_t codes[4] = {0x2, 0xC, 0x1, 0x7}, packed[2], unpacked[4];
    float x[4] = {1.0f, -2.0f, 0.5f, 6.0f};
    uint8_t quantized[2], scale;
    const ng_matrix bare = dense_matrix(codes, NG_E2M1, 1, 4);
    const ng_matrix pair = dense_matrix(packed, NG_E2M1X2, 1, 4);
    const ng_matrix back = dense_matrix(unpacked, NG_E2M1, 1, 4);
    const ng_matrix numbers = dense_matrix(x, NG_FP32, 1, 4);
    const ng_mxfp4 y = dense_mxfp4(quantized, &scale, NG_UE8M0, 1, 4);

    ck_assert_int_eq(writings[_i].pack_e2m1(&pair, &bare, NULL), NG_OK);
    ck_assert_mem_eq(packed, bytes, 2);
    ck_assert_int_eq(writings[_i].unpack_e2m1(&back, &pair, NULL), NG_OK);
    ck_assert_mem_eq(unpacked, codes, 4);
    ck_assert_int_eq(writings[_i].quantize_mxfp4(&y, &numbers, NULL), NG_OK);
    expect(_i, "scale", 0, 127, scale);
    ck_assert_mem_eq(quantized, bytes, 2);
    ck_assert_int_eq(writings[_i].dequantize_mxfp4(&numbers, &y, NULL), NG_OK);
    ck_assert(x[0] == 1.0f && x[1] == -2.0f && x[2] == 0.5f && x[3] == 6.0f);
}
END_TEST

/* Scales 1, 2, 4 ...; a tile size of rows/8 = 125 or columns/4 = 112 gives a
 * neighbour's. */
START_TEST(trap_l13_tile_index)
{
    enum { ROWS = 1000, COLS = 448 };
    static float down[ROWS], across[COLS];
    static uint8_t ones[ROWS];
    float scales[8];
    const ng_matrix y_down = dense_matrix(down, NG_FP32, ROWS, 1);
    const ng_matrix y_across = dense_matrix(across, NG_FP32, 1, COLS);
    const ng_fp8 x_down =
        dense_fp8(ones, scales, NG_FP32, NG_FP8_TILE, ROWS, 1);
    const ng_fp8 x_across =
        dense_fp8(ones, scales, NG_FP32, NG_FP8_TILE, 1, COLS);

    memset(ones, 0x38, sizeof ones);
    for (int i = 0; i < 8; i++)
        scales[i] = (float)(1 << i);
    ck_assert_int_eq(writings[_i].dequantize_fp8(&y_down, &x_down, NULL),
                     NG_OK);
    ck_assert_int_eq(writings[_i].dequantize_fp8(&y_across, &x_across, NULL),
                     NG_OK);
    ck_assert(down[125] == 1.0f && down[127] == 1.0f && down[128] == 2.0f);
    ck_assert(down[999] == 128.0f);
    ck_assert(across[112] == 1.0f && across[128] == 2.0f);
    ck_assert(across[447] == 8.0f);
    for (int r = 0; r < ROWS; r++)
        ck_assert(down[r] == (float)(1 << r / 128));
    for (int c = 0; c < COLS; c++)
        ck_assert(across[c] == (float)(1 << c / 128));
}
END_TEST

/* 47 scales of 0x7F in a plane of 2 lines, padded with `fill`: row-major and 48
 * wide, packed in 12 words, or transposed and 4 wide. */
static void l14_plane(ng_scales *scales, int layout, unsigned char fill)
{
    static uint32_t plane[64];
    uint8_t *byte = (uint8_t *)plane;

    memset(plane, fill, sizeof plane);
    for (int line = 0; line < 2; line++)
        for (int j = 0; j < 47; j++)
            byte[layout == 2 ? j * 4 + line : line * 48 + j] = 0x7F;
    *scales = (ng_scales){.data = plane,
                          .dtype = layout == 1 ? NG_UE8M0X4 : NG_UE8M0,
                          .ld = layout == 0 ? 48 : layout == 1 ? 12 : 1,
                          .step = layout == 2 ? 4 : 1};
}

START_TEST(trap_l14_dirty_scale_padding)
{
    enum { ROWS = 2, K = 1504 };
    static const unsigned char fill[] = {0x00, 0x7F, 0xFF};
    static uint8_t codes[ROWS * K / 2], e4m3[ROWS * K];
    static float numbers[ROWS * K];
    uint32_t scales[K];
    const ng_matrix y = dense_matrix(numbers, NG_FP32, ROWS, K);
    const ng_fp8 row = dense_fp8(e4m3, scales, NG_FP32, NG_FP8_ROW, ROWS, K);
    const ng_fp8 col = dense_fp8(e4m3, scales, NG_FP32, NG_FP8_COL, ROWS, K);
    ng_mxfp4 x = dense_mxfp4(codes, NULL, NG_UE8M0, ROWS, K);

    memset(codes, 0x22, sizeof codes);                  /* 1.0 everywhere */
    for (int layout = 0; layout < 3; layout++)
        for (int f = 0; f < N(fill); f++) {
            l14_plane(&x.scales, layout, fill[f]);
            ck_assert_int_eq(writings[_i].dequantize_mxfp4(&y, &x, NULL),
                             NG_OK);
            for (int i = 0; i < ROWS * K; i++)
                ck_assert(numbers[i] == 1.0f);
            for (int form = 0; form < 2; form++) {
                const ng_fp8 *to = form == 0 ? &row : &col;

                ck_assert_int_eq(
                    writings[_i].convert_mxfp4_to_fp8(to, &x, NULL), NG_OK);
                for (int i = 0; i < ROWS * K; i++)      /* 64 * 2^-6 */
                    expect(_i, "code", i, 0x68, e4m3[i]);
                for (int i = 0; i < (form == 0 ? ROWS * 12 : K); i++)
                    expect(_i, "scale", i, 0x3C800000, scales[i]);
            }
        }
}
END_TEST

START_TEST(trap_l15_untransposed_scale_grid)
{
    enum { ROWS = 250, COLS = 256 };
    static const float want[4] = {1.0f, 4.0f, 2.0f, 8.0f};
    static uint8_t w[ROWS][COLS], turned[COLS][ROWS];
    static float numbers[COLS][ROWS], straight[ROWS][COLS];
    float grid[4] = {1.0f, 2.0f, 4.0f, 8.0f}, turned_grid[4];
    const ng_fp8 x =
        dense_fp8(w[0], grid, NG_FP32, NG_FP8_TILE, ROWS, COLS);
    const ng_fp8 y =
        dense_fp8(turned[0], turned_grid, NG_FP32, NG_FP8_TILE, COLS, ROWS);
    const ng_matrix to = dense_matrix(numbers, NG_FP32, COLS, ROWS);
    const ng_matrix from = dense_matrix(straight, NG_FP32, ROWS, COLS);

    memset(w, 0x38, sizeof w);
    ck_assert_int_eq(writings[_i].transpose_fp8_tile(&y, &x, NULL), NG_OK);
    ck_assert_int_eq(writings[_i].dequantize_fp8(&to, &y, NULL), NG_OK);
    ck_assert_int_eq(writings[_i].dequantize_fp8(&from, &x, NULL), NG_OK);
    for (int i = 0; i < 4; i++)
        ck_assert(turned_grid[i] == want[i]);
    ck_assert(numbers[200][0] == 2.0f);                 /* untransposed: 4 */
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLS; c++)
            ck_assert(numbers[c][r] == straight[r][c]);
}
END_TEST

/* E4M3 and E2M1 by their definitions. */
static double e4m3_value(uint8_t code)
{
    const int field = code >> 3 & 15, m = code & 7;
    const double x = field == 0 ? ldexp(m, -9) : ldexp(8 + m, field - 10);

    return code >= 0x80 ? -x : x;
}

static double e2m1_value(unsigned code)
{
    static const double magnitude[8] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};

    return code >= 8 ? -magnitude[code - 8] : magnitude[code];
}

/* Every E2M1 code twice under byte 127 - d, beside or below a block of 127. */
static void convert_l16(uint8_t y[32], int writing, bool col, int d,
                        ng_events *events)
{
    uint8_t codes[2][16], scales[2] = {127, (uint8_t)(127 - d)}, e4m3[64];
    uint32_t common[32];
    const ng_options options = {.events = events};
    const ng_mxfp4 x = col ? dense_mxfp4(codes[0], scales, NG_UE8M0, 2, 32)
                           : dense_mxfp4(codes[0], scales, NG_UE8M0, 1, 64);
    const ng_fp8 to = dense_fp8(e4m3, common, NG_FP32,
                                col ? NG_FP8_COL : NG_FP8_ROW, x.rows, x.cols);

    memset(codes[0], 0x77, 16);                         /* 6 -> 384 = 7C */
    for (int i = 0; i < 16; i++)
        codes[1][i] = (uint8_t)((2 * i & 15) | (2 * i + 1) % 16 << 4);
    ck_assert_int_eq(writings[writing].convert_mxfp4_to_fp8(&to, &x, &options),
                     NG_OK);
    for (int i = 0; i < 32; i++) {
        expect(writing, "largest", i, 0x7C, e4m3[col ? 2 * i : i]);
        y[i] = e4m3[col ? 2 * i + 1 : 32 + i];
        expect(writing, "scale", i, 0x3C800000, common[col ? i : 0]);
    }
}

START_TEST(trap_l16_mxfp4_to_fp8_called_lossless)
{
    /* By magnitude, the last d that comes through; zero always does. */
    static const int window[8] = {99, 14, 15, 14, 16, 15, 17, 16};

    for (int col = 0; col < 2; col++)
        for (int d = 0; d <= 19; d++) {
            ng_events events = {{0}};
            uint64_t changed = 0;
            uint8_t y[32];

            convert_l16(y, _i, col == 1, d, &events);
            for (unsigned i = 0; i < 32; i++) {
                const unsigned q = i & 15;
                const double want = ldexp(e2m1_value(q), 6 - d);
                const bool exact = e4m3_value(y[i]) == want;

                ck_assert_msg(exact == (d <= window[q & 7]),
                              "%s: d=%d code %X came out as %02X",
                              writing_name(_i), d, q, y[i]);
                ck_assert(y[i] >> 7 == q >> 3);         /* the sign stays */
                changed += !exact;
            }
            ck_assert_uint_eq(events.count[NG_EVENT_INEXACT], changed);
            if (d == 15) {
                expect(_i, "0.5 at 15", d, 0x00, y[1]);
                expect(_i, "1.5 at 15", d, 0x02, y[3]);
            }
            if (d == 17)
                expect(_i, "0.5 at 17", d, 0x00, y[1]);
        }
    for (int col = 0; col < 2; col++) {                 /* byte 255 */
        ng_events events = {{0}};
        uint8_t y[32];

        convert_l16(y, _i, col == 1, 127 - 255, &events);
        for (int i = 0; i < 32; i++)
            expect(_i, "NaN", i, 0x7F, y[i]);
        ck_assert_uint_eq(events.count[NG_EVENT_INEXACT], 0);
        ck_assert_uint_eq(events.count[NG_EVENT_NAN], 32);
    }
}
END_TEST

START_TEST(trap_l29_exponent_field_minus_k)
{
    static const struct {
        int k;
        uint8_t from, to;
    } table[] = {
        {0, 0x01, 0x01}, {0, 0x02, 0x02}, {0, 0x03, 0x03}, {0, 0x04, 0x04},
        {0, 0x05, 0x05}, {0, 0x06, 0x06}, {0, 0x07, 0x07},
        {1, 0x08, 0x04},                /* the field cut at 0 gives 00 */
        {3, 0x0B, 0x01}, {3, 0x0C, 0x02}, {3, 0x0D, 0x02}, {3, 0x0E, 0x02},
        {3, 0x0F, 0x02},                /* the significand left gives 03..07 */
        {1, 0x7F, 0x7F},                /* shifted like a number: 77 */
    };

    for (int i = 0; i < N(table); i++) {
        uint8_t x[2] = {0x38, table[i].from}, y[2];
        float scales[2] = {1.0f, ldexpf(1.0f, -table[i].k)}, common = 0;
        const ng_fp8 from =
            dense_fp8(x, scales, NG_FP32, NG_FP8_ROW, 2, 1);
        const ng_fp8 to =
            dense_fp8(y, &common, NG_FP32, NG_FP8_COL, 2, 1);

        ck_assert_int_eq(writings[_i].convert_fp8_row_to_col(&to, &from, NULL),
                         NG_OK);
        ck_assert(common == 1.0f);
        expect(_i, "largest", i, 0x38, y[0]);
        expect(_i, "code", i, table[i].to, y[1]);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("layout traps");
    TCase *tcase = tcase_create("traps");

    tcase_set_timeout(tcase, 60);
    ADD_TRAP(tcase, trap_l05_element_under_the_least_scale);
    ADD_TRAP(tcase, trap_l10_scales_packed_in_a_word);
    ADD_TRAP(tcase, trap_l12_nibble_order);
    ADD_TRAP(tcase, trap_l13_tile_index);
    ADD_TRAP(tcase, trap_l14_dirty_scale_padding);
    ADD_TRAP(tcase, trap_l15_untransposed_scale_grid);
    ADD_TRAP(tcase, trap_l16_mxfp4_to_fp8_called_lossless);
    ADD_TRAP(tcase, trap_l29_exponent_field_minus_k);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
