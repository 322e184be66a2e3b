/* SPDX-License-Identifier: Apache-2.0
 *
 * Random tensors of random shapes, dense and ragged, for every block-level
 * operation: what its input is made of decides what is drawn.
 */
#include "conformance/checks/inputs_block.h"

#include <math.h>

#include "conformance/checks/numbers.h"
#include "formats/e4m3.h"
#include "formats/fp32.h"
#include "formats/ue8m0.h"

/* Whether the overflow rule can show in this variant: where a narrower type is
 * written, where a rounding away from zero meets general scales, or where a
 * scale of section 3 lets elements pass 448. */
static bool overflows(const ng_variant *variant)
{
    const ng_rules *rules = &variant->rules;
    const int y = ng_variant_get(variant, "y", -1);

    if (y >= 0)
        return y != NG_FP32;
    if (ng_variant_get(variant, "mxfp8.scale", -1) >= 0)
        return rules->mxfp8_scale == NG_MX_FLOOR
               || rules->mxfp8_scale == NG_MX_EVEN;
    return (rules->rounding == NG_UP || rules->rounding == NG_DOWN)
           && !ng_fp8_scale_is_pow2(rules->fp8_scale);
}

/* MXFP8 in a rounding that neither the specification nor a peer's profile asks
 * of it. */
static bool is_other_mxfp8(const ng_variant *variant)
{
    return ng_variant_get(variant, "mxfp8.scale", -1) >= 0
           && (variant->rules.rounding != NG_NEAREST_AWAY
               || variant->rules.overflow == NG_IEEE);
}

bool ng_variant_is_minor(const ng_variant *variant)
{
    static const char *const scales[] = {"scales", "from", "to"};
    const bool nearest = variant->rules.rounding == NG_NEAREST_EVEN;
    const int headroom = ng_variant_get(variant, "headroom", -1);

    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++)
        if (ng_variant_get(variant, scales[i], 0) == NG_UE8M0X4)
            return true;
    if (ng_variant_get(variant, "overflow", -1) == NG_IEEE
        && !overflows(variant))
        return true;
    if (!nearest && (ng_variant_get(variant, "x", NG_FP32) != NG_FP32
                     || is_other_mxfp8(variant)
                     || ng_variant_get(variant, "from", -1) >= 0
                     || (ng_variant_get(variant, "fp8.scale", -1) >= 0
                         && ng_variant_get(variant, "scales", 0) != NG_FP32)))
        return true;
    return headroom >= 0
           && ((headroom != 0 && headroom != NG_DEFAULT_HEADROOM)
               || ng_variant_get(variant, "to", 0) != NG_FP32);
}

/* FP32: 2^-149 ... 2^127, two NaNs, infinity. */
enum { N_POWERS = 149 + 128, N_POW2_SCALES = N_POWERS + 2,
       N_FP32_SCALES = N_POW2_SCALES + 1 };

int64_t ng_variant_n_scales(const ng_variant *variant, const char *axis)
{
    if (ng_variant_get(variant, axis, NG_FP32) != NG_FP32)
        return 256;
    return ng_variant_get(variant, "pow2", 0) != 0 ? N_POW2_SCALES
                                                   : N_FP32_SCALES;
}

int64_t ng_block_n_scales(const ng_block_case *b)
{
    return b->scales_dtype != NG_FP32 ? 256
           : b->pow2                  ? N_POW2_SCALES
                                      : N_FP32_SCALES;
}

uint32_t ng_block_scale(const ng_block_case *b, int64_t i)
{
    static const uint32_t special[] = {NG_FP32_NAN, 0xFF800001,
                                       NG_FP32_INFINITY};

    if (b->scales_dtype != NG_FP32)
        return (uint32_t)i & 0xFF;
    return i < N_POWERS ? ng_number_power((int)i - 149)
                        : special[i - N_POWERS];
}

