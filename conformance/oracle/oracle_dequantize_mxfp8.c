/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/oracle/oracle_dequantize_mxfp8.h"

#include "conformance/oracle/oracle_dequantize.h"
#include "conformance/oracle/oracle_view.h"

ng_status ng_oracle_dequantize_mxfp8(const ng_matrix *y, const ng_mxfp8 *x,
                                     const ng_options *options)
{
    const ng_options o = ng_oracle_options(options);
    ng_oracle_context *context = ng_oracle_here();
    ng_format_id to;

    if (!ng_oracle_groups_legal(&o, x->rows))
        return NG_BAD_GROUPS;
    if (!ng_oracle_float_format(&to, y->dtype) || x->scales.dtype == NG_FP32)
        return NG_BAD_DTYPE;
    if (y->rows != x->rows || y->cols != x->cols)
        return NG_BAD_SHAPE;

    for (int64_t r = 0; r < ng_oracle_rows(&o, x->rows); r++) {
        const uint8_t *row = x->codes + r * x->ld;

        for (int64_t c = 0; c < x->cols; c++) {
            if (c % NG_ORACLE_MX_BLOCK == 0)
                ng_oracle_load_scale(context->scale, &x->scales, r,
                                     c / NG_ORACLE_MX_BLOCK);
            ng_oracle_dequantize(y, r, c, NG_FORMAT_E4M3, row[c],
                                 context->scale, &o);
        }
    }
    return NG_OK;
}
