/* SPDX-License-Identifier: Apache-2.0
 *
 * Profile flashoptim, in FP32 as published, each operation rounded.
 */
#include "reference/optim/ref_companding.h"

#include <math.h>
#include <stdbool.h>

#include "formats/fp16.h"
#include "reference/exact.h"
#include "reference/optim/ref_fp32.h"

/* RN32(10^-12) = 0x1.197998p-40 (0x2B8CBCCC); the least scale before rounding.
 */
static const float least_scale = 0x1.197998p-40f;

static float magnitude(float x)
{
    return ng_fp32_from_bits(ng_fp32_bits(x) & ~NG_FP32_SIGN);
}

static bool is_nan(float x)
{
    return x != x;
}

static bool is_infinite(float x)
{
    return magnitude(x) > 0x1.fffffep127f;
}

/* floor(y + 0.5) as a byte in two's complement; NaN is 0. |y| <= 255. */
static uint8_t nearest_code(float y)
{
    const float raised = y + 0.5f;

    if (is_nan(raised))
        return 0;

    const int cut = (int)raised; /* toward zero */

    return (uint8_t)((float)cut > raised ? cut - 1 : cut);
}

static uint8_t element_code(float x, float scale, ng_state_kind kind,
                            ng_state_coding coding)
{
    const float n = x / scale;

    if (kind == NG_VARIANCE) {
        const float y = n * 255.0f;

        /* A linear v < 0 has no code: 0. (A companded one is a NaN by now.) */
        return y < 0.0f ? 0 : nearest_code(y);
    }
    if (coding == NG_STATE_LINEAR) {
        const float y = n * 127.0f;

        return nearest_code(y);
    }

    const float doubled = 2.0f * n;
    const float divisor = 1.0f + magnitude(n);
    const float folded = doubled / divisor;
    const float y = folded * 127.0f;

    return nearest_code(y);
}

void ng_ref_compand_group_flashoptim(uint8_t *codes, uint16_t *scale,
                                     const float *x, int n, ng_state_kind kind,
                                     ng_state_coding coding,
                                     ng_group_counts *counts)
{
    static const ng_rules ieee = {.rounding = NG_NEAREST_EVEN,
                                  .overflow = NG_IEEE};
    const ng_format *fp16 = &ng_formats[NG_FORMAT_FP16];
    const bool rooted = kind == NG_VARIANCE && coding == NG_STATE_COMPANDED;
    float value[NG_STATE_GROUP];
    float largest = 0.0f;
    bool odd = false; /* a NaN, an Inf or a v < 0 is there */
    unsigned events = 0;

    for (int i = 0; i < n; i++) {
        value[i] = rooted ? sqrtf(x[i]) : x[i];
        odd |= is_nan(value[i]) || is_infinite(value[i])
               || (kind == NG_VARIANCE && value[i] < 0.0f);
        if (magnitude(value[i]) > largest) /* never true of a NaN */
            largest = magnitude(value[i]);
    }

    const float exact_scale = largest > least_scale ? largest : least_scale;

    *scale = (uint16_t)ng_exact_round(
        fp16,
        ng_exact_decode(&ng_formats[NG_FORMAT_FP32], ng_fp32_bits(exact_scale)),
        &ieee, 0, &events);
    for (int i = 0; i < n; i++)
        codes[i] = element_code(value[i], exact_scale, kind, coding);
    if (odd)
        counts->nan++;
    else if (*scale == NG_FP16_INFINITY)
        counts->saturated++;
    else if (*scale == 0 && largest > 0.0f)
        counts->lost++;
}

uint32_t ng_ref_expand_code_flashoptim(uint8_t code, uint16_t scale,
                                       ng_state_kind kind,
                                       ng_state_coding coding)
{
    static const ng_rules ieee = {.rounding = NG_NEAREST_EVEN,
                                  .overflow = NG_IEEE};
    unsigned events = 0;
    const float s = ng_fp32_from_bits(
        ng_exact_round(&ng_formats[NG_FORMAT_FP32],
                       ng_exact_decode(&ng_formats[NG_FORMAT_FP16], scale),
                       &ieee, 0, &events));

    if (kind == NG_VARIANCE) {
        const float t = (float)code / 255.0f;
        const float u = t * s;
        const float square = u * u;

        return ng_ref_computed_bits(coding == NG_STATE_COMPANDED ? square : u);
    }

    const float t = (float)(int8_t)code / 127.0f;
    const float divisor = 2.0f - magnitude(t);
    const float n = t / divisor;
    const float x = (coding == NG_STATE_COMPANDED ? n : t) * s;

    return ng_ref_computed_bits(x);
}
