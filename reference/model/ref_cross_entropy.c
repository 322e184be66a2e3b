/* SPDX-License-Identifier: Apache-2.0
 *
 * With m the largest logit and s = sum of exp(z - m) in ascending order (FP64
 * sums of FP32 exponentials): loss = log(s) - (z[target] - m), gradient
 * (exp(z - m) / s - [target]) * scale. A NaN among the logits gives NaN.
 */
#include <math.h>
#include <stdlib.h>

#include "reference/model/ref_exp.h"
#include "reference/model/ref_model_operations.h"
#include "reference/model/ref_lanes.h"
#include "reference/model/ref_rows.h"

typedef struct entropy {
    const ng_array *grad, *logits;
    const int32_t *targets;
    double *losses;
    float scale;
} entropy;

static void entropy_row(const void *job, int64_t t, float *scratch)
{
    const entropy *e = job;
    const int64_t cols = e->logits->cols;
    const int32_t target = e->targets[t];
    float *grad = scratch + cols;
    float largest = -INFINITY;
    double sum = 0.0;

    e->losses[t] = 0.0;
    if (target < 0 && e->grad == NULL)
        return;

    const float *z = ng_ref_row(e->logits, t, scratch);

    for (int64_t c = 0; c < cols; c++)
        largest = z[c] > largest ? z[c] : largest;
    if (target >= 0) {
        const double of_target = (double)z[target] - (double)largest;

        NG_REF_SIMD
        for (int64_t c = 0; c < cols; c++)
            grad[c] = ng_ref_exp(z[c] - largest);
        for (int64_t c = 0; c < cols; c++)
            sum += (double)grad[c];
        e->losses[t] = log(sum) - of_target;
    }
    if (e->grad == NULL)
        return;

    const float total = (float)sum;

    for (int64_t c = 0; c < cols; c++)
        grad[c] = target < 0 ? 0.0f : grad[c] / total * e->scale;
    if (target >= 0)
        grad[target] -= e->scale;
    ng_ref_store_row(e->grad, t, grad);
}

ng_status ng_ref_cross_entropy(void *context, double *loss, int64_t *n,
                               const ng_array *grad_logits,
                               const ng_array *logits, const int32_t *targets,
                               float scale)
{
    entropy e = {grad_logits, logits, targets, NULL, scale};
    ng_status status;

    (void)context;
    if (grad_logits != NULL
        && (grad_logits->rows != logits->rows
            || grad_logits->cols != logits->cols))
        return NG_BAD_SHAPE;
    if (!ng_ref_is_numbers(logits)
        || (grad_logits != NULL && !ng_ref_is_numbers(grad_logits)))
        return NG_BAD_DTYPE;
    for (int64_t t = 0; t < logits->rows; t++)
        if (targets[t] >= logits->cols)
            return NG_BAD_VALUE;
    e.losses = malloc(((size_t)logits->rows + 1) * sizeof *e.losses);
    if (e.losses == NULL)
        return NG_NO_MEMORY;
    status = ng_ref_each_row(entropy_row, &e, logits->rows, 2 * logits->cols);
    for (int64_t t = 0; status == NG_OK && t < logits->rows; t++) {
        *loss += e.losses[t];
        *n += targets[t] >= 0;
    }
    free(e.losses);
    return status;
}