uint32_t ng_block_random_scale(ng_block_case *b, double center, double spread)
{
    const double exponent = center + spread * ng_case_normal(b->c);
    const int least = b->scales_dtype == NG_FP32 ? -149 : -127;
    const int k = exponent < least ? least
                  : exponent > 127 ? 127
                                   : (int)floor(exponent);

    if (b->scales_dtype != NG_FP32)
        return (uint32_t)(k + NG_UE8M0_BIAS);

    const uint32_t power = ng_number_power(k);
    const uint32_t random = (uint32_t)ng_case_random(b->c);

    if (b->pow2)
        return power;
    return power | (k >= -126 ? random & 0x7FFFFF : random & (power - 1));
}

/* Numbers with a magnitude of their own in each stretch of 32 columns and rows,
 * some outliers, zeros of both signs, in a few cases NaNs and infinities. */
static void fill_numbers(ng_block_case *b)
{
    enum { STRETCHES = 64 };
    ng_case *c = b->c;
    const ng_format *format = ng_number_format(b->dtype);
    const int least = ng_number_least(format), most = ng_number_most(format);
    const double center =
        ng_case_chance(c, 3)
            ? (double)least + (double)ng_case_below(c, most - least + 1)
            : (double)ng_case_below(c, 17) - 8;
    const double spread = ng_case_chance(c, 4) ? 0 : 3;
    const bool specials = ng_case_chance(c, 4);
    int exponent[STRETCHES] = {0};

    for (int64_t r = 0; r < b->used; r++) {
        for (int s = 0; r % 32 == 0 && s < STRETCHES; s++)
            exponent[s] = (int)(center + spread * ng_case_normal(c));
        for (int64_t col = 0; col < b->cols; col++) {
            double v = ldexp(ng_case_normal(c),
                             exponent[col / 32 % STRETCHES]);

            if (ng_case_chance(c, 64))
                v = ldexp(v, (int)ng_case_below(c, 12));
            if (ng_case_chance(c, 48))
                v = copysign(0.0, v);

            uint32_t code = ng_number_below(format, v);

            if (specials && ng_case_chance(c, 400))
                code = (uint32_t)format->infinity
                       + (ng_case_chance(c, 2) ? (uint32_t)ng_case_below(c, 100)
                                               : 0);
            ng_block_put(b, r, col, code);
        }
    }
}

/* E4M3 codes up to a largest of the case's own, NaN seldom. */
static void fill_e4m3(ng_block_case *b)
{
    ng_case *c = b->c;
    const int64_t n = 1 + ng_case_below(c, NG_E4M3_MAX_CODE + 1);
    const bool nans = ng_case_chance(c, 4);

    for (int64_t r = 0; r < b->used; r++)
        for (int64_t col = 0; col < b->cols; col++) {
            uint32_t code = (uint32_t)ng_case_below(c, n);

            if (nans && ng_case_chance(c, 500))
                code = NG_E4M3_NAN;
            ng_block_put(b, r, col,
                         code | (ng_case_chance(c, 2) ? NG_E4M3_SIGN : 0));
        }
}

static void fill_e2m1(ng_block_case *b)
{
    for (int64_t r = 0; r < b->used; r++)
        for (int64_t col = 0; col < b->cols; col++)
            ng_block_put(b, r, col, (uint32_t)ng_case_below(b->c, 16));
}

/* Scales around one magnitude, near or far from each other; in some cases NaNs,
 * few or most. */
static void fill_scales(ng_block_case *b)
{
    static const double spreads[] = {0, 1, 4, 12, 60};
    ng_case *c = b->c;
    const double center = ng_case_chance(c, 3)
                              ? (double)ng_case_below(c, 277) - 149
                              : (double)ng_case_below(c, 17) - 8;
    const double spread = spreads[ng_case_below(c, 5)];
    const int64_t specials = ng_case_below(c, 8);       /* of 0: many, 1: few */

    for (int64_t line = 0; line < b->lines; line++)
        for (int64_t j = 0; j < b->n_scales; j++) {
            uint32_t code = ng_block_random_scale(b, center, spread);

            if (specials < 2 && ng_case_below(c, 50) < (specials == 0 ? 40 : 1))
                code = b->scales_dtype != NG_FP32 ? NG_UE8M0_NAN
                       : b->pow2 || ng_case_chance(c, 2) ? NG_FP32_NAN
                                                         : NG_FP32_INFINITY;
            ng_block_put_scale(b, line, j, code);
        }
}

