/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/oracle/oracle_transpose_fp8_tile.h"

#include "conformance/oracle/oracle_view.h"

ng_status ng_oracle_transpose_fp8_tile(const ng_fp8 *y, const ng_fp8 *x,
                                       const ng_options *options)
{
    const ng_options o = ng_oracle_options(options);
    ng_oracle_span span = NG_ORACLE_FIRST_SPAN;

    if (!ng_oracle_groups_legal(&o, x->rows))
        return NG_BAD_GROUPS;
    if (y->form != NG_FP8_TILE || x->form != NG_FP8_TILE)
        return NG_BAD_LAYOUT;
    if ((y->scales.dtype == NG_FP32) != (x->scales.dtype == NG_FP32))
        return NG_BAD_DTYPE;
    if (y->rows != x->cols || y->cols != x->rows)
        return NG_BAD_SHAPE;

    const int64_t n_spans = ng_oracle_spans(&o, x->rows);

    while (ng_oracle_next_span(&span, &o, x->rows)) {
        for (int64_t c = 0; c < x->cols; c++) {
            const int64_t tile = c / NG_ORACLE_FP8_BLOCK;

            if (c % NG_ORACLE_FP8_BLOCK == 0)
                ng_oracle_store_scale_bits(
                    &y->scales, tile, span.number, n_spans,
                    ng_oracle_load_scale_bits(&x->scales, span.number, tile));
            for (int64_t r = span.first; r < span.end; r++)
                *ng_oracle_fp8_code(y, c, r) = *ng_oracle_fp8_code(x, r, c);
        }
    }
    return NG_OK;
}
