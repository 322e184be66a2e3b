/* SPDX-License-Identifier: Apache-2.0
 *
 * Where published implementations give different bits for one input: the values
 * below are what was seen of them, not what this project computes. Each row
 * under its profile, in both writings. (docs/profiles.md says of each profile
 * how it was confirmed.)
 */
#include <string.h>

#include "conformance/checks/dense_views.h"
#include "conformance/checks/writings.h"
#include "formats/profile.h"

#define N(array) ((int)(sizeof(array) / sizeof *(array)))

static ng_rules rules_of(const char *name)
{
    ng_profile profile;
    ng_error error = {""};

    if (ng_profile_load(&profile, name, &error) != NG_OK)
        ck_abort_msg("%s", error.text);
    return profile.rules;
}

/* Blocks of up to three numbers: the scale byte, and the codes in order. */
static const struct block {
    int row; /* of the list of disagreements */
    const char *profile;
    float x[3];
    uint8_t scale, code[3];
} blocks[] = {
    /* amax = 7 beside 5 and 3.5 */
    {1, "ocp", {7, 5, 3.5f}, 127, {7, 6, 6}},
    {1, "torchao-floor", {7, 5, 3.5f}, 127, {7, 6, 6}},
    {1, "torchao-even", {7, 5, 3.5f}, 128, {6, 4, 4}},
    {1, "torchao-ceil", {7, 5, 3.5f}, 128, {6, 4, 4}},
    {1, "torchao-rceil", {7, 5, 3.5f}, 128, {6, 4, 4}},
    {1, "deepgemm", {7, 5, 3.5f}, 128, {5, 4, 3}},
    {1, "microxcaling", {7, 5, 3.5f}, 127, {7, 7, 6}},
    /* amax = 6.5 */
    {2, "torchao-floor", {6.5f, 0, 0}, 127, {7, 0, 0}},
    {2, "torchao-even", {6.5f, 0, 0}, 127, {7, 0, 0}},
    {2, "torchao-ceil", {6.5f, 0, 0}, 128, {5, 0, 0}},
    {2, "torchao-rceil", {6.5f, 0, 0}, 128, {5, 0, 0}},
    {2, "deepgemm", {6.5f, 0, 0}, 128, {5, 0, 0}},
    /* amax = 4.5 beside 2.5 */
    {3, "torchao-floor", {4.5f, 2.5f, 0}, 127, {6, 4, 0}},
    {3, "torchao-rceil", {4.5f, 2.5f, 0}, 127, {6, 4, 0}},
    {3, "torchao-ceil", {4.5f, 2.5f, 0}, 128, {4, 2, 0}},
    {3, "microxcaling", {4.5f, 2.5f, 0}, 127, {6, 5, 0}},
    {3, "microxcaling-even", {4.5f, 2.5f, 0}, 127, {6, 4, 0}},
    /* an exponent by a rounded logarithm */
    {4, "microxcaling", {7.9999995f, 0, 0}, 128, {6, 0, 0}},
    {4, "torchao-floor", {7.9999995f, 0, 0}, 127, {7, 0, 0}},
    /* ties .75, 1.75 and 3.5, 6 and 4 beside them setting the scale to 1 */
    {5, "ocp", {4, .75f, 1.75f}, 127, {6, 2, 4}},
    {5, "deepgemm", {4, .75f, 1.75f}, 127, {6, 1, 3}},
    {5, "deepgemm", {6, 3.5f, 0}, 127, {7, 5, 0}},
    /* ties .25, 1.25, 2.5 and 5 */
    {6, "torchao-floor", {5, .25f, 1.25f}, 127, {6, 0, 2}},
    {6, "microxcaling", {5, .25f, 1.25f}, 127, {7, 1, 3}},
    {6, "microxcaling", {4, 2.5f, 0}, 127, {6, 5, 0}},
    /* -0 and what rounds to it */
    {8, "torchao-floor", {4, -0.0f, -0.2f}, 127, {6, 8, 8}},
    {8, "deepgemm", {4, -0.0f, -0.2f}, 127, {6, 0, 0}},
    {8, "microxcaling", {4, -0.0f, -0.2f}, 127, {6, 0, 8}},
    /* nothing but zeros */
    {15, "ocp", {0, 0, 0}, 0, {0, 0, 0}},
    {15, "torchao-rceil", {0, 0, 0}, 0, {0, 0, 0}},
    {15, "deepgemm", {0, 0, 0}, 112, {0, 0, 0}},
    /* even, from 1.75 * 2^127 on */
    {25, "torchao-even", {0x1.cp127f, 0, 0}, 255, {3, 3, 3}},
    {25, "torchao-floor", {0x1.cp127f, 0, 0}, 252, {7, 0, 0}},
    /* byte 0: the whole value, its double, none of it */
    {27, "torchao-floor", {0x1p-126f, 0, 0}, 0, {4, 0, 0}},
    {27, "torchao-floor-pre4725", {0x1p-126f, 0, 0}, 0, {2, 0, 0}},
    {27, "torchao-rceil-pre4725", {0x1p-126f, 0, 0}, 0, {0, 0, 0}},
};

