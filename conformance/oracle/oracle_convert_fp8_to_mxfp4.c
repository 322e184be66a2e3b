/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/oracle/oracle_convert_fp8_to_mxfp4.h"

#include "conformance/oracle/oracle_mx_block.h"
#include "conformance/oracle/oracle_round.h"
#include "conformance/oracle/oracle_view.h"

/* One block of 32, which lies within one FP8 block: its scale is one number. */
static void convert_block(const ng_mxfp4 *y, const ng_fp8 *x, int64_t r,
                          int64_t line, int64_t first,
                          const ng_options *options)
{
    ng_oracle_context *context = ng_oracle_here();
    const int64_t end = ng_oracle_min(first + NG_ORACLE_MXFP4_BLOCK, x->cols);

    ng_oracle_load_scale(context->scale, &x->scales, line,
                         first / NG_ORACLE_FP8_BLOCK);
    for (int64_t c = first; c < end; c++) {
        mpfr_ptr v = context->element[c - first];

        ng_oracle_value(v, NG_FORMAT_E4M3, *ng_oracle_fp8_code(x, r, c));
        ng_oracle_require_exact(mpfr_mul(v, v, context->scale, MPFR_RNDN));
    }
    ng_oracle_mxfp4_block(y, r, first, end, !mpfr_number_p(context->scale),
                          options);
}

ng_status ng_oracle_convert_fp8_to_mxfp4(const ng_mxfp4 *y, const ng_fp8 *x,
                                         const ng_options *options)
{
    const ng_options o = ng_oracle_options(options);
    ng_oracle_span span = NG_ORACLE_FIRST_SPAN;

    if (!ng_oracle_groups_legal(&o, x->rows))
        return NG_BAD_GROUPS;
    if (y->scales.dtype == NG_FP32)
        return NG_BAD_DTYPE;
    if (x->form == NG_FP8_COL)
        return NG_BAD_LAYOUT;
    if (y->rows != x->rows || y->cols != x->cols)
        return NG_BAD_SHAPE;

    ng_oracle_reserve(ng_oracle_here(), NG_ORACLE_MXFP4_BLOCK);
    while (ng_oracle_next_span(&span, &o, x->rows))
        for (int64_t r = span.first; r < span.end; r++)
            for (int64_t c = 0; c < x->cols; c += NG_ORACLE_MXFP4_BLOCK)
                convert_block(y, x, r, x->form == NG_FP8_TILE ? span.number : r,
                              c, &o);
    return NG_OK;
}
