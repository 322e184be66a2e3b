/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults of scalar codecs that happened (docs/cases.md L-01 to L-06, L-08,
 * L-17, L-19, L-20) and the known answers of Philox4x32-10. Inputs and expected
 * codes are restated from there by hand; both writings must give them.
 */
#include "conformance/checks/writings.h"

#define N(array) ((int)(sizeof(array) / sizeof *(array)))

static const ng_rules even = {.rounding = NG_NEAREST_EVEN};
static const ng_rules up = {.rounding = NG_UP};
static const ng_rules stochastic = {.rounding = NG_STOCHASTIC};
static const ng_rules ieee = {.rounding = NG_NEAREST_EVEN, .overflow = NG_IEEE};

typedef struct value_code {
    float x;
    uint32_t code;
} value_code;

typedef struct bits_code {
    uint32_t bits, code;
} bits_code;

static void encodes(int writing, ng_format_id format, const ng_rules *rules,
                    const value_code *table, int n)
{
    for (int i = 0; i < n; i++)
        expect(writing, ng_formats[format].name, i, table[i].code,
               writings[writing].encode(format, table[i].x, rules, 0, NULL));
}

static void encodes_bits(int writing, ng_format_id format,
                         const ng_rules *rules, const bits_code *table, int n)
{
    for (int i = 0; i < n; i++)
        expect(writing, ng_formats[format].name, i, table[i].code,
               writings[writing].encode(
                   format, ng_fp32_from_bits(table[i].bits), rules, 0, NULL));
}

static void decodes(int writing, ng_format_id format, const bits_code *table,
                    int n)
{
    for (int i = 0; i < n; i++)
        expect(writing, ng_formats[format].name, i, table[i].bits,
               ng_fp32_bits(writings[writing].decode(format, table[i].code,
                                                     &ng_default_rules)));
}

START_TEST(trap_l01_e2m1_ties)
{
    static const value_code ties[] = {
        {0.25f, 0x0}, {0.75f, 0x2}, {1.25f, 0x2}, {1.75f, 0x4},
        {2.5f, 0x4}, {3.5f, 0x6}, {5.0f, 0x6},
        {-0.25f, 0x8}, {-0.75f, 0xA}, {-1.25f, 0xA}, {-1.75f, 0xC},
        {-2.5f, 0xC}, {-3.5f, 0xE}, {-5.0f, 0xE},
    };

    encodes(_i, NG_FORMAT_E2M1, &even, ties, N(ties));
}
END_TEST

START_TEST(trap_l02_e4m3_past_a_tie)
{
    static const bits_code near[] = {
        {0x43680000, 0x76},             /* 232, a tie */
        {0x4368096E, 0x77},             /* 232.03683; cut, it would be 76 */
        {0x40880000, 0x48},             /* 4.25, a tie */
        {0x40980000, 0x4A},             /* 4.75, a tie */
    };

    encodes_bits(_i, NG_FORMAT_E4M3, &even, near, N(near));
}
END_TEST

START_TEST(trap_l03_e4m3_overflow_edge)
{
    static const bits_code to_nan[] = {
        {0x43E00000, 0x7E},             /* 448 */
        {0x43E80000, 0x7E},             /* 464, the tie with 480 */
        {0x43E80001, 0x7F},
        {0x43F00000, 0x7F},             /* 480 */
        {0x447A0000, 0x7F},             /* 1000 */
        {0xC47A0000, 0xFF},
    };
    static const bits_code saturated[] = {
        {0x43E00000, 0x7E}, {0x43E80000, 0x7E}, {0x43E80001, 0x7E},
        {0x43F00000, 0x7E}, {0x447A0000, 0x7E}, {0xC47A0000, 0xFE},
    };

    encodes_bits(_i, NG_FORMAT_E4M3, &ieee, to_nan, N(to_nan));
    encodes_bits(_i, NG_FORMAT_E4M3, &even, saturated, N(saturated));
}
END_TEST

START_TEST(trap_l04_e4m3_subnormals_and_minus_zero)
{
    static const bits_code decoded[] = {
        {0x3B000000, 0x01}, {0x3B800000, 0x02}, {0x3C600000, 0x07},
        {0x3C800000, 0x08}, {0xBB000000, 0x81},
    };
    static const value_code encoded[] = {
        {-0.0f, 0x80},                  /* FP16 8000 */
        {-0x1p-10f, 0x80},              /* a tie to zero keeps its sign */
        {-0x1.00001p-10f, 0x81},        /* -(2^-10 + 2^-30) */
    };

    decodes(_i, NG_FORMAT_E4M3, decoded, N(decoded));
    encodes(_i, NG_FORMAT_E4M3, &even, encoded, N(encoded));
}
END_TEST

