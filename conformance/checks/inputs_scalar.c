/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/checks/inputs_scalar.h"

#include <math.h>
#include <string.h>

#include "formats/format.h"
#include "formats/fp32.h"

enum { PER_CASE = 1 << 16 };

/* The format that an operation's name ends in. */
static const ng_format *format_of(const char *operation)
{
    return ng_format_find(strchr(operation, '_') + 1);
}

/* Magnitude codes of a format up to one slot past the largest finite. */
static uint32_t n_slots(const ng_format *format)
{
    return format->max_finite + 2;
}

/* The value of a magnitude code by the definition in formats/format.h, in the
 * format continued upward. Every one of these fits a double exactly. */
static double slot_value(const ng_format *format, uint32_t code)
{
    const int p = format->fraction_bits;
    const int field = (int)(code >> p);
    const double fraction = code & ((UINT32_C(1) << p) - 1);

    if (field == 0 && format->has_subnormals)
        return ldexp(fraction, 1 - format->bias - p);
    return ldexp(fraction + ldexp(1, p), field - format->bias - p);
}

/* Declare x, the code output and, for stochastic rounding, the random words;
 * return where the n inputs go. */
static float *begin_encode(ng_case *c, int64_t n, uint32_t **random)
{
    static const ng_dtype code_type[NG_N_FORMATS] = {
        [NG_FORMAT_E2M1] = NG_E2M1, [NG_FORMAT_E4M3] = NG_E4M3,
        [NG_FORMAT_UE8M0] = NG_UE8M0, [NG_FORMAT_UE6M10] = NG_UE6M10,
        [NG_FORMAT_BF16] = NG_BF16, [NG_FORMAT_FP16] = NG_FP16,
    };
    const ng_format *format = format_of(c->call.operation);
    float *x = ng_case_input(c, "x", NG_FP32, 1, &n);

    *random = NULL;
    if (c->call.rules.rounding == NG_STOCHASTIC)
        *random = ng_case_input(c, "random", NG_U32, 1, &n);
    ng_case_output(c, "y", code_type[format - ng_formats], 1, &n, false);
    return x;
}

/* Words at which stochastic rounding turns over for some t, or any word. */
static uint32_t random_word(ng_case *c)
{
    static const uint32_t edge[] = {0, 1, 0x7FFFFFFF, 0x80000000, 0x80000001,
                                    0xFFFF0000, 0xFFFFFFFF};

    if (ng_case_chance(c, 2))
        return edge[ng_case_below(c, sizeof edge / sizeof *edge)];
    return (uint32_t)ng_case_random(c);
}

static void fill_random_words(ng_case *c, uint32_t *random, int64_t n)
{
    for (int64_t i = 0; random != NULL && i < n; i++)
        random[i] = random_word(c);
}

static int64_t count_one(const ng_variant *variant, int level)
{
    (void)variant, (void)level;
    return 1;
}

static void fill_special(ng_case *c, int64_t index)
{
    static const uint32_t bits[] = {
        0x00000000, 0x00000001, 0x00000002, 0x00200000, 0x00300000, 0x003FFFFF,
        0x00400000, 0x00400001, 0x00600000, 0x007FFFFF, 0x00800000, 0x00800001,
        0x3F7FFFFF, 0x3F800000, 0x3F800001, 0x7EFFFFFF, 0x7F000000, 0x7F3FFFFF,
        0x7F400000, 0x7F400001, 0x7F7F7FFF, 0x7F7F8000, 0x7F7F8001, 0x7F7FFFFF,
        0x7F800000, 0x7F800001, 0x7FBFFFFF, 0x7FC00000, 0x7FFFFFFF,
    };
    enum { N = sizeof bits / sizeof *bits };
    uint32_t *random;
    float *x = begin_encode(c, 2 * N, &random);

    (void)index;
    for (int i = 0; x != NULL && i < N; i++) {
        x[2 * i] = ng_fp32_from_bits(bits[i]);
        x[2 * i + 1] = ng_fp32_from_bits(bits[i] | NG_FP32_SIGN);
    }
    fill_random_words(c, random, 2 * N);
}

