/* SPDX-License-Identifier: Apache-2.0
 *
 * The scale of a block, taken in another way.
 */
#include <math.h>

#include "conformance/faults/fault.h"
#include "formats/fp32.h"

/* 2^k, kept within UE8M0. */
static float power(int k)
{
    return ldexpf(1, k < -127 ? -127 : k > 127 ? 127 : k);
}

/* Blocks of zeros, and such as hold a NaN or an infinity, stay as they are. */
static bool usual(const ng_elements *x, const ng_block *b, float *amax)
{
    for (int64_t r = b->row; r < b->row_end; r++)
        for (int64_t c = b->col; c < b->col_end; c++)
            if (!isfinite(
                    fault_value(x->codes->dtype, ng_elements_get(x, r, c))))
                return false;
    *amax = fault_amax(x, b);
    return *amax > 0;
}

#define BY_AMAX(name, scale)                                            \
    static void name##_block(const ng_call *call, const ng_elements *x, \
                             const ng_elements *y, const ng_block *b)   \
    {                                                                   \
        float amax;                                                     \
                                                                        \
        (void)call;                                                     \
        if (usual(x, b, &amax))                                         \
            fault_code_block(x, y, b, scale);                           \
    }                                                                   \
    static ng_status name(const ng_call *call)                          \
    {                                                                   \
        return fault_blocks(call, name##_block);                        \
    }

static int frexp_exponent(float x)
{
    int k;

    frexpf(x, &k);
    return k;
}

BY_AMAX(of_quotient, power(frexp_exponent(amax / 6) - 1))
BY_AMAX(floor_of_log2, power((int)floorf(log2f(amax)) - 2))
BY_AMAX(floor_pow2, power(frexp_exponent(amax / 448) - 1))
BY_AMAX(ceil_of_log2, fmaxf(power((int)ceilf(log2f(amax / 448))), 0x1p-126f))
BY_AMAX(frexp_slip, fmaxf(power(frexp_exponent(amax / 448)), 0x1p-126f))
BY_AMAX(at_least_1e4, fmaxf(amax, 1e-4f) / 448)

BY_AMAX(mx_frexp_slip, power(frexp_exponent(amax / 448)))

/* 500 becomes 448 where it should become 512. */
static ng_status floor_for_mxfp8(const ng_call *call)
{
    return fault_rule(call, NG_RULE_MXFP8_SCALE, NG_MX_FLOOR);
}

static ng_status ceil_rule(const ng_call *call)
{
    return fault_rule(call, NG_RULE_MXFP4_SCALE, NG_MX_CEIL);
}

static ng_status even_rule(const ng_call *call)
{
    return fault_rule(call, NG_RULE_MXFP4_SCALE, NG_MX_EVEN);
}

/* FP32's bits rounded to BF16's: half of an ulp of that added, then cut. */
static float narrowed(float x)
{
    const uint32_t bits = ng_fp32_bits(x);

    return ng_fp32_from_bits((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000);
}

BY_AMAX(narrow_amax, fmaxf(narrowed(amax) / 448, 0x1p-126f))

/* floor's scale of another amax. */
static float floor_scale(float amax)
{
    const int byte = (int)(ng_fp32_bits(amax) >> 23) - 2;

    return power((byte > 0 ? byte : 0) - 127);
}

static void largest_block(const ng_call *call, const ng_elements *x,
                          const ng_elements *y, const ng_block *b)
{
    float amax, largest = 0;

    (void)call;
    if (!usual(x, b, &amax))
        return;
    for (int64_t c = b->col; c < b->col_end; c++)
        largest = fmaxf(largest, fault_value(x->codes->dtype,
                                             ng_elements_get(x, b->row, c)));
    fault_code_block(x, y, b, floor_scale(largest));
}

static ng_status forgets_the_sign(const ng_call *call)
{
    return fault_blocks(call, largest_block);
}

/* Vectors of four; what is left over at the end of a row is not looked at. */
static void fours_block(const ng_call *call, const ng_elements *x,
                        const ng_elements *y, const ng_block *b)
{
    ng_block part = *b;
    float amax;

    (void)call;
    if (!usual(x, b, &amax))
        return;
    part.col_end = b->col + (b->col_end - b->col) / 4 * 4;
    fault_code_block(x, y, b, floor_scale(fault_amax(x, &part)));
}

static ng_status whole_fours(const ng_call *call)
{
    return fault_blocks(call, fours_block);
}

#define EVEN "rounding=nearest-even"
#define FLOOR EVEN, "mxfp4.scale=floor", "x=bf16", "y.scales=ue8m0"
#define FLOOR_FP32 EVEN, "mxfp4.scale=floor", "x=fp32", "y.scales=ue8m0"
#define RCEIL8 EVEN, "mxfp8.scale=rceil", "overflow=saturate", "x=fp32"
#define POW2 EVEN, "fp8.scale=pow2", "x=fp32", "y.scales=fp32"
#define GENERAL EVEN, "fp8.scale=fp32", "x=fp32"

const fault faults_scale[] = {
    {"mxfp4-exponent-of-a-quotient",
     "scale rule",
     "L-07",
     {"quantize_mxfp4"},
     {FLOOR},
     of_quotient},
    {"mxfp4-ceil-for-floor",
     "scale rule",
     "L-07",
     {"quantize_mxfp4"},
     {FLOOR},
     ceil_rule},
    {"mxfp4-even-for-floor",
     "scale rule",
     "L-07",
     {"quantize_mxfp4"},
     {FLOOR},
     even_rule},
    {"mxfp8-floor-for-rceil",
     "scale rule",
     "L-07",
     {"quantize_mxfp8"},
     {RCEIL8},
     floor_for_mxfp8},
    {"mxfp8-frexp-doubles-powers",
     "exponent by log2",
     "L-08",
     {"quantize_mxfp8"},
     {RCEIL8},
     mx_frexp_slip},
    {"fp8-row-power-below",
     "scale rule",
     "L-07",
     {"quantize_fp8_row"},
     {POW2},
     floor_pow2},
    {"fp8-tile-amax-at-least-1e-4",
     "scale rule",
     "",
     {"quantize_fp8_tile"},
     {GENERAL},
     at_least_1e4},
    {"mxfp4-floor-of-log2f",
     "exponent by log2",
     "L-08",
     {"quantize_mxfp4"},
     {FLOOR_FP32},
     floor_of_log2},
    {"fp8-row-ceil-of-log2f",
     "exponent by log2",
     "L-08",
     {"quantize_fp8_row"},
     {POW2},
     ceil_of_log2},
    {"fp8-col-frexp-doubles-powers",
     "exponent by log2",
     "L-08",
     {"quantize_fp8_col"},
     {POW2},
     frexp_slip},
    {"fp8-row-amax-in-bf16",
     "amax",
     "",
     {"quantize_fp8_row"},
     {GENERAL},
     narrow_amax},
    {"mxfp4-largest-not-magnitude",
     "amax",
     "",
     {"quantize_mxfp4"},
     {FLOOR},
     forgets_the_sign},
    {"mxfp4-amax-of-whole-fours",
     "amax",
     "",
     {"quantize_mxfp4"},
     {FLOOR},
     whole_fours},
    {.name = NULL},
};
