/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/oracle/oracle_convert_scales.h"

#include "conformance/oracle/oracle_context.h"
#include "conformance/oracle/oracle_view.h"

static bool is_scale_type(ng_dtype dtype)
{
    return dtype == NG_FP32 || dtype == NG_UE8M0 || dtype == NG_UE8M0X4;
}

ng_status ng_oracle_convert_scales(const ng_scales *y, const ng_scales *x,
                                   int64_t lines, int64_t n)
{
    const bool same_kind = (x->dtype == NG_FP32) == (y->dtype == NG_FP32);
    mpfr_ptr scale = ng_oracle_here()->scale;

    if (!is_scale_type(x->dtype) || !is_scale_type(y->dtype))
        return NG_BAD_DTYPE;

    if (y->dtype != NG_FP32) {
        for (int64_t line = 0; line < lines; line++) {
            for (int64_t j = 0; j < n; j++) {
                ng_oracle_load_scale(scale, x, line, j);
                if (!mpfr_nan_p(scale) && !ng_oracle_is_pow2_scale(scale))
                    return NG_BAD_SCALE;
            }
        }
    }

    for (int64_t line = 0; line < lines; line++) {
        for (int64_t j = 0; j < n; j++) {
            if (same_kind) {
                ng_oracle_store_scale_bits(
                    y, line, j, n, ng_oracle_load_scale_bits(x, line, j));
            } else {
                ng_oracle_load_scale(scale, x, line, j);
                ng_oracle_store_scale(y, line, j, n, scale);
            }
        }
    }
    return NG_OK;
}
