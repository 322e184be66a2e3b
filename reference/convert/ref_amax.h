/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_REFERENCE_CONVERT_REF_AMAX_H
#define NG_REFERENCE_CONVERT_REF_AMAX_H

#include "reference/exact.h"

/* The largest magnitude of a block, value by value, starting from
 * ng_ref_no_amax: zero, a magnitude, or NaN once a NaN or an infinity was met,
 * which no later value takes back (L-11). */
static const ng_exact ng_ref_no_amax = {.kind = NG_EXACT_FINITE};

static inline ng_exact ng_ref_amax(ng_exact amax, ng_exact v)
{
    if (amax.kind != NG_EXACT_FINITE)
        return amax;
    if (v.kind != NG_EXACT_FINITE)
        return (ng_exact){.kind = NG_EXACT_NAN};
    if (ng_exact_compare_magnitude(v, amax) > 0)
        amax = v;
    amax.negative = false;
    return amax;
}

/* The amax that a block is taken to have under rule block.least. */
static inline ng_exact ng_ref_amax_at_least(ng_exact amax, int rule)
{
    /* RN32(1e-4) and RN32(1e-12). */
    const uint32_t bits = rule == NG_BLOCK_LEAST_1E_4    ? 0x38D1B717
                          : rule == NG_BLOCK_LEAST_1E_12 ? 0x2B8CBCCC
                                                         : 0;
    const ng_exact least =
        ng_exact_decode(&ng_formats[NG_FORMAT_FP32], bits);

    return amax.kind == NG_EXACT_FINITE
                   && ng_exact_compare_magnitude(amax, least) < 0
               ? least
               : amax;
}

#endif
