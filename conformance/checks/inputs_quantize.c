/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers to be quantised: blocks made around their largest magnitude, which
 * chooses the scale, and elements made around what that scale decides.
 */
#include "conformance/checks/inputs_block.h"

#include <math.h>
#include <string.h>

#include "conformance/checks/numbers.h"

static bool to_mxfp4(const ng_case *c)
{
    return strcmp(c->call.operation, "quantize_mxfp4") == 0;
}

/* Blocks of 32, whose scales follow section 3. */
static bool to_mx(const ng_case *c)
{
    return to_mxfp4(c) || strcmp(c->call.operation, "quantize_mxfp8") == 0;
}

static bool has_general_scales(const ng_case *c)
{
    return !to_mx(c) && !ng_fp8_scale_is_pow2(c->call.rules.fp8_scale);
}

static const ng_format *input_format(const ng_variant *variant)
{
    return ng_number_format((ng_dtype)ng_variant_get(variant, "x", NG_FP32));
}

/* A number of the format between its least and the largest given. */
static uint32_t below(ng_case *c, const ng_format *format, double largest)
{
    const double u = (double)(ng_case_random(c) >> 11) * 0x1p-53;
    const uint32_t code = ng_number_below(format, largest * u);

    return ng_case_chance(c, 2) ? code | ng_format_sign(format) : code;
}

enum { N_CONSTANTS = 14, N_ODD = 8, N_SPECIAL = 10 + 3 * N_ODD + N_CONSTANTS };

/* Element i of n of special block `kind`. */
static uint32_t special_element(ng_case *c, const ng_format *format, int kind,
                                int64_t i, int64_t n)
{
    /* L-07, L-08, and what a decimal constant becomes. */
    static const double constant[N_CONSTANTS] = {
        2.7, 5.5, 1.2, 4.0, 6.5, 7.0, 224.0, 448.0, 0x1.C00002p+8, 464.0, 1.0,
        0.1, 0x1p-24, 3.0};
    const uint32_t sign = ng_format_sign(format);
    const uint32_t infinity = (uint32_t)format->infinity;
    const uint32_t smallest_normal = UINT32_C(1) << format->fraction_bits;
    /* One value that no scale can hold, in the first, last and middle place:
     * infinities, quiet and signalling NaNs. */
    const uint32_t odd[N_ODD] = {
        infinity, infinity | sign, infinity + 1, (infinity + 1) | sign,
        (uint32_t)format->nan, (uint32_t)format->nan | sign,
        infinity | smallest_normal >> 1,
        infinity | smallest_normal >> 1 | sign};
    const uint32_t random = (uint32_t)ng_case_random(c);

    switch (kind) {
    case 0: return 0;
    case 1: return sign;
    case 2: return random & sign;
    case 3: return 1 | (random & sign);
    case 4: return random & (sign | (smallest_normal - 1));
    case 5: return smallest_normal | (random & sign);
    case 6: return format->max_finite | (random & sign);
    case 7: return i == n - 1 ? format->max_finite : 1;
    case 8: return i == n - 1 ? 1 | sign : 0;
    case 9: return i < 3 ? odd[i] : odd[3 + i % (N_ODD - 3)];
    default: break;
    }
    kind -= 10;
    if (kind < 3 * N_ODD) {
        const int64_t at = kind % 3 == 0 ? 0 : kind % 3 == 1 ? n - 1 : n / 2;

        return i == at ? odd[kind / 3]
               : i < 4 ? ng_number_below(format, (double)i)
                       : 0;             /* L-11 */
    }
    kind -= 3 * N_ODD;
    return ng_number_below(format, constant[kind]) | (i % 2 != 0 ? sign : 0);
}

static int64_t count_special(const ng_variant *variant, int level)
{
    return level == 0 && ng_variant_is_minor(variant) ? 2 : 4;
}

/* Whole blocks, short ones, single elements; and L-09, a tile and its ragged
 * neighbours of zeros but for one element. */
static void fill_special(ng_case *c, int64_t index)
{
    const ng_format *format = input_format(c->variant);
    const int64_t size = index == 0 ? (to_mx(c) ? 32 : 128)
                         : index == 1 ? 5 : 1;
    ng_block_case b;

    if (index == 3) {
        const bool tile = strstr(c->call.operation, "tile") != NULL;
        const int64_t side = tile ? 130 : 40;

        if (!ng_block_begin(&b, c, side, side, NG_DENSE, NULL))
            return;
        for (int64_t i = 0; i < side * side; i++)
            ng_block_put(&b, i / side, i % side,
                         i == 0 ? ng_number_below(format, 1)
                         : i % 7 == 0 ? ng_format_sign(format) : 0);
        return;
    }
    if (!ng_block_list(&b, c, N_SPECIAL, size))
        return;
    for (int kind = 0; kind < N_SPECIAL; kind++)
        for (int64_t i = 0; i < size; i++)
            ng_block_put_in(&b, kind, i,
                            special_element(c, format, kind, i, size));
}

enum { EXPONENTS = 32 };

