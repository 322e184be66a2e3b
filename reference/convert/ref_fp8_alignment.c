/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/convert/ref_fp8_alignment.h"

#include "formats/ue8m0.h"

void ng_ref_alignment_add(ng_ref_alignment *alignment, ng_exact scale)
{
    if (scale.kind == NG_EXACT_NAN)
        return;

    const int e = ng_exact_floor_log2(scale);

    if (!alignment->any || e > alignment->largest)
        alignment->largest = e;
    alignment->any = true;
}

int ng_ref_alignment_exponent(const ng_ref_alignment *alignment, int headroom,
                              ng_dtype dtype)
{
    if (!alignment->any)
        return 0;

    /* An FP32 S needs no floor: 2^(-127-8), and any scale that was itself an
     * FP32 number, is one. */
    const int k = alignment->largest - headroom;

    return dtype != NG_FP32 && k < -NG_UE8M0_BIAS ? -NG_UE8M0_BIAS : k;
}

uint8_t ng_ref_aligned_code(ng_exact q, ng_exact scale, int k,
                            const ng_rules *rules, unsigned *events)
{
    /* The product of a code and a power of two is exact, and a NaN if either
     * is: one rounding, and NaN comes out as 0x7F. */
    return (uint8_t)ng_exact_round(
        &ng_formats[NG_FORMAT_E4M3],
        ng_exact_scale(ng_exact_product(q, scale), -k), rules, 0, events);
}
