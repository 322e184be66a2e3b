/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/optim/ref_splitting.h"

#include "reference/convert/ref_elements.h"
#include "reference/exact.h"
#include "reference/optim/ref_fp32.h"

static const ng_rules nearest = {.rounding = NG_NEAREST_EVEN,
                                 .overflow = NG_IEEE};

/* F_n: the low format with n more fraction bits, its special codes moved up
 * with the fraction. Of BF16, n = 16 is FP32. */
static ng_format wider(ng_dtype dtype, int n_bits)
{
    ng_format f = *ng_ref_format(dtype);

    f.bits += n_bits;
    f.fraction_bits += n_bits;
    f.infinity <<= n_bits;
    f.max_finite = (uint32_t)f.infinity - 1;
    f.nan = (INT64_C(1) << (f.bits - 1)) - 1;
    return f;
}

static uint32_t round_fp32(const ng_format *format, ng_exact x)
{
    unsigned events = 0;

    return ng_exact_round(format, x, &nearest, 0, &events);
}

/* Integers only. Write magnitude and sign apart: X = sign + X', and since the
 * sign is 2^n times the sign of low, cutting X cuts X'. Adding half a unit
 * before the cut takes ties up in X', which is away from zero. */
static ng_ref_pair split_ulp(uint32_t theta, ng_dtype dtype, int n_bits)
{
    const ng_format *low = ng_ref_format(dtype);
    const ng_format f = wider(dtype, n_bits);
    const ng_exact value = ng_exact_decode(&ng_formats[NG_FORMAT_FP32], theta);
    const uint32_t sign = value.negative ? ng_format_sign(low) : 0;

    if (value.kind == NG_EXACT_NAN)
        return (ng_ref_pair){.low = (uint16_t)low->nan};
    if (value.kind == NG_EXACT_INFINITE)
        return (ng_ref_pair){.low = (uint16_t)(sign | low->infinity)};

    const uint32_t x = round_fp32(&f, value) & ~ng_format_sign(&f);
    const int64_t half = n_bits > 0 ? INT64_C(1) << (n_bits - 1) : 0;
    const int64_t code = (x + half) >> n_bits;

    if (code > low->max_finite)
        return (ng_ref_pair){.low = (uint16_t)(sign | low->max_finite),
                             .rho = (int16_t)(half > 0 ? half - 1 : 0),
                             .saturated = true};
    return (ng_ref_pair){
        .low = (uint16_t)(sign | (uint32_t)code),
        .rho = (int16_t)((int64_t)x - code * (INT64_C(1) << n_bits))};
}

static uint32_t merge_ulp(ng_ref_pair pair, ng_dtype dtype, int n_bits)
{
    const ng_format f = wider(dtype, n_bits);
    const uint32_t mask = UINT32_MAX >> (32 - f.bits);
    const uint32_t x = ((uint32_t)pair.low << n_bits) + (uint32_t)pair.rho;

    return round_fp32(&ng_formats[NG_FORMAT_FP32],
                      ng_exact_decode(&f, x & mask));
}

/* l: 2^l is half the ulp of low's binade, of a subnormal half the smallest. */
static int log2_half_ulp(const ng_format *low, uint32_t code)
{
    const int field =
        (int)((code & ~ng_format_sign(low)) >> low->fraction_bits);

    return (field > 0 ? field : 1) - low->bias - low->fraction_bits - 1;
}

/* x * 2^k, rounded once (into the subnormals, where it is not exact). */
static float scaled(float x, int k)
{
    const ng_exact value =
        ng_exact_decode(&ng_formats[NG_FORMAT_FP32], ng_fp32_bits(x));

    return ng_fp32_from_bits(
        round_fp32(&ng_formats[NG_FORMAT_FP32], ng_exact_scale(value, k)));
}

static float low_value(const ng_format *low, uint32_t code)
{
    return ng_fp32_from_bits(
        round_fp32(&ng_formats[NG_FORMAT_FP32], ng_exact_decode(low, code)));
}

static float largest_rho(int n_bits)
{
    return n_bits == 8 ? 127.0f : 32767.0f;
}

static ng_ref_pair split_flashoptim(uint32_t theta, ng_dtype dtype, int n_bits)
{
    const ng_format *low = ng_ref_format(dtype);
    const ng_exact value = ng_exact_decode(&ng_formats[NG_FORMAT_FP32], theta);
    const uint32_t code = round_fp32(low, value);
    ng_ref_pair pair = {.low = (uint16_t)code};

    if ((code & ~ng_format_sign(low)) > low->max_finite) {
        pair.saturated = value.kind == NG_EXACT_FINITE;
        return pair; /* rho is free: 0 */
    }
    if (n_bits == 0)
        return pair;

    const float error = ng_fp32_from_bits(theta) - low_value(low, code);
    float x = scaled(error, -log2_half_ulp(low, code));

    x = x > 1.0f ? 1.0f : x < -1.0f ? -1.0f : x;
    x = x * largest_rho(n_bits);

    const float magnitude = x < 0.0f ? -x : x;
    const float raised = magnitude + 0.5f;
    const int rho = (int)raised; /* floor: it is not negative */

    pair.rho = (int16_t)(x < 0.0f ? -rho : rho);
    return pair;
}

static uint32_t merge_flashoptim(ng_ref_pair pair, ng_dtype dtype, int n_bits)
{
    const ng_format *low = ng_ref_format(dtype);
    const float value = low_value(low, pair.low);

    if (n_bits == 0)
        return ng_ref_computed_bits(value);

    const float share = (float)pair.rho / largest_rho(n_bits);
    const float error = scaled(share, log2_half_ulp(low, pair.low));
    const float theta = value + error;

    return ng_ref_computed_bits(theta);
}

ng_ref_pair ng_ref_split_weight(uint32_t theta, ng_dtype dtype, int n_bits,
                                int split)
{
    return split == NG_SPLIT_ULP ? split_ulp(theta, dtype, n_bits)
                                 : split_flashoptim(theta, dtype, n_bits);
}

uint32_t ng_ref_merge_weight(ng_ref_pair pair, ng_dtype dtype, int n_bits,
                             int split)
{
    return split == NG_SPLIT_ULP ? merge_ulp(pair, dtype, n_bits)
                                 : merge_flashoptim(pair, dtype, n_bits);
}

bool ng_ref_pair_is_written(ng_ref_pair pair, ng_dtype dtype, int n_bits,
                            int split)
{
    if (split == NG_SPLIT_FLASHOPTIM)
        return true;

    const ng_ref_pair again =
        split_ulp(merge_ulp(pair, dtype, n_bits), dtype, n_bits);

    return again.low == pair.low && again.rho == pair.rho;
}
