/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/convert/ref_encode.h"

#include <stddef.h>

#include "formats/fp32.h"
#include "reference/exact.h"

uint32_t ng_ref_encode(const ng_format *format, float x, const ng_rules *rules,
                       uint32_t random, unsigned *events)
{
    unsigned local = 0;
    const ng_exact value = ng_exact_decode(&ng_formats[NG_FORMAT_FP32],
                                           ng_fp32_bits(x));

    return ng_exact_round(format, value, rules, random,
                          events != NULL ? events : &local);
}
