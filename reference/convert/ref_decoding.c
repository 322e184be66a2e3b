/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/convert/ref_decoding.h"

#include "reference/convert/ref_elements.h"

uint32_t ng_ref_decode_element(ng_exact code, ng_exact scale, ng_dtype dtype,
                               const ng_rules *rules, unsigned *events)
{
    ng_rules nearest = *rules;
    unsigned none = 0;
    const ng_exact value =
        ng_exact_round_fp32(ng_exact_product(code, scale), events);

    /* FP32 is done: the rounding below then only returns the value's code, so
     * it counts nothing, and an infinity stays one. */
    nearest.rounding = NG_NEAREST_EVEN;
    if (dtype == NG_FP32)
        nearest.overflow = NG_IEEE;
    return ng_exact_round(ng_ref_format(dtype), value, &nearest, 0,
                          dtype == NG_FP32 ? &none : events);
}
