/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/oracle/oracle_decode.h"

#include <stdlib.h>

#include "conformance/oracle/oracle_context.h"
#include "formats/fp32.h"

float ng_oracle_decode(ng_format_id format, uint32_t code,
                       const ng_rules *rules)
{
    const ng_oracle_format *to = &ng_oracle_formats[NG_FORMAT_FP32];
    ng_oracle_context *c = ng_oracle_here();

    ng_oracle_value(c->x, format, code);
    if (mpfr_nan_p(c->x)) {
        if (rules != NULL && rules->nan == NG_NAN_BF16_WIDENED) {
            if (format == NG_FORMAT_BF16)
                return ng_fp32_from_bits(code << 16);
            if (format == NG_FORMAT_UE8M0)      /* by way of BF16's NaN */
                return ng_fp32_from_bits(UINT32_C(0x7FFF0000));
        }
        if (rules != NULL && rules->nan == NG_NAN_QUIET)
            return ng_fp32_from_bits(
                format == NG_FORMAT_BF16 ? code << 16
                : (code & ng_oracle_formats[format].sign) != 0
                    ? UINT32_C(0xFFC00000)
                    : UINT32_C(0x7FC00000));
        return ng_fp32_from_bits(to->last_nan);
    }

    const float x = mpfr_get_flt(c->x, MPFR_RNDZ);

    if (mpfr_cmp_d(c->x, (double)x) != 0)
        abort(); /* every code's value is an FP32 number */
    return x;
}
