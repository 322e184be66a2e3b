/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/oracle/oracle_convert_fp8_row_to_col.h"

#include "conformance/oracle/oracle_align.h"
#include "conformance/oracle/oracle_fp8_block.h"
#include "conformance/oracle/oracle_view.h"

/* Power-of-two scales: the columns first .. end - 1, which share their rows'
 * scales, over a span of tokens; headroom 0, as E4M3 fills its range. */
static void align(const ng_fp8 *y, const ng_fp8 *x, const ng_oracle_span *span,
                  int64_t n_spans, int64_t first, int64_t end,
                  const ng_options *options)
{
    ng_oracle_context *context = ng_oracle_here();

    for (int64_t t = span->first; t < span->end; t++)
        ng_oracle_load_scale(context->element[t - span->first], &x->scales, t,
                             first / NG_ORACLE_FP8_BLOCK);
    ng_oracle_aligned_scale(context->unit, (const mpfr_t *)context->element,
                            span->end - span->first, 0, y->scales.dtype);

    ng_oracle_grid *grid = ng_oracle_scaled_grid(NG_FORMAT_E4M3, context->unit);

    for (int64_t c = first; c < end; c++) {
        ng_oracle_store_scale(&y->scales, c, span->number, n_spans,
                              context->unit);
        for (int64_t t = span->first; t < span->end; t++)
            *ng_oracle_fp8_code(y, t, c) = ng_oracle_aligned_code(
                grid, NG_FORMAT_E4M3, *ng_oracle_fp8_code(x, t, c),
                context->element[t - span->first], options);
    }
}

/* A scale's exponent field in FP32, counted up from the subnormals. */
static long field_of(mpfr_srcptr scale)
{
    if (mpfr_nan_p(scale) != 0)
        return 255;
    if (mpfr_zero_p(scale) != 0 || mpfr_cmp_ui_2exp(scale, 1, -126) < 0)
        return 0;
    return mpfr_get_exp(scale) - 1 + 127;
}

/* The same by rule fp8.align = exponent-field. */
static void align_by_field(const ng_fp8 *y, const ng_fp8 *x,
                           const ng_oracle_span *span, int64_t n_spans,
                           int64_t first, int64_t end)
{
    ng_oracle_context *context = ng_oracle_here();
    const int64_t n = span->end - span->first;

    mpfr_set_nan(context->unit);
    if (n < NG_ORACLE_FP8_BLOCK) /* what is not there counts as 0 */
        mpfr_set_zero(context->unit, 1);
    for (int64_t i = 0; i < n; i++) {
        ng_oracle_load_scale(context->element[i], &x->scales, span->first + i,
                             first / NG_ORACLE_FP8_BLOCK);
        /* MPFR's maximum leaves a NaN out. */
        mpfr_max(context->unit, context->unit, context->element[i], MPFR_RNDN);
    }
    mpfr_set(context->scale, context->unit, MPFR_RNDN);
    if (y->scales.dtype != NG_FP32 && mpfr_nan_p(context->scale) == 0
        && mpfr_cmp_ui_2exp(context->scale, 1, -127) < 0)
        mpfr_set_ui_2exp(context->scale, 1, -127, MPFR_RNDN);
    for (int64_t c = first; c < end; c++) {
        ng_oracle_store_scale(&y->scales, c, span->number, n_spans,
                              context->scale);
        for (int64_t i = 0; i < n; i++) {
            const uint8_t code = *ng_oracle_fp8_code(x, span->first + i, c);
            long e = (code % 128) / 8;

            if (e > 0) {
                e += field_of(context->element[i]) - field_of(context->unit);
                if (e < 0)
                    e = 0;
                e = code / 128 * 128 | e * 8 | code % 8;
            }
            *ng_oracle_fp8_code(y, span->first + i, c) = (uint8_t)(e % 256);
        }
    }
}

