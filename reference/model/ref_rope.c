/* SPDX-License-Identifier: Apache-2.0
 *
 * (a, b) -> (a cos - b sin, a sin + b cos), for pair i of a head by the angle
 * position * base^(-2i/width). Angles, sines and cosines in FP64, rounded to
 * FP32 once; the inverse rotation is the transpose, and so the backward.
 */
#include <math.h>
#include <stdlib.h>

#include "reference/model/ref_model_operations.h"
#include "reference/model/ref_rows.h"

typedef struct rotation {
    const ng_array *x;
    int64_t heads, width, length;
    const float *table; /* [length][width / 2][cos, sin] */
} rotation;

static void rotate_row(const void *job, int64_t t, float *scratch)
{
    const rotation *q = job;
    const int64_t cols = q->x->cols, dim = cols / q->heads;
    const float *of_position = q->table + t % q->length * q->width;
    const float *x = ng_ref_row(q->x, t, scratch);
    float *y = scratch + cols;

    for (int64_t c = 0; c < cols; c++)
        y[c] = x[c];
    for (int64_t h = 0; h < q->heads; h++) {
        const float *from = x + h * dim + dim - q->width;
        float *to = y + h * dim + dim - q->width;

        /* Two loops: of one with a difference and a sum in turn gcc 12 -O3
         * makes vfmaddsub where the machine has it, which rounds once, and does
         * not ask -ffp-contract=off (long_contraction.sh). */
        for (int64_t i = 0; i < q->width; i += 2)
            to[i] = from[i] * of_position[i] - from[i + 1] * of_position[i + 1];
        for (int64_t i = 0; i < q->width; i += 2)
            to[i + 1] =
                from[i] * of_position[i + 1] + from[i + 1] * of_position[i];
    }
    ng_ref_store_row(q->x, t, y);
}

ng_status ng_ref_rope(void *context, const ng_array *x, int64_t heads,
                      int64_t width, int64_t length, double base, bool inverse)
{
    rotation q = {x, heads, width, length, NULL};
    float *table;
    ng_status status;

    (void)context;
    if (heads < 1 || x->cols % heads != 0 || width < 0 || width % 2 != 0
        || width > x->cols / heads || length < 1)
        return NG_BAD_SHAPE;
    if (!ng_ref_is_numbers(x))
        return NG_BAD_DTYPE;
    if (width == 0)
        return NG_OK;
    table = malloc((size_t)(length * width) * sizeof *table);
    if (table == NULL)
        return NG_NO_MEMORY;
    for (int64_t i = 0; i < width; i += 2) {
        const double frequency = pow(base, -(double)i / (double)width);

        for (int64_t p = 0; p < length; p++) {
            const double angle = (double)p * frequency;

            table[p * width + i] = (float)cos(angle);
            table[p * width + i + 1] =
                (float)(inverse ? -sin(angle) : sin(angle));
        }
    }
    q.table = table;
    status = ng_ref_each_row(rotate_row, &q, x->rows, 2 * x->cols);
    free(table);
    return status;
}
