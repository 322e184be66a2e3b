/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks brought under one larger scale.
 */
#include <math.h>
#include <stdlib.h>

#include "conformance/faults/fault.h"
#include "formats/fp32.h"

static ng_status no_headroom(const ng_call *call)
{
    return fault_rule(call, NG_RULE_HEADROOM, 0);
}

static ng_status headroom_one_more(const ng_call *call)
{
    return fault_rule(call, NG_RULE_HEADROOM, call->rules.headroom + 1);
}

/* A NaN scale is a number like any other, 2^127 at that. */
static ng_status nan_scale_is_a_number(const ng_call *call)
{
    ng_call other = *call;
    ng_tensor *t;
    int64_t n;
    uint8_t *copy = fault_copy_input(&other, "x.scales", &t, &n);

    if (copy == NULL)
        return NG_NO_MEMORY;
    for (int64_t i = 0; i < n; i++)
        if (copy[i] == 0xFF)
            copy[i] = 0xFE;
    const ng_status status = fault_reference(&other);

    free(copy);
    return status;
}

typedef uint32_t lowering(uint32_t code, int k);

/* The published kernel of L-29: the field becomes exponent - k, not below 0,
 * and the significand stays. A field of 0 gives 0 whatever k is. */
static uint32_t keeps_significand(uint32_t code, int k)
{
    const int field = (int)(code >> 3 & 15);
    const int lowered = field - k;

    if (field == 0)
        return code & 0x80;
    return (code & 0x87) | (uint32_t)(lowered > 0 ? lowered : 0) << 3;
}

/* Its repair that flushes. */
static uint32_t flushes(uint32_t code, int k)
{
    const int lowered = (int)(code >> 3 & 15) - k;

    return lowered > 0 ? (code & 0x87) | (uint32_t)lowered << 3 : code & 0x80;
}

/* Shifts the significand with its hidden bit, and what falls out is gone. */
static uint32_t shifts(uint32_t code, int k)
{
    const int field = (int)(code >> 3 & 15);
    const uint32_t significand = field > 0 ? 8 | (code & 7) : code & 7;
    const int lowered = (field > 0 ? field : 1) - k;

    if (lowered > 0)
        return (code & 0x80)
               | (significand < 8 ? significand
                                  : (uint32_t)lowered << 3 | (significand & 7));
    return (code & 0x80) | (lowered > -8 ? significand >> (1 - lowered) : 0);
}

/* E4M3 codes of 2^6 times E2M1's: 0 32 64 96 128 192 256 384. */
static const uint8_t times_64[8] = {0x00, 0x60, 0x68, 0x6C,
                                    0x70, 0x74, 0x78, 0x7C};

static ng_status lowers(const ng_call *call, lowering *lower)
{
    const ng_status status = fault_reference(call);
    ng_elements x, y;

    if (status != NG_OK || !fault_sides(&x, &y, call))
        return status;
    const bool fp4 = x.codes->dtype == NG_E2M1X2;

    for (int64_t r = 0; r < x.rows; r++)
        for (int64_t c = 0; c < x.cols; c++) {
            const ng_block from = ng_elements_block_at(&x, r, c);
            const ng_block to = ng_elements_block_at(&y, r, c);
            const float e =
                fault_value(x.scales->dtype, ng_elements_scale(&x, &from));
            const float s =
                fault_value(y.scales->dtype, ng_elements_scale(&y, &to));
            uint32_t code = ng_elements_get(&x, r, c);

            if (!isfinite(e) || !isfinite(s))
                continue;
            if (fp4)
                code = times_64[code & 7] | (code & 8) << 4;
            ng_elements_put(&y, r, c,
                            lower(code, ilogbf(s) + (fp4 ? 6 : 0) - ilogbf(e)));
        }
    return NG_OK;
}

static ng_status keeps(const ng_call *call)
{
    return lowers(call, keeps_significand);
}

static ng_status flushed(const ng_call *call)
{
    return lowers(call, flushes);
}

static ng_status shifted(const ng_call *call)
{
    return lowers(call, shifts);
}

#define EXACT "overflow=saturate", "x.scales=ue8m0", "y.scales=fp32"
#define POW2 "fp8.scale=pow2", "pow2=1", "x.scales=fp32", "y.scales=fp32"

const fault faults_alignment[] = {
    {"mxfp4-to-fp8-without-headroom",
     "headroom",
     "L-16",
     {"mxfp4_to_fp8_row"},
     {"headroom=6", EXACT},
     no_headroom},
    {"mxfp4-to-fp8-col-headroom-one-more",
     "headroom",
     "L-16",
     {"mxfp4_to_fp8_col"},
     {"headroom=6", EXACT},
     headroom_one_more},
    {"mxfp4-to-fp8-nan-scale-is-a-number",
     "NaN rule",
     "L-16",
     {"mxfp4_to_fp8_row"},
     {"headroom=6", EXACT},
     nan_scale_is_a_number},
    {"fp8-row-to-col-lowers-the-field",
     "alignment by exponent field",
     "L-29",
     {"fp8_row_to_fp8_col"},
     {POW2},
     keeps},
    {"fp8-row-to-col-flushes",
     "alignment by exponent field",
     "L-29",
     {"fp8_row_to_fp8_col"},
     {POW2},
     flushed},
    {"mxfp4-to-fp8-col-lowers-the-field",
     "alignment by exponent field",
     "L-29",
     {"mxfp4_to_fp8_col"},
     {"headroom=6", EXACT},
     keeps},
    {"mxfp4-to-fp8-row-shifts-out",
     "truncation",
     "L-29",
     {"mxfp4_to_fp8_row"},
     {"headroom=6", EXACT},
     shifted},
    {.name = NULL},
};
