/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/oracle/oracle_dequantize.h"

#include "conformance/oracle/oracle_round.h"
#include "conformance/oracle/oracle_view.h"

void ng_oracle_dequantize(const ng_matrix *y, int64_t r, int64_t c,
                          ng_format_id id, uint32_t code, mpfr_srcptr scale,
                          const ng_options *options)
{
    ng_oracle_context *context = ng_oracle_here();
    mpfr_ptr x = context->x;
    ng_format_id to = NG_FORMAT_FP32;
    unsigned bits = 0;

    ng_oracle_value(x, id, code);
    ng_oracle_require_exact(mpfr_mul(x, x, scale, MPFR_RNDN));

    uint32_t result = ng_oracle_rn32(x, x, &bits);

    ng_oracle_float_format(&to, y->dtype);
    if (to != NG_FORMAT_FP32) {
        /* RNE, whatever the rounding rule; overflow by its rule. */
        const ng_rules narrowing = {.rounding = NG_NEAREST_EVEN,
                                    .overflow = options->rules->overflow};

        result = ng_oracle_round(&context->grid[to], x, &narrowing, 0, &bits);
    }
    ng_oracle_store(y, r, c, result);
    ng_oracle_count(options, bits);
}
