/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/oracle/oracle_quantize_mxfp4.h"

#include "conformance/oracle/oracle_mx_block.h"
#include "conformance/oracle/oracle_view.h"

ng_status ng_oracle_quantize_mxfp4(const ng_mxfp4 *y, const ng_matrix *x,
                                   const ng_options *options)
{
    const ng_options o = ng_oracle_options(options);
    ng_oracle_context *context = ng_oracle_here();
    ng_format_id from;

    if (!ng_oracle_groups_legal(&o, x->rows))
        return NG_BAD_GROUPS;
    if (!ng_oracle_float_format(&from, x->dtype) || y->scales.dtype == NG_FP32)
        return NG_BAD_DTYPE;
    if (y->rows != x->rows || y->cols != x->cols)
        return NG_BAD_SHAPE;

    ng_oracle_reserve(context, NG_ORACLE_MXFP4_BLOCK);
    for (int64_t r = 0; r < ng_oracle_rows(&o, x->rows); r++) {
        for (int64_t first = 0; first < x->cols;
             first += NG_ORACLE_MXFP4_BLOCK) {
            const int64_t end =
                ng_oracle_min(first + NG_ORACLE_MXFP4_BLOCK, x->cols);

            for (int64_t c = first; c < end; c++)
                ng_oracle_load(context->element[c - first], x, r, c);
            ng_oracle_mxfp4_block(y, r, first, end, false, &o);
        }
    }
    return NG_OK;
}