/* Case 0 takes the codes at both ends of the format and of every exponent field;
 * case i > 0 takes every 64th code from the (i - 1)-th on. At level 0 that is one
 * in eight of the codes, beyond all of them. */
static int64_t count_ties(const ng_variant *variant, int level)
{
    (void)variant;
    return 1 + (level == 0 ? 8 : 64);
}

/* Whether case `index` takes this code. */
static bool takes_code(const ng_format *format, int64_t index, uint32_t code)
{
    enum { ENDS = 40 };
    const uint32_t in_field = (UINT32_C(1) << format->fraction_bits) - 1;

    if (index > 0)
        return code % 64 == (uint32_t)index - 1;
    return code < ENDS || code + ENDS > n_slots(format)
           || (code & in_field) == 0 || (code & in_field) == in_field;
}

/* Each code's value and its midpoint to the next, one FP32 step either side. */
static void fill_ties(ng_case *c, int64_t index)
{
    const ng_format *format = format_of(c->call.operation);
    const uint32_t slots = n_slots(format);
    uint32_t *random;
    int64_t n = 0;

    for (uint32_t code = 0; code < slots; code++)
        n += takes_code(format, index, code);
    float *x = begin_encode(c, 12 * n, &random);
    for (uint32_t code = 0; x != NULL && code < slots; code++) {
        const double low = slot_value(format, code);
        const double high = slot_value(format, code + 1);
        const float at[2] = {(float)low, (float)(low / 2 + high / 2)};

        for (int k = 0; takes_code(format, index, code) && k < 12; k++) {
            const uint32_t bits = ng_fp32_bits(at[k / 6]);
            const uint32_t step = (uint32_t)(k % 3) - 1;    /* -1, 0, 1 */
            const uint32_t near = bits == 0 && k % 3 == 0 ? 1 : bits + step;

            *x++ = ng_fp32_from_bits(near | (k % 6 < 3 ? 0 : NG_FP32_SIGN));
        }
    }
    fill_random_words(c, random, 12 * n);
}

static int64_t count_thresholds(const ng_variant *variant, int level)
{
    (void)level;
    return variant->rules.rounding == NG_STOCHASTIC ? 64 : 0;
}

/* Values j/256 of the way from a code to the next, with the random words just
 * below, at and just above the one from which they go up. */
static void fill_thresholds(ng_case *c, int64_t index)
{
    enum { N = 4096 };
    const ng_format *format = format_of(c->call.operation);
    uint32_t *random;
    float *x = begin_encode(c, 3 * N, &random);

    (void)index;
    for (int i = 0; x != NULL && random != NULL && i < N; i++) {
        const uint32_t code =
            (uint32_t)ng_case_below(c, (int64_t)format->max_finite + 1);
        const uint32_t j = (uint32_t)ng_case_below(c, 256);
        const double low = slot_value(format, code);
        const double high = slot_value(format, code + 1);
        const double value = low + (high - low) / 256 * j;
        const float sign = ng_case_chance(c, 2) ? -1.0f : 1.0f;

        for (int k = 0; k < 3; k++) {
            x[3 * i + k] = sign * (float)value;
            random[3 * i + k] = (0u - (j << 24)) + (uint32_t)(k - 1);
        }
    }
}

static int64_t count_random(const ng_variant *variant, int level)
{
    (void)variant;
    return level == 0 ? 8 : 256;
}

static void fill_random(ng_case *c, int64_t index)
{
    enum { N = 4096 };
    const ng_format *format = format_of(c->call.operation);
    uint32_t *random;
    float *x = begin_encode(c, N, &random);

    (void)index;
    for (int i = 0; x != NULL && i < N; i++) {
        uint32_t bits = (uint32_t)ng_case_random(c);

        if (i % 2 == 0) {       /* half of them within the format's range */
            const double top = slot_value(format, format->max_finite) * 2;
            const int exponent = ilogb(top) - (int)ng_case_below(
                c, (1 << format->exponent_bits) + format->fraction_bits + 2);
            const float value = (float)ldexp(1 + (bits & 0x7FFFFF) * 0x1p-23,
                                             exponent);

            bits = ng_fp32_bits(value) | (bits & NG_FP32_SIGN);
        }
        x[i] = ng_fp32_from_bits(bits);
    }
    fill_random_words(c, random, N);
}