START_TEST(mxfp4_blocks)
{
    for (int i = 0; i < N(blocks); i++) {
        const struct block *b = &blocks[i];
        const ng_rules rules = rules_of(b->profile);
        const ng_options options = {.rules = &rules};
        float x[3];
        uint8_t codes[2], scale = 0xA5;

        memcpy(x, b->x, sizeof x);
        const ng_mxfp4 y = dense_mxfp4(codes, &scale, NG_UE8M0, 1, N(x));
        const ng_matrix from = dense_matrix(x, NG_FP32, 1, N(x));

        ck_assert_int_eq(writings[_i].quantize_mxfp4(&y, &from, &options),
                         NG_OK);
        expect(_i, b->profile, b->row, b->scale, scale);
        expect(_i, b->profile, b->row, b->code[0], codes[0] & 0xF);
        expect(_i, b->profile, b->row, b->code[1], codes[0] >> 4);
        expect(_i, b->profile, b->row, b->code[2], codes[1] & 0xF);
    }
}
END_TEST

/* Two numbers of an MXFP8 block: the scale byte, and their codes. */
static const struct mxfp8_block {
    int row;
    const char *profile;
    uint32_t x[2]; /* FP32, their bits */
    uint8_t scale, code[2];
} mxfp8_blocks[] = {
    /* an infinity beside 1 */
    {12,
     "transformer-engine-mxfp8",
     {0x7F800000, 0x3F800000},
     254,
     {0x7E, 0}},
    {12, "torchao-rceil", {0x7F800000, 0x3F800000}, 255, {0x7F, 0x7F}},
    /* FLT_MAX */
    {13, "transformer-engine-mxfp8", {0x7F7FFFFF, 0}, 247, {0x78, 0}},
    {13, "torchao-even", {0x7F7FFFFF, 0}, 255, {0x7F, 0x7F}},
    /* nothing but zeros */
    {15, "ocp", {0, 0x80000000}, 0, {0, 0x80}},
    {15, "transformer-engine-mxfp8", {0, 0x80000000}, 0, {0, 0x80}},
    /* a NaN beside 1 */
    {22,
     "transformer-engine-mxfp8",
     {0x3F800000, 0x7FC00000},
     119,
     {0x78, 0x7F}},
    {22, "torchao-rceil", {0x3F800000, 0x7FC00000}, 255, {0x7F, 0x7F}},
    {22, "microxcaling", {0x3F800000, 0x7FC00000}, 255, {0x7F, 0x7F}},
    /* amax = 500: 448, or 256 under a scale of 2 */
    {23, "ocp", {0x43FA0000, 0}, 127, {0x7E, 0}},
    {23, "torchao-floor", {0x43FA0000, 0}, 127, {0x7E, 0}},
    {23, "microxcaling", {0x43FA0000, 0}, 127, {0x7E, 0}},
    {23, "torchao-rceil", {0x43FA0000, 0}, 128, {0x78, 0}},
    {23, "torchao-ceil", {0x43FA0000, 0}, 128, {0x78, 0}},
    {23, "transformer-engine-mxfp8", {0x43FA0000, 0}, 128, {0x78, 0}},
    /* 2^-126 under scale byte 0: 2, or half of it, or not scaled */
    {27, "torchao-floor", {0x00800000, 0}, 0, {0x40, 0}},
    {27, "torchao-floor-pre4725", {0x00800000, 0}, 0, {0x38, 0}},
    {27, "torchao-rceil-pre4725", {0x00800000, 0}, 0, {0, 0}},
};

START_TEST(blocks_of_mxfp8)
{
    for (int i = 0; i < N(mxfp8_blocks); i++) {
        const struct mxfp8_block *b = &mxfp8_blocks[i];
        const ng_rules rules = rules_of(b->profile);
        const ng_options options = {.rules = &rules};
        uint32_t x[2];
        uint8_t codes[2], scale = 0xA5;

        memcpy(x, b->x, sizeof x);
        const ng_mxfp8 y = dense_mxfp8(codes, &scale, NG_UE8M0, 1, N(x));
        const ng_matrix from = dense_matrix(x, NG_FP32, 1, N(x));

        ck_assert_int_eq(writings[_i].quantize_mxfp8(&y, &from, &options),
                         NG_OK);
        expect(_i, b->profile, b->row, b->scale, scale);
        expect(_i, b->profile, b->row, b->code[0], codes[0]);
        expect(_i, b->profile, b->row, b->code[1], codes[1]);
    }
}
END_TEST

