/* SPDX-License-Identifier: Apache-2.0
 *
 * r = 1 / sqrt(mean x^2 + eps);  y = x * r * w.
 * With g = grad_y: grad_w[c] = sum over t of g x r, in ascending t;
 * grad_x = r (g w - x (r^2 / H) sum over c of g w x).
 * FP32, sums in ascending order; squares and the dot of backward are added in
 * FP64, so that their error is that of one rounding.
 */
#include <math.h>
#include <stdlib.h>

#include "reference/model/ref_model_operations.h"
#include "reference/model/ref_rows.h"

typedef struct norm {
    const ng_array *y, *x, *w; /* backward: y is grad_y */
    const ng_array *grad_x, *grad_add;
    float *grad_w, *r;
    float eps;
} norm;

/* In FP64 to the end where the mean square is no normal FP32 number, though x
 * is one: above 2^64, and without eps below 2^-63. */
static float inverse_root(const float *x, int64_t cols, float eps)
{
    double squares = 0.0;

    for (int64_t c = 0; c < cols; c++)
        squares += (double)x[c] * (double)x[c];

    const double mean = squares / (double)cols;
    const float sum = (float)mean + eps;

    return isnormal(sum) ? 1.0f / sqrtf(sum)
                         : (float)(1.0 / sqrt(mean + (double)eps));
}

static void forward_row(const void *job, int64_t t, float *scratch)
{
    const norm *n = job;
    const int64_t cols = n->x->cols;
    const float *x = ng_ref_row(n->x, t, scratch);
    const float *w = n->w->data;
    const float r = inverse_root(x, cols, n->eps);
    float *y = scratch + cols;

    for (int64_t c = 0; c < cols; c++)
        y[c] = x[c] * r * w[c];
    ng_ref_store_row(n->y, t, y);
}

static bool is_norm(const ng_array *y, const ng_array *x, const ng_array *w)
{
    return y->rows == x->rows && y->cols == x->cols && w->cols == x->cols
           && w->rows == 1;
}

ng_status ng_ref_rmsnorm(void *context, const ng_array *y, const ng_array *x,
                         const ng_array *w, float eps)
{
    const norm n = {.y = y, .x = x, .w = w, .eps = eps};

    (void)context;
    if (!is_norm(y, x, w))
        return NG_BAD_SHAPE;
    if (!ng_ref_is_numbers(y) || !ng_ref_is_numbers(x)
        || w->carrier != NG_CARRY_FP32)
        return NG_BAD_DTYPE;
    return ng_ref_each_row(forward_row, &n, x->rows, 2 * x->cols);
}

static void backward_row(const void *job, int64_t t, float *scratch)
{
    const norm *n = job;
    const int64_t cols = n->x->cols;
    const float *x = ng_ref_row(n->x, t, scratch);
    const float *g = ng_ref_row(n->y, t, scratch + cols);
    const float *w = n->w->data;
    const float r = inverse_root(x, cols, n->eps);
    float *grad = scratch + 2 * cols;
    double dot = 0.0;

    n->r[t] = r;
    for (int64_t c = 0; c < cols; c++)
        dot += (double)(g[c] * w[c]) * (double)x[c];

    const float factor = (float)(dot / (double)cols * (double)r * (double)r);

    for (int64_t c = 0; c < cols; c++)
        grad[c] = r * (g[c] * w[c] - x[c] * factor);
    if (n->grad_add != NULL) {
        const float *more = ng_ref_row(n->grad_add, t, scratch + 3 * cols);

        for (int64_t c = 0; c < cols; c++)
            grad[c] += more[c];
    }
    ng_ref_store_row(n->grad_x, t, grad);
}

enum { CHUNK = 64 };

static void weight_chunk(const void *job, int64_t chunk, float *scratch)
{
    const norm *n = job;
    const int64_t cols = n->x->cols, first = chunk * CHUNK;
    const int64_t last = first + CHUNK < cols ? first + CHUNK : cols;
    float sum[CHUNK] = {0};

    for (int64_t t = 0; t < n->x->rows; t++) {
        const float *x = ng_ref_row(n->x, t, scratch);
        const float *g = ng_ref_row(n->y, t, scratch + cols);

        for (int64_t c = first; c < last; c++)
            sum[c - first] += g[c] * (x[c] * n->r[t]);
    }
    for (int64_t c = first; c < last; c++)
        n->grad_w[c] += sum[c - first];
}

ng_status ng_ref_rmsnorm_backward(void *context, const ng_array *grad_x,
                                  const ng_array *grad_w,
                                  const ng_array *grad_y, const ng_array *x,
                                  const ng_array *w, const ng_array *grad_add,
                                  float eps)
{
    norm n = {.y = grad_y,
              .x = x,
              .w = w,
              .grad_x = grad_x,
              .grad_add = grad_add,
              .eps = eps};
    ng_status status;

    (void)context;
    if (!is_norm(grad_y, x, w) || !is_norm(grad_x, x, w)
        || grad_w->cols != x->cols || grad_w->rows != 1
        || (grad_add != NULL && !is_norm(grad_add, x, w)))
        return NG_BAD_SHAPE;
    if (!ng_ref_is_numbers(grad_x) || !ng_ref_is_numbers(grad_y)
        || !ng_ref_is_numbers(x) || w->carrier != NG_CARRY_FP32
        || grad_w->carrier != NG_CARRY_FP32
        || (grad_add != NULL && !ng_ref_is_numbers(grad_add)))
        return NG_BAD_DTYPE;
    n.grad_w = grad_w->data;
    n.r = malloc(((size_t)x->rows + 1) * sizeof *n.r);
    if (n.r == NULL)
        return NG_NO_MEMORY;
    status = ng_ref_each_row(backward_row, &n, x->rows, 4 * x->cols);
    if (status == NG_OK)
        status = ng_ref_each_row(weight_chunk, &n, ng_ceil_div(x->cols, CHUNK),
                                 2 * x->cols);
    free(n.r);
    return status;
}