static int64_t count_sixteen(const ng_variant *variant, int level)
{
    (void)variant, (void)level;
    return 2;
}

/* Every BF16 number, then every FP16 number. */
static void fill_sixteen(ng_case *c, int64_t index)
{
    uint32_t *random;
    float *x = begin_encode(c, PER_CASE, &random);

    for (uint32_t i = 0; x != NULL && i < PER_CASE; i++) {
        const ng_format *fp16 = &ng_formats[NG_FORMAT_FP16];
        const uint32_t sign = (i & 0x8000) << 16;

        if (index == 0)
            x[i] = ng_fp32_from_bits(i << 16);
        else if ((i & 0x7FFF) > fp16->max_finite)
            x[i] = ng_fp32_from_bits(sign | 0x7F800000 | (i & 0x3FF) << 13);
        else
            x[i] = ng_fp32_from_bits(
                sign | ng_fp32_bits((float)slot_value(fp16, i & 0x7FFF)));
    }
    fill_random_words(c, random, PER_CASE);
}

static int64_t count_all(const ng_variant *variant, int level)
{
    (void)level;
    return variant->rules.rounding == NG_STOCHASTIC ? 0 : 1 << 16;
}

/* All 2^32 FP32 numbers, 65536 a case. */
static void fill_all(ng_case *c, int64_t index)
{
    uint32_t *random;
    float *x = begin_encode(c, PER_CASE, &random);

    for (uint32_t i = 0; x != NULL && i < PER_CASE; i++)
        x[i] = ng_fp32_from_bits((uint32_t)index << 16 | i);
}

const ng_stratum ng_encode_strata[] = {
    {"special", "zeros, subnormals, edges of binades, infinities, NaNs", 0,
     count_one, fill_special},
    {"ties", "every code, every midpoint, one FP32 step either side", 0,
     count_ties, fill_ties},
    {"thresholds", "stochastic words around the one that rounds up", 0,
     count_thresholds, fill_thresholds},
    {"random", "random bits, and random values within the range", 0,
     count_random, fill_random},
    {"sixteen", "all BF16 and all FP16 numbers", 1, count_sixteen,
     fill_sixteen},
    {"all", "all 2^32 FP32 numbers (deterministic roundings)", 2, count_all,
     fill_all},
    {0},
};

/* Every code of the format. */
static void fill_codes(ng_case *c, int64_t index)
{
    const ng_format *format = format_of(c->call.operation);
    const int64_t n = INT64_C(1) << format->bits;

    (void)index;
    if (format->bits <= 8) {
        uint8_t *x = ng_case_input(c, "x", NG_U8, 1, &n);

        for (int64_t i = 0; x != NULL && i < n; i++)
            x[i] = (uint8_t)i;
    } else {
        uint16_t *x = ng_case_input(c, "x", NG_U16, 1, &n);

        for (int64_t i = 0; x != NULL && i < n; i++)
            x[i] = (uint16_t)i;
    }
    ng_case_output(c, "y", NG_FP32, 1, &n, false);
}

const ng_stratum ng_decode_strata[] = {
    {"codes", "every code", 0, count_one, fill_codes},
    {0},
};

static int64_t count_streams(const ng_variant *variant, int level)
{
    (void)variant;
    return level == 0 ? 16 : 256;
}

/* A stretch of one stream: from 0, across 2^32, or from anywhere. */
static void fill_streams(ng_case *c, int64_t index)
{
    const int64_t one = 1, n = 1000;
    uint64_t *first = ng_case_input(c, "first", NG_U64, 1, &one);

    if (first != NULL)
        *first = index == 0   ? 0
                 : index == 1 ? (UINT64_C(1) << 34) - 500
                              : ng_case_random(c);
    if (index > 1)
        c->call.random.stream = ng_case_random(c);
    ng_case_output(c, "y", NG_U32, 1, &n, false);
}

const ng_stratum ng_philox_strata[] = {
    {"streams", "stretches of random streams, across 2^32 blocks too", 0,
     count_streams, fill_streams},
    {0},
};