/* Two numbers of an FP8 block: the scale, as FP32 bits, and their codes. */
static const struct fp8_block {
    int row;
    const char *profile;
    uint32_t x[2]; /* FP32, their bits */
    uint32_t scale;
    uint8_t code[2];
} fp8_blocks[] = {
    /* nothing but zeros */
    {15, "ng", {0, 0}, 0x3F800000, {0, 0}},
    {15, "deepgemm-fp8", {0, 0}, 0x346FACAD, {0, 0}},
    {15, "deepgemm-fp8-ue8m0", {0, 0}, 0x34800000, {0, 0}},
    {15, "deepep-python", {0, 0}, 0x346FACAD, {0, 0}},
    {15, "transformer-engine", {0, 0}, 0x3F800000, {0, 0}},
    {15, "transformer-engine-fp32", {0, 0}, 0x3F800000, {0, 0}},
    {15, "torchao-fp8", {0, 0}, 0x2720D7C5, {0, 0}},
    /* amax = 1e-6: below somebody's least */
    {16, "deepgemm-fp8", {0x358637BD, 0}, 0x346FACAD, {0x49, 0}},
    {16, "deepgemm-fp8-ue8m0", {0x358637BD, 0}, 0x34800000, {0x48, 0}},
    {16, "deepep", {0x358637BD, 0}, 0x346FACAD, {0x49, 0}},
    {16, "deepep-python", {0x358637BD, 0}, 0x346FACAD, {0x49, 0}},
    {16, "transformer-engine", {0x358637BD, 0}, 0x31800000, {0x78, 0}},
    {16, "transformer-engine-fp32", {0x358637BD, 0}, 0x31196446, {0x7E, 0}},
    {16, "torchao-fp8", {0x358637BD, 0}, 0x31196446, {0x7E, 0}},
    /* amax = 1e-38: 448 / amax passes FP32 */
    {17, "deepgemm-fp8", {0x006CE3EE, 0}, 0x346FACAD, {0, 0}},
    {17, "transformer-engine", {0x006CE3EE, 0}, 0x00400000, {0x3E, 0}},
    {17, "transformer-engine-fp32", {0x006CE3EE, 0}, 0x00200000, {0x46, 0}},
    {17, "torchao-fp8", {0x006CE3EE, 0}, 0x2720D7C5, {0, 0}},
    /* amax = 2.59375 beside 0.97265625, whose quotient is a tie */
    {18, "deepgemm-fp8", {0x40260000, 0x3F790000}, 0x3BBDB6DB, {0x7E, 0x73}},
    {18, "deepep", {0x40260000, 0x3F790000}, 0x3BBDB6DC, {0x7E, 0x72}},
    {18, "deepep-python", {0x40260000, 0x3F790000}, 0x3BBDB6DB, {0x7E, 0x72}},
    {18,
     "transformer-engine-fp32",
     {0x40260000, 0x3F790000},
     0x3BBDB6DC,
     {0x7E, 0x72}},
    {18, "torchao-fp8", {0x40260000, 0x3F790000}, 0x3BBDB6DC, {0x7E, 0x72}},
    /* amax = 3.1875 beside -2.390625 */
    {19, "deepgemm-fp8", {0x404C0000, 0xC0190000}, 0x3BE92492, {0x7E, 0xFB}},
    /* amax = 1.078125 beside 0.80859375: what multiplies, what is stored */
    {20, "deepep", {0x3F8A0000, 0x3F4F0000}, 0x3B1DB6DC, {0x7E, 0x7A}},
    {20, "deepep-python", {0x3F8A0000, 0x3F4F0000}, 0x3B1DB6DB, {0x7E, 0x7B}},
    {20, "torchao-fp8", {0x3F8A0000, 0x3F4F0000}, 0x3B1DB6DC, {0x7E, 0x7A}},
    /* an infinity beside 1 */
    {21, "ng", {0x7F800000, 0x3F800000}, 0x7FFFFFFF, {0x7F, 0x7F}},
    {21,
     "deepgemm-fp8-ue8m0",
     {0x7F800000, 0x3F800000},
     0x7F000000,
     {0x7E, 0}},
    {21,
     "transformer-engine",
     {0x7F800000, 0x3F800000},
     0x3F800000,
     {0x7E, 0x38}},
    {21, "torchao-fp8", {0x7F800000, 0x3F800000}, 0x7F800000, {0x7F, 0}},
    /* 3e38 beside a NaN */
    {22, "torchao-fp8", {0x7F61B1E6, 0x7FC00000}, 0x7FFFFFFF, {0x7F, 0x7F}},
    {22,
     "deepgemm-fp8-ue8m0",
     {0x7F61B1E6, 0x7FC00000},
     0x7F000000,
     {0x3E, 0x7F}},
    {22,
     "transformer-engine",
     {0x3F800000, 0x7FC00000},
     0x3B800000,
     {0x78, 0x7F}},
    {22, "deepep", {0x3F800000, 0x7FC00000}, 0x3B124925, {0x7E, 0x7F}},
};

