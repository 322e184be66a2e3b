/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/convert/ref_scales.h"

static const ng_format *format_of(const ng_scales *scales)
{
    return &ng_formats[scales->dtype == NG_FP32 ? NG_FORMAT_FP32
                                                : NG_FORMAT_UE8M0];
}

uint32_t ng_ref_load_scale_bits(const ng_scales *scales, int64_t i, int64_t j)
{
    const int64_t line = i * scales->ld;

    if (scales->dtype == NG_UE8M0X4)
        return ((const uint32_t *)scales->data)[line + j / 4 * scales->step]
                   >> 8 * (j % 4)
               & 0xFF;
    if (scales->dtype == NG_UE8M0)
        return ((const uint8_t *)scales->data)[line + j * scales->step];
    return ((const uint32_t *)scales->data)[line + j * scales->step];
}

void ng_ref_store_scale_bits(const ng_scales *scales, int64_t i, int64_t j,
                             uint32_t bits)
{
    const int64_t line = i * scales->ld;

    if (scales->dtype == NG_UE8M0X4) {
        uint32_t *word = (uint32_t *)scales->data + line + j / 4 * scales->step;

        *word = j % 4 == 0 ? bits : *word | bits << 8 * (j % 4);
    } else if (scales->dtype == NG_UE8M0) {
        ((uint8_t *)scales->data)[line + j * scales->step] = (uint8_t)bits;
    } else {
        ((uint32_t *)scales->data)[line + j * scales->step] = bits;
    }
}

ng_exact ng_ref_load_scale(const ng_scales *scales, int64_t i, int64_t j)
{
    return ng_exact_decode(format_of(scales),
                           ng_ref_load_scale_bits(scales, i, j));
}

void ng_ref_store_scale(const ng_scales *scales, int64_t i, int64_t j,
                        ng_exact scale)
{
    /* Exact by contract, so rules and events play no part; but an infinity, of
     * a peer, is one, and 0xFF in UE8M0. */
    static const ng_rules rules = {.overflow = NG_IEEE};
    unsigned events = 0;

    ng_ref_store_scale_bits(scales, i, j,
                            ng_exact_round(format_of(scales), scale, &rules, 0,
                                           &events));
}

ng_exact ng_ref_power_of_two(int k)
{
    return (ng_exact){.kind = NG_EXACT_FINITE, .significand = 1, .exponent = k};
}

bool ng_ref_is_power_of_two(ng_exact scale, int *k)
{
    const uint64_t m = scale.significand;

    if (scale.kind != NG_EXACT_FINITE || scale.negative || m == 0
        || (m & (m - 1)) != 0)
        return false;
    *k = ng_exact_floor_log2(scale);
    return true;
}
