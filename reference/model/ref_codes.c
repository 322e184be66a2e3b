/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/model/ref_codes.h"

#include <stdbool.h>

#include "formats/e2m1.h"
#include "formats/e4m3.h"
#include "formats/format.h"
#include "formats/fp32.h"
#include "formats/layout.h"
#include "formats/rules.h"
#include "formats/ue8m0.h"
#include "reference/convert/ref_decode.h"
#include "reference/convert/ref_encode.h"
#include "reference/model/ref_lanes.h"

float ng_ref_e4m3_values[256];
float ng_ref_e2m1_values[16];
float ng_ref_ue8m0_values[256];
ng_ref_coded ng_ref_e4m3_shifted[NG_REF_MAX_SHIFT + 1][256];
ng_ref_coded ng_ref_e2m1_aligned[NG_REF_MAX_SHIFT + 1][16];

static float decoded(ng_format_id format, unsigned code)
{
    return ng_ref_decode(&ng_formats[format], code, &ng_default_rules);
}

static ng_ref_coded e4m3_of(float x)
{
    unsigned events = 0;
    const uint32_t code = ng_ref_encode(&ng_formats[NG_FORMAT_E4M3], x,
                                        &ng_default_rules, 0, &events);

    return (ng_ref_coded){(uint8_t)code, (uint8_t)events};
}

void ng_ref_codes_begin(void)
{
    for (unsigned code = 0; code < 256; code++) {
        ng_ref_e4m3_values[code] = decoded(NG_FORMAT_E4M3, code);
        ng_ref_ue8m0_values[code] = decoded(NG_FORMAT_UE8M0, code);
    }
    for (unsigned code = 0; code < 16; code++)
        ng_ref_e2m1_values[code] = decoded(NG_FORMAT_E2M1, code);

    float factor = 1.0f; /* 2^-shift: products are exact */

    for (int shift = 0; shift <= NG_REF_MAX_SHIFT; shift++, factor *= 0.5f) {
        for (unsigned code = 0; code < 256; code++)
            ng_ref_e4m3_shifted[shift][code] =
                e4m3_of(ng_ref_e4m3_values[code] * factor);
        for (unsigned code = 0; code < 16; code++)
            ng_ref_e2m1_aligned[shift][code] =
                e4m3_of(ng_ref_e2m1_values[code] * 64.0f * factor);
    }
}

NG_REF_CLONES
uint32_t ng_ref_largest_bits(const float *x, int64_t n)
{
    uint32_t largest = 0;

#ifdef _OPENMP
#pragma omp simd reduction(max : largest)
#endif
    for (int64_t i = 0; i < n; i++) {
        const uint32_t bits = ng_fp32_bits(x[i]) & ~NG_FP32_SIGN;

        largest = bits > largest ? bits : largest;
    }
    return largest;
}

float ng_ref_pow2_scale(uint32_t amax)
{
    const int exponent = (int)(amax >> 23);
    int k = exponent - 135 + ((amax & 0x7FFFFF) > 0x600000);

    if (amax >= NG_FP32_INFINITY)
        return ng_fp32_from_bits(NG_FP32_NAN);
    if (amax == 0)
        return 1.0f;
    k = k < -126 ? -126 : k;
    return ng_fp32_from_bits((uint32_t)(k + 127) << 23);
}

uint8_t ng_ref_floor_scale(uint32_t amax)
{
    const int exponent = (int)(amax >> 23);

    if (amax >= NG_FP32_INFINITY)
        return NG_UE8M0_NAN;
    return (uint8_t)(exponent < 2 ? 0 : exponent - 2);
}

/* The number whose exponent field is 254 minus that of a power of two: its
 * inverse. 2^-127 (bits 0x00400000) and 2^127 are each other's. */
static float inverse(float power)
{
    const uint32_t bits = ng_fp32_bits(power);

    if (bits >> 23 == 0)
        return 0x1p+127f;
    if (bits >> 23 == 254)
        return 0x1p-127f;
    return ng_fp32_from_bits((254u << 23) - bits);
}

static void nan_block(uint64_t n, ng_events *events)
{
    if (events != NULL)
        events->count[NG_EVENT_NAN] += n;
}

/* What happened to an element, beside its code. */
enum {
    INEXACT = 1 << 16,
    TIE = 1 << 17,
    SUBNORMAL = 1 << 18,
    FLUSHED = 1 << 19,
    SATURATED = 1 << 20
};

/* Nearest-even code, of a format of `fraction` bits with the smallest normal
 * 2^lowest, of |u| as bits: the addition of `step`, whose ulp is the format's
 * step, below it; on the bits above it. Not clamped. nonzero: the number was no
 * zero before it was scaled, which may have lost it. With what happened. */
