/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/oracle/oracle_align.h"

#include "conformance/oracle/oracle_view.h"

void ng_oracle_aligned_scale(mpfr_ptr common, const mpfr_t *scale, int64_t n,
                             int headroom, ng_dtype dtype)
{
    mpfr_set_nan(common);
    for (int64_t i = 0; i < n; i++)
        if (!mpfr_nan_p(scale[i])
            && (mpfr_nan_p(common) || mpfr_cmp(scale[i], common) > 0))
            mpfr_set(common, scale[i], MPFR_RNDN);
    if (mpfr_nan_p(common)) {
        mpfr_set_ui(common, 1, MPFR_RNDN);
        return;
    }
    mpfr_mul_2si(common, common, -headroom, MPFR_RNDN);
    if (dtype != NG_FP32 && mpfr_cmp_ui_2exp(common, 1, -127) < 0)
        mpfr_set_ui_2exp(common, 1, -127, MPFR_RNDN);
}

uint8_t ng_oracle_aligned_code(ng_oracle_grid *grid, ng_format_id id,
                               uint32_t code, mpfr_srcptr scale,
                               const ng_options *options)
{
    mpfr_ptr x = ng_oracle_here()->x;
    unsigned bits = 0;

    ng_oracle_value(x, id, code);
    ng_oracle_require_exact(mpfr_mul(x, x, scale, MPFR_RNDN));

    const uint32_t aligned = ng_oracle_round(grid, x, options->rules, 0, &bits);

    ng_oracle_count(options, bits);
    return (uint8_t)aligned;
}