/* General scales: column c over a span of tokens. */
static void requantize(const ng_fp8 *y, const ng_fp8 *x,
                       const ng_oracle_span *span, int64_t n_spans, int64_t c,
                       const ng_options *options)
{
    ng_oracle_context *context = ng_oracle_here();
    const ng_oracle_fp8_part part = {.r0 = span->first,
                                     .r1 = span->end,
                                     .c0 = c,
                                     .c1 = c + 1,
                                     .line = c,
                                     .j = span->number,
                                     .n = n_spans,
                                     .from = NG_FORMAT_FP32};

    for (int64_t t = span->first; t < span->end; t++) {
        const int64_t i = ng_oracle_fp8_index(&part, t, c);
        mpfr_ptr v = context->element[i];

        ng_oracle_load_scale(context->scale, &x->scales, t,
                             c / NG_ORACLE_FP8_BLOCK);
        ng_oracle_value(v, NG_FORMAT_E4M3, *ng_oracle_fp8_code(x, t, c));
        ng_oracle_require_exact(mpfr_mul(v, v, context->scale, MPFR_RNDN));
        context->bits[i] = 0;
        ng_oracle_rn32(v, v, &context->bits[i]);
    }
    ng_oracle_fp8_block(y, &part, options);
}

/* A positive power of two, also one that FP32 alone can hold (2^-149 .. 2^-128):
 * section 5 writes some. */
static bool is_power_of_two(mpfr_srcptr v)
{
    return mpfr_number_p(v) && mpfr_sgn(v) > 0
           && mpfr_cmp_ui_2exp(v, 1, mpfr_get_exp(v) - 1) == 0;
}

/* Whether every scale that takes part is what the tensor declares. */
static bool scales_are_pow2(const ng_fp8 *x, const ng_options *options)
{
    mpfr_ptr scale = ng_oracle_here()->scale;
    const int64_t n = ng_oracle_blocks(x->cols, NG_ORACLE_FP8_BLOCK);

    for (int64_t r = 0; r < ng_oracle_rows(options, x->rows); r++) {
        for (int64_t j = 0; j < n; j++) {
            ng_oracle_load_scale(scale, &x->scales, r, j);
            if (!mpfr_nan_p(scale) && !is_power_of_two(scale))
                return false;
        }
    }
    return true;
}

ng_status ng_oracle_convert_fp8_row_to_col(const ng_fp8 *y, const ng_fp8 *x,
                                           const ng_options *options)
{
    const ng_options o = ng_oracle_options(options);
    const bool pow2 = x->scales.pow2 || x->scales.dtype != NG_FP32;
    ng_oracle_span span = NG_ORACLE_FIRST_SPAN;
    ng_status status;

    if (!ng_oracle_groups_legal(&o, x->rows))
        return NG_BAD_GROUPS;
    if (y->form != NG_FP8_COL || x->form != NG_FP8_ROW)
        return NG_BAD_LAYOUT;
    if (y->rows != x->rows || y->cols != x->cols)
        return NG_BAD_SHAPE;
    /* Aligning is defined as nearest-even, as in section 5. */
    if (pow2)
        status = o.rules->rounding == NG_NEAREST_EVEN ? NG_OK : NG_BAD_RULES;
    else
        status = ng_oracle_fp8_rules(o.rules, y->scales.dtype);
    if (status != NG_OK)
        return status;
    if (pow2 && !scales_are_pow2(x, &o))
        return NG_BAD_SCALE;

    const int64_t n_spans = ng_oracle_spans(&o, x->rows);

    ng_oracle_reserve(ng_oracle_here(), NG_ORACLE_FP8_BLOCK);
    while (ng_oracle_next_span(&span, &o, x->rows)) {
        if (pow2) {
            for (int64_t c = 0; c < x->cols; c += NG_ORACLE_FP8_BLOCK) {
                const int64_t end =
                    ng_oracle_min(c + NG_ORACLE_FP8_BLOCK, x->cols);

                if (o.rules->fp8_align == NG_FP8_ALIGN_FIELD)
                    align_by_field(y, x, &span, n_spans, c, end);
                else
                    align(y, x, &span, n_spans, c, end, &o);
            }
        } else {
            for (int64_t c = 0; c < x->cols; c++)
                requantize(y, x, &span, n_spans, c, &o);
        }
    }
    return NG_OK;
}
