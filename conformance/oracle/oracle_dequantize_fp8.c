/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/oracle/oracle_dequantize_fp8.h"

#include "conformance/oracle/oracle_dequantize.h"
#include "conformance/oracle/oracle_view.h"

ng_status ng_oracle_dequantize_fp8(const ng_matrix *y, const ng_fp8 *x,
                                   const ng_options *options)
{
    const ng_options o = ng_oracle_options(options);
    ng_oracle_context *context = ng_oracle_here();
    ng_oracle_span span = NG_ORACLE_FIRST_SPAN;
    ng_format_id to;

    if (!ng_oracle_groups_legal(&o, x->rows))
        return NG_BAD_GROUPS;
    if (!ng_oracle_float_format(&to, y->dtype))
        return NG_BAD_DTYPE;
    if (y->rows != x->rows || y->cols != x->cols)
        return NG_BAD_SHAPE;

    while (ng_oracle_next_span(&span, &o, x->rows)) {
        for (int64_t r = span.first; r < span.end; r++) {
            for (int64_t c = 0; c < x->cols; c++) {
                if (x->form == NG_FP8_COL)
                    ng_oracle_load_scale(context->scale, &x->scales, c,
                                         span.number);
                else if (c % NG_ORACLE_FP8_BLOCK == 0)
                    ng_oracle_load_scale(context->scale, &x->scales,
                                         x->form == NG_FP8_TILE ? span.number
                                                                : r,
                                         c / NG_ORACLE_FP8_BLOCK);
                ng_oracle_dequantize(y, r, c, NG_FORMAT_E4M3,
                                     *ng_oracle_fp8_code(x, r, c),
                                     context->scale, &o);
            }
        }
    }
    return NG_OK;
}