static void fill_content(ng_block_case *b)
{
    if (b->from.kind == NG_SIDE_MATRIX)
        fill_numbers(b);
    else if (b->from.kind == NG_SIDE_FP8 || b->from.kind == NG_SIDE_MXFP8)
        fill_e4m3(b);
    else
        fill_e2m1(b);
    if (b->scales != NULL)
        fill_scales(b);
}

int64_t ng_count_random(const ng_variant *variant, int level)
{
    const bool minor = ng_variant_is_minor(variant);

    return level == 0 ? (minor ? 2 : 12) : (minor ? 16 : 128);
}

void ng_fill_random(ng_case *c, int64_t index)
{
    static const int64_t edge[] = {31, 32, 33, 64, 65, 96, 127, 128, 129, 160,
                                   255, 256, 257};
    int64_t rows = 1 + ng_case_below(c, 80), cols = 1 + ng_case_below(c, 300);
    ng_block_case b;

    if (ng_case_chance(c, 3))
        cols = edge[ng_case_below(c, sizeof edge / sizeof *edge)];
    if (ng_case_chance(c, 4)) {
        const int64_t swap = rows;

        rows = cols;
        cols = swap;
    }
    if (index == 2 || index == 3)
        *(index == 2 ? &rows : &cols) = 0;
    c->odd_layout = index % 2 == 0;
    if (ng_block_begin(&b, c, rows, cols, NG_DENSE, NULL))
        fill_content(&b);
}

int64_t ng_count_ragged(const ng_variant *variant, int level)
{
    const bool minor = ng_variant_is_minor(variant);

    return level == 0 ? (minor ? 2 : 8) : (minor ? 12 : 64);
}

void ng_fill_ragged(ng_case *c, int64_t index)
{
    enum { MAX_GROUPS = 8 };
    static const int64_t some[] = {0, 1, 2, 31, 32, 127, 128, 129, 200};
    int64_t sizes[MAX_GROUPS] = {0};
    int64_t n = 1 + ng_case_below(c, 5), used = 0;
    int64_t past = ng_case_chance(c, 2) ? 1 + ng_case_below(c, 6) : 0;
    ng_block_case b;

    if (index == 0) {
        n = MAX_GROUPS;                 /* empty ones first, among and last */
        past = 3;
    } else if (index == 2) {
        n = 0;
        past = 5;
    } else if (index == 3 || index == 4) {
        n = 1;
        past = index == 3 ? 0 : 3;
    }
    for (int64_t g = 0; g < n; g++) {
        sizes[g] = some[ng_case_below(c, sizeof some / sizeof *some)];
        if (index == 0)
            sizes[g] = g == 2 ? 129 : g == 6 ? 31 : 0;
        used += sizes[g];
    }
    c->odd_layout = !ng_case_chance(c, 4);

    const int64_t cols = used < 150 && ng_case_chance(c, 2)
                             ? 125 + ng_case_below(c, 10)
                             : 1 + ng_case_below(c, 40);

    if (ng_block_begin(&b, c, used + past, cols, n, sizes))
        fill_content(&b);
}

int64_t ng_count_groups(const ng_variant *variant, int level)
{
    (void)variant, (void)level;
    return 4;
}

/* A good case, whose offsets are then spoilt. */
void ng_fill_groups(ng_case *c, int64_t index)
{
    const int64_t sizes[] = {3, 0, 4};
    ng_block_case b;

    if (!ng_block_begin(&b, c, 8, 33, 3, sizes))
        return;
    fill_content(&b);
    if (index == 0)
        b.offsets[0] = 1;
    else if (index == 1)
        b.offsets[2] = 2;               /* after a 3 */
    else if (index == 2)
        b.offsets[3] = 9;               /* of 8 rows */
    else
        b.offsets[0] = -1;
}