START_TEST(blocks_of_fp8)
{
    for (int i = 0; i < N(fp8_blocks); i++) {
        const struct fp8_block *b = &fp8_blocks[i];
        const ng_rules rules = rules_of(b->profile);
        const ng_options options = {.rules = &rules};
        uint32_t x[2], scale = 0xA5A5A5A5;
        uint8_t codes[2];

        memcpy(x, b->x, sizeof x);
        ng_fp8 y = dense_fp8(codes, &scale, NG_FP32, NG_FP8_ROW, 1, N(x));
        const ng_matrix from = dense_matrix(x, NG_FP32, 1, N(x));

        y.scales.pow2 = false;
        ck_assert_int_eq(writings[_i].quantize_fp8(&y, &from, &options),
                         NG_OK);
        expect(_i, b->profile, b->row, b->scale, scale);
        expect(_i, b->profile, b->row, b->code[0], codes[0]);
        expect(_i, b->profile, b->row, b->code[1], codes[1]);
    }
}
END_TEST

/* Single numbers. */
static const struct number {
    int row;
    const char *profile;
    ng_format_id format;
    uint32_t x; /* FP32, its bits */
    uint32_t code;
} numbers[] = {
    {7, "cuda-headers", NG_FORMAT_E2M1, 0x7FC00000, 0x7},
    {7, "torchao-floor", NG_FORMAT_E2M1, 0x7FC00000, 0x3},
    {7, "torchao-floor", NG_FORMAT_E2M1, 0xFFC00000, 0xB},
    {7, "ml-dtypes", NG_FORMAT_E2M1, 0x7FC00000, 0x8},
    {7, "ml-dtypes", NG_FORMAT_E2M1, 0xFFC00000, 0x0},
    {7, "deepgemm", NG_FORMAT_E2M1, 0x7FC00000, 0x0},
    {9, "ocp", NG_FORMAT_E4M3, 0x43E88000, 0x7E}, /* 465 */
    {9, "ocp", NG_FORMAT_E4M3, 0x7F800000, 0x7E},
    {9, "ml-dtypes", NG_FORMAT_E4M3, 0x43E88000, 0x7F},
    {9, "ml-dtypes", NG_FORMAT_E4M3, 0x7F800000, 0x7F},
    {10, "ml-dtypes", NG_FORMAT_UE8M0, 0x3FA66666, 127}, /* 1.3 */
    {11, "ml-dtypes", NG_FORMAT_UE8M0, 0x40400000, 129}, /* 3 */
    {11, "gfloat", NG_FORMAT_UE8M0, 0x40400000, 128},
    {11, "ml-dtypes", NG_FORMAT_UE8M0, 0x3FB9999A, 127}, /* 1.45 */
    {11, "gfloat", NG_FORMAT_UE8M0, 0x3FB9999A, 127},
    {12, "ml-dtypes", NG_FORMAT_UE8M0, 0x7F800000, 255},
    {12, "ocp", NG_FORMAT_UE8M0, 0x7F800000, 254},
    {13, "ml-dtypes", NG_FORMAT_UE8M0, 0x7F7FFFFF, 255},
    {14, "ml-dtypes", NG_FORMAT_UE8M0, 0x00000000, 255},
    {14, "ocp", NG_FORMAT_UE8M0, 0x00000000, 0},
};

START_TEST(scalars)
{
    for (int i = 0; i < N(numbers); i++) {
        const struct number *n = &numbers[i];
        const ng_rules rules = rules_of(n->profile);
        unsigned events = 0;

        expect(_i, n->profile, n->row, n->code,
               writings[_i].encode(n->format, ng_fp32_from_bits(n->x), &rules,
                                   0, &events));
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("disagreements");
    TCase *tcase = tcase_create("peers");

    ADD_TRAP(tcase, mxfp4_blocks);
    ADD_TRAP(tcase, blocks_of_mxfp8);
    ADD_TRAP(tcase, blocks_of_fp8);
    ADD_TRAP(tcase, scalars);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
