/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/model/ref_linear.h"

#include "reference/model/ref_rows.h"

/* The groups of a call: those given, or one of all rows. */
typedef struct grouping {
    int64_t all[2];
    ng_groups groups;
} grouping;

static void begin(grouping *g, const ng_row_groups *groups, int64_t rows)
{
    g->all[0] = 0;
    g->all[1] = rows;
    g->groups = groups != NULL ? groups->host : (ng_groups){1, g->all};
}

/* Whether groups, rows and matrices agree. */
static bool fits(const grouping *g, int64_t rows, int64_t batch)
{
    return ng_groups_check(&g->groups, rows) == NG_OK
           && g->groups.n_groups == batch;
}

static ng_ref_operand operand(const ng_array *x, int64_t first_row,
                              bool transposed)
{
    const int64_t size = x->carrier == NG_CARRY_FP32 ? 4 : 2;
    const char *data = x->data;

    return (ng_ref_operand){data + first_row * x->cols * size, x->carrier,
                            transposed ? 1 : x->cols, transposed ? x->cols : 1};
}

/* Rows from first_row of the row form, or matrix g of stacked tiles. */
static ng_ref_fp8_operand fp8_rows(const ng_array *x, int64_t first_row)
{
    const int64_t wide = ng_ceil_div(x->cols, NG_FP8_BLOCK);

    return (ng_ref_fp8_operand){
        (const uint8_t *)x->data + first_row * x->cols, x->cols,
        (const float *)x->scales + first_row * wide, 1, wide};
}

static ng_ref_fp8_operand fp8_tiles(const ng_array *w, int64_t g)
{
    const ng_array one = ng_array_batch(w, g, 1);

    return (ng_ref_fp8_operand){one.data, one.cols, one.scales, NG_FP8_BLOCK,
                                ng_ceil_div(one.cols, NG_FP8_BLOCK)};
}

static ng_ref_fp8_operand fp8_lines(const ng_array *x)
{
    return (ng_ref_fp8_operand){x->data, x->rows, x->scales, 1, x->blocks};
}

ng_status ng_ref_linear(void *context, const ng_array *y, const ng_array *x,
                        const ng_array *w, const ng_row_groups *groups)
{
    grouping g;
    ng_status status = NG_OK;

    (void)context;
    begin(&g, groups, x->rows);
    if (y->rows != x->rows || y->cols != w->rows || x->cols != w->cols
        || !fits(&g, x->rows, w->batch))
        return NG_BAD_SHAPE;

    const bool fp8 = x->carrier == NG_CARRY_FP8;

    if (!ng_ref_is_numbers(y)
        || (fp8 ? w->carrier != NG_CARRY_FP8_TILE
                : !ng_ref_is_numbers(x) || w->carrier != x->carrier))
        return NG_BAD_DTYPE;
    for (int64_t i = 0; i < w->batch && status == NG_OK; i++) {
        const int64_t first = g.groups.offsets[i];
        const int64_t rows = g.groups.offsets[i + 1] - first;

        if (fp8) {
            const ng_ref_fp8_operand a = fp8_rows(x, first);
            const ng_ref_fp8_operand b = fp8_tiles(w, i);

            status = ng_ref_fp8_product(y, first, rows, &a, &b, 0, x->cols, 0,
                                        false);
        } else {
            const ng_ref_operand a = operand(x, first, false);
            const ng_ref_operand b = operand(w, i * w->rows, false);

            status = ng_ref_product(y, first, rows, &a, &b, x->cols, false);
        }
    }
    return status;
}

ng_status ng_ref_linear_backward(void *context, const ng_array *grad_x,
                                 const ng_array *grad_y, const ng_array *w,
                                 const ng_array *w_transposed,
                                 const ng_row_groups *groups)
{
    grouping g;
    ng_status status = NG_OK;

    if (grad_y->carrier == NG_CARRY_FP8)
        return w_transposed == NULL ? NG_BAD_POINTER
                                    : ng_ref_linear(context, grad_x, grad_y,
                                                    w_transposed, groups);
    begin(&g, groups, grad_y->rows);
    if (grad_x->rows != grad_y->rows || grad_y->cols != w->rows
        || grad_x->cols != w->cols || !fits(&g, grad_y->rows, w->batch))
        return NG_BAD_SHAPE;
    if (!ng_ref_is_numbers(grad_x) || !ng_ref_is_numbers(grad_y)
        || w->carrier != grad_y->carrier)
        return NG_BAD_DTYPE;
    for (int64_t i = 0; i < w->batch && status == NG_OK; i++) {
        const int64_t first = g.groups.offsets[i];
        const ng_ref_operand a = operand(grad_y, first, false);
        const ng_ref_operand b = operand(w, i * w->rows, true);

        status = ng_ref_product(grad_x, first, g.groups.offsets[i + 1] - first,
                                &a, &b, w->rows, false);
    }
    return status;
}

ng_status ng_ref_linear_weight(void *context, const ng_array *grad_w,
                               const ng_array *grad_y, const ng_array *x,
                               const ng_row_groups *groups, bool accumulate)
{
    grouping g;
    int64_t block = 0;
    ng_status status = NG_OK;

    (void)context;
    begin(&g, groups, x->rows);
    if (grad_y->rows != x->rows || grad_w->rows != grad_y->cols
        || grad_w->cols != x->cols || !fits(&g, x->rows, grad_w->batch))
        return NG_BAD_SHAPE;

    const bool fp8 = x->carrier == NG_CARRY_FP8_COL;

    if (grad_w->carrier != NG_CARRY_FP32
        || (fp8 ? grad_y->carrier != NG_CARRY_FP8_COL
                : !ng_ref_is_numbers(x) || !ng_ref_is_numbers(grad_y)))
        return NG_BAD_DTYPE;
    for (int64_t i = 0; i < grad_w->batch && status == NG_OK; i++) {
        const int64_t first = g.groups.offsets[i];
        const int64_t rows = g.groups.offsets[i + 1] - first;

        if (rows == 0 && accumulate)
            continue;
        if (fp8) {
            const ng_ref_fp8_operand a = fp8_lines(grad_y);
            const ng_ref_fp8_operand b = fp8_lines(x);

            status = ng_ref_fp8_product(grad_w, i * grad_w->rows, grad_w->rows,
                                        &a, &b, first, rows, block, accumulate);
        } else {
            const ng_ref_operand a = operand(grad_y, first, true);
            const ng_ref_operand b = operand(x, first, true);

            status = ng_ref_product(grad_w, i * grad_w->rows, grad_w->rows, &a,
                                    &b, rows, accumulate);
        }
        block += ng_ceil_div(rows, NG_FP8_BLOCK);
    }
    return status;
}