static inline uint32_t nearest(bool nonzero, uint32_t bits, int fraction,
                               int lowest, float step)
{
    const int drop = 23 - fraction;
    const uint32_t half = UINT32_C(1) << (drop - 1);
    const uint32_t dropped = bits & ((UINT32_C(1) << drop) - 1);
    const uint32_t smallest = (uint32_t)(127 + lowest) << 23;
    const float u = ng_fp32_from_bits(bits);
    const float sum = u + step;
    const float left = u - (sum - step); /* exact: both are near u */
    const float gap = left < 0.0f ? -left : left;
    const bool below = bits < smallest;
    const uint32_t small = ng_fp32_bits(sum) - ng_fp32_bits(step);
    const uint32_t large = ((bits + half - 1 + (bits >> drop & 1)) >> drop)
                           - ((uint32_t)(126 + lowest) << fraction);
    const uint32_t code = below ? small : large;
    /* half the step is half an ulp of `step` */
    const float tie_gap = ng_fp32_from_bits(ng_fp32_bits(step) - (24u << 23));
    const bool lost = code == 0 && nonzero;
    const bool inexact = below ? gap != 0.0f || lost : dropped != 0;
    const bool tie = below ? gap == tie_gap : dropped == half;
    const bool subnormal = code != 0 && code < UINT32_C(1) << fraction;

    return code | (inexact ? (uint32_t)INEXACT : 0) | (tie ? (uint32_t)TIE : 0)
           | (subnormal ? (uint32_t)SUBNORMAL : 0)
           | (lost ? (uint32_t)FLUSHED : 0);
}

/* Count what happened to n <= 128 elements. */
NG_REF_CLONES
static void count(ng_events *events, const uint32_t *coded, int64_t n)
{
    uint32_t inexact = 0, tie = 0, subnormal = 0, flushed = 0, saturated = 0;

    if (events == NULL)
        return;
#ifdef _OPENMP
#pragma omp simd reduction(+ : inexact, tie, subnormal, flushed, saturated)
#endif
    for (int64_t i = 0; i < n; i++) {
        inexact += coded[i] >> 16 & 1;
        tie += coded[i] >> 17 & 1;
        subnormal += coded[i] >> 18 & 1;
        flushed += coded[i] >> 19 & 1;
        saturated += coded[i] >> 20 & 1;
    }
    events->count[NG_EVENT_INEXACT] += inexact;
    events->count[NG_EVENT_TIE] += tie;
    events->count[NG_EVENT_SUBNORMAL] += subnormal;
    events->count[NG_EVENT_FLUSHED] += flushed;
    events->count[NG_EVENT_SATURATED] += saturated;
}

NG_REF_CLONES
void ng_ref_encode_e4m3_block(uint8_t *codes, const float *x, int64_t n,
                              float scale, ng_events *events)
{
    const float factor = inverse(scale);
    uint32_t coded[NG_FP8_BLOCK];

    if (scale != scale) {
        for (int64_t i = 0; i < n; i++)
            codes[i] = NG_E4M3_NAN;
        nan_block((uint64_t)n, events);
        return;
    }
    NG_REF_SIMD
    for (int64_t i = 0; i < n; i++) {
        const uint32_t bits = ng_fp32_bits(x[i] * factor);

        coded[i] = nearest(x[i] != 0.0f, bits & ~NG_FP32_SIGN, 3, -6, 0x1p+14f)
                   | (bits >> 24 & NG_E4M3_SIGN);
    }
    for (int64_t i = 0; i < n; i++)
        codes[i] = (uint8_t)coded[i];
    count(events, coded, n);
}

NG_REF_CLONES
void ng_ref_encode_e2m1_block(uint8_t *codes, const float *x, int64_t n,
                              uint8_t scale, ng_events *events)
{
    uint32_t coded[NG_MXFP4_BLOCK + 1];

    if (scale == NG_UE8M0_NAN) {
        for (int64_t i = 0; i < ng_ceil_div(n, 2); i++)
            codes[i] = 0;
        nan_block((uint64_t)n, events);
        return;
    }

    const float factor = inverse(ng_ref_ue8m0_values[scale]);

    NG_REF_SIMD
    for (int64_t i = 0; i < n; i++) {
        const uint32_t bits = ng_fp32_bits(x[i] * factor);
        const uint32_t sign = bits >> 28 & NG_E2M1_SIGN;
        const uint32_t code =
            nearest(x[i] != 0.0f, bits & ~NG_FP32_SIGN, 1, 0, 0x1p+22f);

        coded[i] = (code & 0xFFFF) > NG_E2M1_MAX_CODE
                       ? (code & ~UINT32_C(0xFFFF)) | NG_E2M1_MAX_CODE
                             | SATURATED | sign
                       : code | sign;
    }
    coded[n] = 0; /* the spare nibble of an odd row */
    for (int64_t i = 0; i < n; i += 2)
        codes[i / 2] = (uint8_t)((coded[i] & 0xF) | (coded[i + 1] & 0xF) << 4);
    count(events, coded, n);
}
