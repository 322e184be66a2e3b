/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/moe/ref_gemm_element.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "formats/e4m3.h"
#include "formats/fp32.h"
#include "reference/convert/ref_elements.h"
#include "reference/convert/ref_scales.h"
#include "reference/exact.h"
#include "reference/moe/ref_hopper_fp8_dot.h"

_Static_assert(FLT_EVAL_METHOD == 0,
               "float expressions must be evaluated in FP32");
#ifdef __FAST_MATH__
#error "the reference needs IEEE arithmetic: compile without -ffast-math"
#endif

/* A code's value in units of 2^-9, the smallest subnormal; 0 for a NaN. As
 * constant expressions: field 0 and field 1 share a binade. */
#define FIELD(c) ((c) >> 3 & 15)
#define NORMAL(c) (FIELD(c) != 0)
#define MAGNITUDE(c)           \
    (((c)&0x7F) == NG_E4M3_NAN \
         ? 0                   \
         : (NORMAL(c) << 3 | ((c)&7)) << (FIELD(c) - NORMAL(c)))
#define UNITS(c) (((c)&NG_E4M3_SIGN) != 0 ? -(MAGNITUDE(c)) : MAGNITUDE(c))
#define UNITS_4(c) UNITS(c), UNITS((c) + 1), UNITS((c) + 2), UNITS((c) + 3)
#define UNITS_16(c) \
    UNITS_4(c), UNITS_4((c) + 4), UNITS_4((c) + 8), UNITS_4((c) + 12)
#define UNITS_64(c) \
    UNITS_16(c), UNITS_16((c) + 16), UNITS_16((c) + 32), UNITS_16((c) + 48)

static const int32_t units[256] = {UNITS_64(0), UNITS_64(64), UNITS_64(128),
                                   UNITS_64(192)};

/* Eight codes at a time: only to 0x7F, the NaN without its sign, does adding 1
 * carry into the eighth bit. */
static bool has_nan(const uint8_t *codes, int64_t n)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t carries = 0;

    for (int64_t i = 0; i < n; i += 8) {
        uint64_t word = 0;

        memcpy(&word, codes + i, (size_t)(n - i < 8 ? n - i : 8));
        carries |= (word & ones * 0x7F) + ones;
    }
    return (carries & ones * 0x80) != 0;
}

/* RN32 of the exact sum of at most 128 products: each is below 2^36 in units of
 * 2^-18, the sum below 2^43. Converting an integer rounds to nearest-even, and
 * the power of two loses nothing. Exact cancellation gives +0. */
static float exact_dot(const uint8_t *a, const uint8_t *b, int64_t n)
{
    int64_t sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += (int64_t)units[a[i]] * units[b[i]];
    return (float)sum * 0x1p-18f;
}

static float scale_of(const ng_ref_gemm_line *x, int64_t block)
{
    const uint32_t bits =
        ng_ref_load_scale_bits(x->scales, x->line, x->first + block);

    if (x->scales->dtype == NG_FP32)
        return ng_fp32_from_bits(bits);

    /* UE8M0: FP32's exponent field, but for 2^-127 and NaN. */
    return ng_fp32_from_bits(bits == 0      ? UINT32_C(1) << 22
                             : bits == 0xFF ? (uint32_t)NG_FP32_NAN
                                            : bits << 23);
}

float ng_ref_gemm_accumulate(const ng_ref_gemm_line *a,
                             const ng_ref_gemm_line *b, int64_t n, int gemm)
{
    float acc = 0.0f;

    for (int64_t first = 0; first < n; first += NG_FP8_BLOCK) {
        const int64_t rest = n - first;
        const int64_t size = rest < NG_FP8_BLOCK ? rest : NG_FP8_BLOCK;
        const uint8_t *const x = a->codes + first, *const y = b->codes + first;
        const int64_t block = first / NG_FP8_BLOCK;
        const float scale = scale_of(a, block) * scale_of(b, block);
        float dot;

        if (has_nan(x, size) || has_nan(y, size))
            dot = ng_fp32_from_bits(NG_FP32_NAN);
        else if (gemm == NG_GEMM_HOPPER_WGMMA)
            dot = ng_fp32_from_bits(ng_ref_hopper_fp8_chain(x, y, size, 0));
        else
            dot = exact_dot(x, y, size);
        acc = fmaf(scale, dot, acc);
    }
    return acc;
}

static uint32_t load_bits(const ng_matrix *x, int64_t r, int64_t c)
{
    return x->dtype == NG_FP32
               ? ((const uint32_t *)x->data)[r * x->ld + c]
               : (uint32_t)((const uint16_t *)x->data)[r * x->ld + c] << 16;
}

void ng_ref_gemm_store(const ng_matrix *d, const ng_matrix *c, int64_t r,
                       int64_t col, float acc, ng_events *events)
{
    static const ng_rules ieee = {.rounding = NG_NEAREST_EVEN,
                                  .overflow = NG_IEEE};
    const float sum =
        c == NULL ? acc : ng_fp32_from_bits(load_bits(c, r, col)) + acc;
    const ng_format *format = ng_ref_format(d->dtype);
    unsigned unused = 0, seen = 0;
    const uint32_t code = ng_exact_round(
        format, ng_exact_decode(&ng_formats[NG_FORMAT_FP32], ng_fp32_bits(sum)),
        &ieee, 0, &unused);
    const uint32_t magnitude = code & ~ng_format_sign(format);

    ng_ref_store(d, r, col, code);
    if ((int64_t)magnitude > format->infinity)
        seen = 1u << NG_EVENT_NAN;
    else if ((int64_t)magnitude == format->infinity)
        seen = 1u << NG_EVENT_INFINITE;
    else if (magnitude != 0 && magnitude >> format->fraction_bits == 0)
        seen = 1u << NG_EVENT_SUBNORMAL;
    ng_events_count(events, seen);
}