START_TEST(trap_l05_ue8m0_ends)
{
    static const bits_code decoded[] = {
        {0x00400000, 0x00}, {0x00800000, 0x01}, {0x7F000000, 0xFE},
        {0x7FFFFFFF, 0xFF},             /* NaN, the canonical one */
    };
    static const uint32_t inverse[] = {0x7F000000, 0x7E800000, 0x00400000};

    decodes(_i, NG_FORMAT_UE8M0, decoded, N(decoded));
    for (int i = 0; i < N(inverse); i++) {
        /* A build that flushes subnormals fails here. */
        const volatile float scale = writings[_i].decode(
            NG_FORMAT_UE8M0, decoded[i].code, &ng_default_rules);

        expect(_i, "inverse", i, inverse[i], ng_fp32_bits(1.0f / scale));
        ck_assert(scale * ng_fp32_from_bits(inverse[i]) == 1.0f);
    }
}
END_TEST

START_TEST(trap_l06_ue8m0_ties)
{
    static const value_code nearest[] = {
        {0.75f, 0x7E}, {1.5f, 0x80}, {3.0f, 0x80}, {6.0f, 0x82}};
    static const value_code upward[] = {
        {0.75f, 0x7F}, {1.5f, 0x80}, {3.0f, 0x81}, {6.0f, 0x82}};

    encodes(_i, NG_FORMAT_UE8M0, &even, nearest, N(nearest));
    encodes(_i, NG_FORMAT_UE8M0, &up, upward, N(upward));
}
END_TEST

START_TEST(trap_l08_exponent_by_log2)
{
    static const bits_code ratio[] = {
        {0x41800000, 131},              /* 16 */
        {0x41800001, 132},              /* a rounded log2 gives 131 */
        {0x417FFFFF, 131},
        {0x43800001, 136},              /* 256.00003: 135 by log2 */
    };

    encodes_bits(_i, NG_FORMAT_UE8M0, &up, ratio, N(ratio));
}
END_TEST

/* Its int16 remainder is the weight splitting's; this is the BF16 half. */
START_TEST(trap_l17_bf16_half_is_nearest_even)
{
    static const bits_code half[] = {
        {0x3F808000, 0x3F80}, {0x3F818000, 0x3F82}, {0xBF808000, 0xBF80},
        {0x00008000, 0x0000}, {0x3F807FFF, 0x3F80}, {0x3F808001, 0x3F81},
    };

    encodes_bits(_i, NG_FORMAT_BF16, &even, half, N(half));
}
END_TEST

/* The case's r is added to the 16 dropped bits: the upper half of our word. */
START_TEST(trap_l19_stochastic_bf16_specials)
{
    static const struct {
        uint32_t bits, random, code;
    } table[] = {
        {0x7FFFFFFF, 0x00010000, 0x7FFF},
        {0xFFFFFFFF, 0x00010000, 0x7FFF},   /* canonical, like every NaN */
        {0x7F800001, 0x00000000, 0x7FFF},
        {0x7F800000, 0xFFFF0000, 0x7F80},
        {0x7F800000, 0xFFFFFFFF, 0x7F80},
        {0xFF800000, 0xFFFFFFFF, 0xFF80},
        {0x3F800000, 0x00000000, 0x3F80},
        {0x3F800000, 0x80000000, 0x3F80},
        {0x3F800000, 0xFFFFFFFF, 0x3F80},
        {0x3F808000, 0x7FFFFFFF, 0x3F80},   /* half way: from 8000 on */
        {0x3F808000, 0x80000000, 0x3F81},
        {0x3F80FFFF, 0x0000FFFF, 0x3F80},
        {0x3F80FFFF, 0x00010000, 0x3F81},
        {0xBF80FFFF, 0x00010000, 0xBF81},
        {0x7F7FFFFF, 0x0000FFFF, 0x7F7F},
        {0x7F7FFFFF, 0x00010000, 0x7F80},   /* carried past the largest */
    };
    ng_rules rules = stochastic;

    rules.overflow = NG_IEEE;
    for (int i = 0; i < N(table); i++)
        expect(_i, "bf16", i, table[i].code,
               writings[_i].encode(NG_FORMAT_BF16,
                                   ng_fp32_from_bits(table[i].bits), &rules,
                                   table[i].random, NULL));
    expect(_i, "saturated", 0, 0x7F7F,
           writings[_i].encode(NG_FORMAT_BF16, ng_fp32_from_bits(0x7F7FFFFF),
                               &stochastic, 0x00010000, NULL));
}
END_TEST