static int n_exponents(const ng_format *format)
{
    return ng_number_most(format) - ng_number_least(format) + 1;
}

static int64_t count_edges(const ng_variant *variant, int level)
{
    const int64_t all =
        ng_ceil_div(n_exponents(input_format(variant)), EXPONENTS);

    return level == 0 && ng_variant_is_minor(variant) && all > 2 ? 2 : all;
}

/* Largest magnitudes at every threshold of every scale rule in every binade
 * (1, 1.5, 1.75, 1.9375 times 2^k; 448 is 1.75 * 2^8) and at the ends of what
 * saturates (1.8125, 464), one step either side, and with any significand; the
 * block's other elements lie below. */
static void fill_edges(ng_case *c, int64_t index)
{
    static const double threshold[] = {1, 1.25, 1.5, 1.75, 1.8125, 1.9375};
    enum { MX8_ONLY = 2, ALL = sizeof threshold / sizeof *threshold, SIZE = 4 };
    const int n_thresholds = ALL - (to_mx(c) && !to_mxfp4(c) ? 0 : MX8_ONLY);
    const int per_exponent = 3 * n_thresholds + 4;
    const ng_format *format = input_format(c->variant);
    ng_block_case b;

    if (!ng_block_list(&b, c, EXPONENTS * per_exponent, SIZE))
        return;
    for (int i = 0; i < EXPONENTS * per_exponent; i++) {
        const int exponent = ng_number_least(format)
                             + ((int)index * EXPONENTS + i / per_exponent)
                                   % n_exponents(format);
        const int k = i % per_exponent;
        const double significand =
            k < 3 * n_thresholds
                ? threshold[k / 3]
                : 1 + (double)ng_case_below(c, 1 << 23) * 0x1p-23;
        const uint32_t amax = ng_number_step(
            format, ng_number_below(format, ldexp(significand, exponent)),
            k < 3 * n_thresholds ? k % 3 - 1 : 0);
        const int64_t at = ng_case_below(c, SIZE);

        for (int64_t j = 0; j < SIZE; j++)
            ng_block_put_in(&b, i, j,
                            j == at ? amax | (ng_case_chance(c, 2)
                                              ? ng_format_sign(format) : 0)
                                    : below(c, format,
                                            ng_number_value(format, amax)));
    }
}

/* The specification's scale rule that a peer's is akin to. */
static int akin_to(int mode)
{
    switch (mode) {
    case NG_MX_EVEN_FP32: return NG_MX_EVEN;
    case NG_MX_FLOOR_LOG2: return NG_MX_FLOOR;
    default: return mode < NG_N_MX_SCALES ? mode : NG_MX_RCEIL;
    }
}

/* The rule of section 3 that the call asks for, or is akin to. */
static int mx_mode(const ng_case *c)
{
    return akin_to(to_mxfp4(c) ? c->call.rules.mxfp4_scale
                               : c->call.rules.mxfp8_scale);
}

/* The largest significand of an amax that rule `mode` still gives the least
 * exponent, for elements of E2M1 or E4M3. */
static double least_scale_until(const ng_case *c, int mode)
{
    switch (mode) {
    case NG_MX_CEIL: return 1;
    case NG_MX_RCEIL: return to_mxfp4(c) ? 1.5 : 1.75;
    case NG_MX_EVEN: return (to_mxfp4(c) ? 1.75 : 1.9375) - 0x1p-10;
    default: return 2 - 0x1p-10;
    }
}

/* The exact scale that a largest magnitude gets, as far as inputs need it. */
static double scale_under(const ng_case *c, double amax)
{
    if (has_general_scales(c))
        return fmax((double)((float)amax / 448.0f), 0x1p-126);
    if (!to_mx(c))
        return ldexp(1, (int)fmax(ceil(log2(amax / 448)), -126));

    const int emax = to_mxfp4(c) ? 2 : 8;
    const int k = ilogb(amax) - emax;
    const double significand = ldexp(amax, -k - emax);
    const int mode = mx_mode(c);
    const bool up = mode == NG_MX_EVEN
                        ? significand >= (to_mxfp4(c) ? 1.75 : 1.9375)
                        : mode != NG_MX_FLOOR
                              && significand > least_scale_until(c, mode);

    return ldexp(1, k + up < -127 ? -127 : k + up);
}

static int64_t count_ties(const ng_variant *variant, int level)
{
    const int64_t all = n_exponents(input_format(variant));
    const int64_t some = ng_variant_is_minor(variant) ? 4 : 24;

    return level == 0 && all > some ? some : all;
}

/* Under one scale: each element code's value, and each midpoint to the next,
 * times the scale, one step of the input's format either side, both signs. Case
 * numbers walk over all binades. */
