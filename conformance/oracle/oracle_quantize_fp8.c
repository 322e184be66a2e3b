/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/oracle/oracle_quantize_fp8.h"

#include "conformance/oracle/oracle_fp8_block.h"
#include "conformance/oracle/oracle_view.h"

static void quantize_part(const ng_fp8 *y, const ng_matrix *x,
                          const ng_oracle_fp8_part *part,
                          const ng_options *options)
{
    ng_oracle_context *context = ng_oracle_here();

    ng_oracle_reserve(context, (part->r1 - part->r0) * (part->c1 - part->c0));
    for (int64_t r = part->r0; r < part->r1; r++) {
        for (int64_t c = part->c0; c < part->c1; c++) {
            const int64_t i = ng_oracle_fp8_index(part, r, c);

            ng_oracle_load(context->element[i], x, r, c);
            context->bits[i] = 0;
        }
    }
    ng_oracle_fp8_block(y, part, options);
}

/* Rows r0 .. r1 - 1, which share a line of scales, in parts of 128 columns. */
static void quantize_line(const ng_fp8 *y, const ng_matrix *x, int64_t r0,
                          int64_t r1, int64_t line, ng_format_id from,
                          const ng_options *options)
{
    const int64_t n = ng_oracle_blocks(x->cols, NG_ORACLE_FP8_BLOCK);

    for (int64_t j = 0; j < n; j++) {
        const int64_t c0 = j * NG_ORACLE_FP8_BLOCK;
        const ng_oracle_fp8_part part = {
            .r0 = r0,
            .r1 = r1,
            .c0 = c0,
            .c1 = ng_oracle_min(c0 + NG_ORACLE_FP8_BLOCK, x->cols),
            .line = line,
            .j = j,
            .n = n,
            .from = from};

        quantize_part(y, x, &part, options);
    }
}

ng_status ng_oracle_quantize_fp8(const ng_fp8 *y, const ng_matrix *x,
                                 const ng_options *options)
{
    const ng_options o = ng_oracle_options(options);
    const ng_status status = ng_oracle_fp8_rules(o.rules, y->scales.dtype);
    ng_oracle_span span = NG_ORACLE_FIRST_SPAN;
    ng_format_id from;

    if (!ng_oracle_groups_legal(&o, x->rows))
        return NG_BAD_GROUPS;
    if (!ng_oracle_float_format(&from, x->dtype))
        return NG_BAD_DTYPE;
    if (y->rows != x->rows || y->cols != x->cols)
        return NG_BAD_SHAPE;
    if (status != NG_OK)
        return status;

    const int64_t n = ng_oracle_spans(&o, x->rows);

    while (ng_oracle_next_span(&span, &o, x->rows)) {
        if (y->form == NG_FP8_TILE) {
            quantize_line(y, x, span.first, span.end, span.number, from, &o);
        } else if (y->form == NG_FP8_ROW) {
            for (int64_t r = span.first; r < span.end; r++)
                quantize_line(y, x, r, r + 1, r, from, &o);
        } else {
            for (int64_t c = 0; c < x->cols; c++) {
                const ng_oracle_fp8_part part = {.r0 = span.first,
                                                 .r1 = span.end,
                                                 .c0 = c,
                                                 .c1 = c + 1,
                                                 .line = c,
                                                 .j = span.number,
                                                 .n = n,
                                                 .from = from};

                quantize_part(y, x, &part, &o);
            }
        }
    }
    return NG_OK;
}