START_TEST(trap_l20_bf16_cut_fp16_subnormals_lost)
{
    static const bits_code bf16[] = {
        {0x3E89CCD5, 0x3E8A}, {0x3F808000, 0x3F80}, {0x3F818000, 0x3F82}};
    static const bits_code fp16[] = {
        {0x33800000, 0x0001}, {0x33000000, 0x0000}, {0x33000001, 0x0001},
        {0x33C00000, 0x0002}, {0x38000000, 0x0200},
        {0x387FE000, 0x0400},           /* rounds up into the normals */
    };

    encodes_bits(_i, NG_FORMAT_BF16, &even, bf16, N(bf16));
    encodes_bits(_i, NG_FORMAT_FP16, &even, fp16, N(fp16));
}
END_TEST

/* Philox4x32-10 as its paper prints it, over any counter and key: a third
 * writing, since the interface reaches block numbers below 2^62 only. */
static void philox(uint32_t word[4], const uint32_t counter[4],
                   const uint32_t key[2])
{
    uint32_t r0 = counter[0], l0 = counter[1], r1 = counter[2], l1 = counter[3];

    for (uint32_t i = 0; i < 10; i++) {
        const uint64_t p0 = (uint64_t)r0 * 0xD2511F53u;
        const uint64_t p1 = (uint64_t)r1 * 0xCD9E8D57u;

        r0 = (uint32_t)(p1 >> 32) ^ l0 ^ (key[0] + i * 0x9E3779B9u);
        l0 = (uint32_t)p1;
        r1 = (uint32_t)(p0 >> 32) ^ l1 ^ (key[1] + i * 0xBB67AE85u);
        l1 = (uint32_t)p0;
    }
    word[0] = r0;
    word[1] = l0;
    word[2] = r1;
    word[3] = l1;
}

/* Random123, kat_vectors, "philox4x32 10": counter, key, words. */
static const struct known {
    uint32_t counter[4], key[2], word[4];
} known[] = {
    {{0, 0, 0, 0}, {0, 0},
     {0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8}},
    {{0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF},
     {0xFFFFFFFF, 0xFFFFFFFF},
     {0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD}},
    {{0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344},
     {0xA4093822, 0x299F31D0},
     {0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1}},
};

static uint64_t joined(uint32_t low, uint32_t high)
{
    return (uint64_t)high << 32 | low;
}

START_TEST(philox_known_answers)
{
    for (int i = 0; i < N(known); i++) {
        uint32_t counter[4], word[4];

        philox(word, known[i].counter, known[i].key);
        ck_assert_mem_eq(word, known[i].word, sizeof word);

        /* The nearest counter that a 64-bit element number reaches. */
        memcpy(counter, known[i].counter, sizeof counter);
        counter[1] &= 0x3FFFFFFF;
        philox(word, counter, known[i].key);
        for (uint64_t k = 0; k < 4; k++)
            expect(_i, "philox", 4 * i + (int)k, word[k],
                   writings[_i].philox(
                       joined(known[i].key[0], known[i].key[1]),
                       joined(counter[2], counter[3]),
                       joined(counter[0], counter[1]) * 4 + k));
    }
    for (uint32_t k = 0; k < 4; k++)
        expect(_i, "zero", k, known[0].word[k], writings[_i].philox(0, 0, k));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("scalar traps");
    TCase *tcase = tcase_create("traps");

    ADD_TRAP(tcase, trap_l01_e2m1_ties);
    ADD_TRAP(tcase, trap_l02_e4m3_past_a_tie);
    ADD_TRAP(tcase, trap_l03_e4m3_overflow_edge);
    ADD_TRAP(tcase, trap_l04_e4m3_subnormals_and_minus_zero);
    ADD_TRAP(tcase, trap_l05_ue8m0_ends);
    ADD_TRAP(tcase, trap_l06_ue8m0_ties);
    ADD_TRAP(tcase, trap_l08_exponent_by_log2);
    ADD_TRAP(tcase, trap_l17_bf16_half_is_nearest_even);
    ADD_TRAP(tcase, trap_l19_stochastic_bf16_specials);
    ADD_TRAP(tcase, trap_l20_bf16_cut_fp16_subnormals_lost);
    ADD_TRAP(tcase, philox_known_answers);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
