/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/convert/ref_decode.h"

#include "formats/bf16.h"
#include "formats/fp32.h"
#include "reference/exact.h"

float ng_ref_decode(const ng_format *format, uint32_t code,
                    const ng_rules *rules)
{
    static const ng_rules exact = {.rounding = NG_NEAREST_EVEN,
                                   .overflow = NG_IEEE};
    unsigned events = 0;
    ng_exact value;

    if (format->bits < 32)
        code &= (UINT32_C(1) << format->bits) - 1;
    value = ng_exact_decode(format, code);
    if (value.kind == NG_EXACT_NAN && rules->nan == NG_NAN_BF16_WIDENED) {
        if (format == &ng_formats[NG_FORMAT_BF16])
            return ng_fp32_from_bits(code << 16);
        if (format == &ng_formats[NG_FORMAT_UE8M0])     /* by way of BF16 */
            return ng_fp32_from_bits((uint32_t)NG_BF16_NAN << 16);
    }
    if (value.kind == NG_EXACT_NAN && rules->nan == NG_NAN_QUIET) {
        const uint32_t quiet = UINT32_C(0x7FC00000);

        if (format == &ng_formats[NG_FORMAT_BF16])
            return ng_fp32_from_bits(code << 16);
        return ng_fp32_from_bits(quiet | (value.negative ? NG_FP32_SIGN : 0));
    }
    return ng_fp32_from_bits(ng_exact_round(&ng_formats[NG_FORMAT_FP32], value,
                                            &exact, 0, &events));
}
