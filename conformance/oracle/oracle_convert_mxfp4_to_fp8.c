/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/oracle/oracle_convert_mxfp4_to_fp8.h"

#include "conformance/oracle/oracle_align.h"
#include "conformance/oracle/oracle_view.h"

enum { BLOCKS_A_SCALE = NG_ORACLE_FP8_BLOCK / NG_ORACLE_MXFP4_BLOCK };

/* Section 5: scale j of row r, over up to four blocks. */
static void convert_row_block(const ng_fp8 *y, const ng_mxfp4 *x, int64_t r,
                              int64_t j, const ng_options *options)
{
    ng_oracle_context *context = ng_oracle_here();
    const int64_t first = j * NG_ORACLE_FP8_BLOCK;
    const int64_t end = ng_oracle_min(first + NG_ORACLE_FP8_BLOCK, x->cols);
    const int64_t n = ng_oracle_blocks(end - first, NG_ORACLE_MXFP4_BLOCK);

    for (int64_t i = 0; i < n; i++)
        ng_oracle_load_scale(context->element[i], &x->scales, r,
                             j * BLOCKS_A_SCALE + i);
    ng_oracle_aligned_scale(context->unit, (const mpfr_t *)context->element, n,
                            options->rules->headroom, y->scales.dtype);
    ng_oracle_store_scale(&y->scales, r, j,
                          ng_oracle_blocks(x->cols, NG_ORACLE_FP8_BLOCK),
                          context->unit);

    ng_oracle_grid *grid = ng_oracle_scaled_grid(NG_FORMAT_E4M3, context->unit);

    for (int64_t c = first; c < end; c++)
        *ng_oracle_fp8_code(y, r, c) = ng_oracle_aligned_code(
            grid, NG_FORMAT_E2M1,
            ng_oracle_load_nibble(x->codes + r * x->ld, c),
            context->element[(c - first) / NG_ORACLE_MXFP4_BLOCK], options);
}

/* Section 6: the 32 columns from `first` on, over a span of tokens. */
static void convert_col_block(const ng_fp8 *y, const ng_mxfp4 *x,
                              const ng_oracle_span *span, int64_t n_spans,
                              int64_t first, const ng_options *options)
{
    ng_oracle_context *context = ng_oracle_here();
    const int64_t end = ng_oracle_min(first + NG_ORACLE_MXFP4_BLOCK, x->cols);

    for (int64_t t = span->first; t < span->end; t++)
        ng_oracle_load_scale(context->element[t - span->first], &x->scales, t,
                             first / NG_ORACLE_MXFP4_BLOCK);
    ng_oracle_aligned_scale(context->unit, (const mpfr_t *)context->element,
                            span->end - span->first, options->rules->headroom,
                            y->scales.dtype);

    ng_oracle_grid *grid = ng_oracle_scaled_grid(NG_FORMAT_E4M3, context->unit);

    for (int64_t c = first; c < end; c++) {
        ng_oracle_store_scale(&y->scales, c, span->number, n_spans,
                              context->unit);
        for (int64_t t = span->first; t < span->end; t++)
            *ng_oracle_fp8_code(y, t, c) = ng_oracle_aligned_code(
                grid, NG_FORMAT_E2M1,
                ng_oracle_load_nibble(x->codes + t * x->ld, c),
                context->element[t - span->first], options);
    }
}

ng_status ng_oracle_convert_mxfp4_to_fp8(const ng_fp8 *y, const ng_mxfp4 *x,
                                         const ng_options *options)
{
    const ng_options o = ng_oracle_options(options);
    ng_oracle_span span = NG_ORACLE_FIRST_SPAN;

    if (!ng_oracle_groups_legal(&o, x->rows))
        return NG_BAD_GROUPS;
    if (x->scales.dtype == NG_FP32)
        return NG_BAD_DTYPE;
    if (y->form == NG_FP8_TILE)
        return NG_BAD_LAYOUT;
    if (y->rows != x->rows || y->cols != x->cols)
        return NG_BAD_SHAPE;
    if (o.rules->rounding != NG_NEAREST_EVEN || o.rules->headroom < 0
        || o.rules->headroom > 8)
        return NG_BAD_RULES;

    const int64_t n_spans = ng_oracle_spans(&o, x->rows);

    ng_oracle_reserve(ng_oracle_here(), NG_ORACLE_FP8_BLOCK);
    while (ng_oracle_next_span(&span, &o, x->rows)) {
        if (y->form == NG_FP8_ROW) {
            for (int64_t r = span.first; r < span.end; r++)
                for (int64_t j = 0; j * NG_ORACLE_FP8_BLOCK < x->cols; j++)
                    convert_row_block(y, x, r, j, &o);
        } else {
            for (int64_t first = 0; first < x->cols;
                 first += NG_ORACLE_MXFP4_BLOCK)
                convert_col_block(y, x, &span, n_spans, first, &o);
        }
    }
    return NG_OK;
}
