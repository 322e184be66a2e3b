/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of two matrices, and parts of their columns.
 */
#include "reference/model/ref_model_operations.h"
#include "reference/model/ref_rows.h"

typedef struct columns {
    const ng_array *y, *a, *b;
    int64_t first;
} columns;

static void add_row(const void *job, int64_t t, float *scratch)
{
    const columns *q = job;
    const int64_t cols = q->y->cols;
    const float *a = ng_ref_row(q->a, t, scratch);
    const float *b = ng_ref_row(q->b, t, scratch + cols);
    float *sum = scratch + 2 * cols;

    for (int64_t c = 0; c < cols; c++)
        sum[c] = a[c] + b[c];
    ng_ref_store_row(q->y, t, sum);
}

ng_status ng_ref_add(void *context, const ng_array *y, const ng_array *a,
                     const ng_array *b)
{
    const columns q = {y, a, b, 0};

    (void)context;
    if (a->rows != y->rows || a->cols != y->cols || b->rows != y->rows
        || b->cols != y->cols)
        return NG_BAD_SHAPE;
    if (!ng_ref_is_numbers(y) || !ng_ref_is_numbers(a) || !ng_ref_is_numbers(b))
        return NG_BAD_DTYPE;
    return ng_ref_each_row(add_row, &q, y->rows, 3 * y->cols);
}

static void take_row(const void *job, int64_t t, float *scratch)
{
    const columns *q = job;

    ng_ref_store_row(q->y, t, ng_ref_row(q->a, t, scratch) + q->first);
}

ng_status ng_ref_take_columns(void *context, const ng_array *y,
                              const ng_array *x, int64_t first)
{
    const columns q = {y, x, NULL, first};

    (void)context;
    if (y->rows != x->rows || first < 0 || first + y->cols > x->cols)
        return NG_BAD_SHAPE;
    if (!ng_ref_is_numbers(y) || !ng_ref_is_numbers(x))
        return NG_BAD_DTYPE;
    return ng_ref_each_row(take_row, &q, y->rows, x->cols);
}

static void put_row(const void *job, int64_t t, float *scratch)
{
    const columns *q = job;
    const ng_array row = ng_array_rows(q->y, t, 1);
    const ng_array part = {.carrier = q->y->carrier,
                           .batch = 1,
                           .rows = 1,
                           .cols = q->a->cols,
                           .data =
                               (char *)row.data
                               + ng_carrier_row_bytes(q->y->carrier, q->first)};

    ng_ref_store_row(&part, 0, ng_ref_row(q->a, t, scratch));
}

ng_status ng_ref_put_columns(void *context, const ng_array *y,
                             const ng_array *x, int64_t first)
{
    const columns q = {y, x, NULL, first};

    (void)context;
    if (y->rows != x->rows || first < 0 || first + x->cols > y->cols)
        return NG_BAD_SHAPE;
    if (!ng_ref_is_numbers(y) || !ng_ref_is_numbers(x))
        return NG_BAD_DTYPE;
    return ng_ref_each_row(put_row, &q, y->rows, x->cols);
}
