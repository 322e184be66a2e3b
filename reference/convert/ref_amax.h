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

#endif