static void fill_ties(ng_case *c, int64_t index)
{
    const bool mxfp4 = to_mxfp4(c);
    const ng_format *format = input_format(c->variant);
    const ng_format *element =
        &ng_formats[mxfp4 ? NG_FORMAT_E2M1 : NG_FORMAT_E4M3];
    const int64_t n_values = 2 * (int64_t)element->max_finite * 6;
    const int64_t size = to_mx(c) ? 32 : 128;
    const int64_t n = ng_ceil_div(n_values, size - 1);
    const int exponents = n_exponents(format);
    const int exponent = ng_number_most(format)
                         - (int)(index * (exponents % 7 == 0 ? 5 : 7)
                                 % exponents);
    /* Every other general scale is a power of two; 6 or 4 and 448 are powers of
     * two times what the scale rules divide by. */
    const bool any = has_general_scales(c) && index % 2 != 0;
    const double significand =
        any ? 1 + (double)ng_case_below(c, 1 << 23) * 0x1p-23
        : to_mx(c) && mx_mode(c) == NG_MX_CEIL ? 1
        : mxfp4                                ? 1.5
                                               : 1.75;
    const uint32_t setter =
        ng_number_below(format, ldexp(significand, exponent));
    const double amax = ng_number_value(format, setter);
    const double scale = scale_under(c, amax);
    ng_block_case b;

    if (!ng_block_list(&b, c, n, size))
        return;
    for (int64_t i = 0; i < n * (size - 1); i++) {
        const uint32_t slot = (uint32_t)(i / 6 % (n_values / 6));
        const uint32_t code = slot / 2;
        const double low = ng_number_value(element, code);
        const double high = ng_number_value(element, code + 1);
        const double at = slot % 2 == 0 ? low : low / 2 + high / 2;
        const int step = (int)(i % 3) - 1;
        uint32_t value = ng_number_below(format, at * scale);

        if (ng_number_value(format, value) < at * scale && step > 0)
            value = ng_number_step(format, value, 1);
        else if (ng_number_value(format, value) == at * scale)
            value = ng_number_step(format, value, step);
        if (ng_number_value(format, value) > amax)
            value = setter;
        ng_block_put_in(&b, i / (size - 1), 1 + i % (size - 1),
                        value | (i % 6 < 3 ? 0 : ng_format_sign(format)));
    }
    for (int64_t block = 0; block < n; block++)
        ng_block_put_in(&b, block, 0, setter);
}

static int64_t count_sixteen(const ng_variant *variant, int level)
{
    const ng_format *format = input_format(variant);
    const int scales = ng_variant_get(variant, "scales", 0);

    (void)level;
    if (format == &ng_formats[NG_FORMAT_FP32])
        return 0;
    if (ng_variant_get(variant, "overflow", -1) == NG_IEEE
        && ng_variant_is_minor(variant))
        return 1;
    const int kind = ng_variant_get(variant, "fp8.scale", -1);

    if (kind >= 0 && !ng_fp8_scale_is_pow2(kind))
        return 1 + 64;
    return scales == NG_UE8M0 ? 1 + n_exponents(format) : 1;
}

/* All 2^16 numbers: alone in a block, NaNs and infinities too; then under every
 * scale (or random general ones), set by one element of each block, all that do
 * not pass it. */
static void fill_sixteen(ng_case *c, int64_t index)
{
    enum { ALL = 1 << 16, HALF = 1 << 15 };
    const ng_format *format = input_format(c->variant);
    const int64_t per_block = to_mx(c) ? 31 : 127;
    ng_block_case b;

    if (index == 0) {
        if (!ng_block_list(&b, c, ALL, 1))
            return;
        for (uint32_t i = 0; i < ALL; i++)
            ng_block_put_in(&b, i, 0, i);
        return;
    }

    const bool any = has_general_scales(c);
    const int exponent = ng_number_least(format)
                         + (any ? (int)ng_case_below(c, n_exponents(format))
                                : (int)index - 1);
    /* The largest significand that leaves the scale where the exponent, 2 or 8
     * binades up, puts it: all values below come under this one scale. */
    const double significand =
        any         ? 1 + (double)ng_case_below(c, 1 << 10) * 0x1p-10
        : !to_mx(c) ? 1.75
                    : least_scale_until(c, mx_mode(c));
    const uint32_t setter =
        ng_number_below(format, ldexp(significand, exponent));
    const int64_t n_values = 2 * ((int64_t)setter + 1);
    const int64_t n = ng_ceil_div(n_values, per_block);

    if (!ng_block_list(&b, c, n, per_block + 1))
        return;
    for (int64_t i = 0; i < n * per_block; i++) {
        const uint32_t v = (uint32_t)(i % n_values);

        ng_block_put_in(&b, i / per_block, 1 + i % per_block,
                        v / 2 | (v % 2 != 0 ? HALF : 0));
    }
    for (int64_t block = 0; block < n; block++)
        ng_block_put_in(&b, block, 0, setter);
}

const ng_stratum ng_quantize_strata[] = {
    {"special", "zeros, subnormals, constants; one NaN or infinity, anywhere",
     0, count_special, fill_special},
    {"edges", "largest magnitudes around every threshold in every binade", 0,
     count_edges, fill_edges},
    {"ties", "codes and midpoints times the scale, one step either side", 0,
     count_ties, fill_ties},
    NG_SHAPE_STRATA,
    {"sixteen", "all BF16 or FP16 numbers, alone and under every scale", 1,
     count_sixteen, fill_sixteen},
    {0},
};
