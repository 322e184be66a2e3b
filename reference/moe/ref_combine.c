/* SPDX-License-Identifier: Apache-2.0
 *
 * The weighted sum of a token's experts: slot 0's product, then one FMA a slot,
 * in slot order, one rounding at the end. Exact: semantics.md 11; L-25, L-26.
 */
#include <math.h>

#include "reference/model/ref_model_operations.h"
#include "reference/model/ref_rows.h"

typedef struct combination {
    const ng_array *y, *x, *weight, *add;
    const int64_t *row;
    int64_t top_k;
} combination;

static void combine_row(const void *job, int64_t t, float *scratch)
{
    const combination *c = job;
    const int64_t cols = c->y->cols;
    float *sum = scratch;

    for (int64_t slot = 0; slot < c->top_k; slot++) {
        const int64_t pair = t * c->top_k + slot;
        const float *x = ng_ref_row(c->x, c->row[pair], scratch + cols);
        const float w =
            c->weight != NULL ? ((const float *)c->weight->data)[pair] : 1.0f;

        if (slot == 0)
            for (int64_t i = 0; i < cols; i++)
                sum[i] = w * x[i];
        else if (c->weight == NULL) /* fma(1, x, acc) */
            for (int64_t i = 0; i < cols; i++)
                sum[i] = x[i] + sum[i];
        else
            for (int64_t i = 0; i < cols; i++)
                sum[i] = fmaf(w, x[i], sum[i]);
    }
    if (c->add != NULL) {
        const float *more = ng_ref_row(c->add, t, scratch + cols);

        for (int64_t i = 0; i < cols; i++)
            sum[i] = more[i] + sum[i];
    }
    ng_ref_store_row(c->y, t, sum);
}

ng_status ng_ref_combine(void *context, const ng_array *y, const ng_array *x,
                         const int64_t *row, const ng_array *weight,
                         const ng_array *add, int64_t top_k)
{
    const combination c = {y, x, weight, add, row, top_k};

    (void)context;
    if (top_k < 1 || x->cols != y->cols
        || (weight != NULL && weight->rows * weight->cols != y->rows * top_k)
        || (add != NULL && (add->rows != y->rows || add->cols != y->cols)))
        return NG_BAD_SHAPE;
    if (!ng_ref_is_numbers(y) || !ng_ref_is_rows(x)
        || (weight != NULL && weight->carrier != NG_CARRY_FP32)
        || (add != NULL && !ng_ref_is_numbers(add)))
        return NG_BAD_DTYPE;
    for (int64_t i = 0; i < y->rows * top_k; i++)
        if (row[i] < 0 || row[i] >= x->rows)
            return NG_BAD_VALUE;
    return ng_ref_each_row(combine_row, &c, y->rows, 2 * y->cols);
}
