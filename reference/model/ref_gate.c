/* SPDX-License-Identifier: Apache-2.0
 *
 * SwiGLU over a row [gate | up]: h = silu(gate) * up, silu(g) = g / (1 +
 * exp(-g)), times the row's weight, rounded once into what the next product
 * takes. Backward of weight * h, with s = sigmoid(gate), d = weight * grad_h:
 *   grad_up = d * silu(gate);  grad_gate = d * up * (s + silu(gate) (1 - s))
 *   grad_weight = grad_h . h, in ascending order
 *
 * The backend's own SwiGLU, beside reference/moe/ref_swiglu.c, which is the
 * operation that verify holds a kernel to: that one works in FP64 and leans on
 * the machine's exp, this one must be the same bits on every machine and for
 * every number of ranks, and runs in vectors. test_model_gate.c holds both to one
 * bound by MPFR over every gate, and to the same bits where nothing is open.
 */
#include <stdlib.h>

#include "reference/model/ref_convert_array.h"
#include "reference/model/ref_exp.h"
#include "reference/model/ref_model_operations.h"
#include "reference/model/ref_lanes.h"
#include "reference/model/ref_rows.h"

typedef struct gating {
    const ng_array *y, *gate_up, *weight;
    const ng_array *grad_gate_up, *grad_weight, *grad_h;
    const ng_ref_row_block *blocks;
    ng_events *events;
} gating;

static float weight_of(const gating *q, int64_t t)
{
    return q->weight != NULL ? ((const float *)q->weight->data)[t] : 1.0f;
}

/* Row t of weight * h into h [F]; scratch [2F]. */
NG_REF_CLONES
static void gate_row(const gating *q, int64_t t, float *h, float *scratch)
{
    const int64_t width = q->gate_up->cols / 2;
    const float *gate = ng_ref_row(q->gate_up, t, scratch);
    const float *up = gate + width;
    const float weight = weight_of(q, t);

    NG_REF_SIMD
    for (int64_t i = 0; i < width; i++)
        h[i] = gate[i] * ng_ref_sigmoid(gate[i]) * up[i];
    if (q->weight != NULL) {
        NG_REF_SIMD
        for (int64_t i = 0; i < width; i++)
            h[i] *= weight;
    }
}

static void forward_row(const void *job, int64_t t, float *scratch)
{
    const gating *q = job;
    float *h = scratch + q->gate_up->cols;
    ng_events mine = {{0}};

    gate_row(q, t, h, scratch);
    if (ng_ref_is_numbers(q->y)) {
        ng_ref_store_row(q->y, t, h);
        return;
    }
    ng_ref_quantize_row(q->y, t, h, &mine);
    ng_ref_add_events(q->events, &mine);
}

static void forward_block(const void *job, int64_t i, float *scratch)
{
    const gating *q = job;
    const ng_ref_row_block *block = &q->blocks[i];
    float *h = scratch + q->gate_up->cols + NG_FP8_BLOCK;
    ng_events mine = {{0}};

    for (int64_t r = 0; r < block->n; r++)
        gate_row(q, block->first + r, h + r * q->y->cols, scratch);
    ng_ref_quantize_col_block(q->y, block, h, scratch + q->gate_up->cols,
                              &mine);
    ng_ref_add_events(q->events, &mine);
}

ng_status ng_ref_gate(void *context, const ng_array *y, const ng_array *gate_up,
                      const ng_array *weight, const ng_row_groups *groups,
                      ng_events *events)
{
    gating q = {.y = y, .gate_up = gate_up, .weight = weight, .events = events};
    ng_ref_row_block *blocks;
    int64_t n;
    ng_status status = NG_BAD_SHAPE;

    (void)context;
    if (y->rows != gate_up->rows || 2 * y->cols != gate_up->cols
        || (weight != NULL && weight->rows * weight->cols != y->rows)
        || (groups != NULL && ng_groups_check(&groups->host, y->rows) != NG_OK))
        return NG_BAD_SHAPE;
    if (!ng_ref_is_rows(gate_up)
        || (weight != NULL && weight->carrier != NG_CARRY_FP32)
        || (!ng_ref_is_rows(y) && y->carrier != NG_CARRY_FP8_COL))
        return NG_BAD_DTYPE;
    if (y->carrier != NG_CARRY_FP8_COL)
        return ng_ref_each_row(
            forward_row, &q,
            groups != NULL ? ng_groups_rows(&groups->host, y->rows) : y->rows,
            3 * y->cols);
    blocks = ng_ref_row_blocks(&n, groups, y->rows);
    if (blocks == NULL)
        return NG_NO_MEMORY;
    q.blocks = blocks;
    if (y->blocks >= n)
        status = ng_ref_each_row(forward_block, &q, n,
                                 2 * y->cols + NG_FP8_BLOCK * (y->cols + 1));
    free(blocks);
    return status;
}

NG_REF_CLONES
static void backward_row(const void *job, int64_t t, float *scratch)
{
    const gating *q = job;
    const int64_t width = q->grad_h->cols;
    const float *gate = ng_ref_row(q->gate_up, t, scratch);
    const float *up = gate + width;
    const float *grad_h = ng_ref_row(q->grad_h, t, scratch + 2 * width);
    const float weight = weight_of(q, t);
    float *grad = scratch + 3 * width, *h = grad + 2 * width;
    float dot = 0.0f;

    NG_REF_SIMD
    for (int64_t i = 0; i < width; i++) {
        const float s = ng_ref_sigmoid(gate[i]);
        const float silu = gate[i] * s;
        const float d = weight * grad_h[i];

        grad[i] = d * up[i] * (s + silu * (1.0f - s));
        grad[width + i] = d * silu;
        h[i] = silu * up[i];
    }
    ng_ref_store_row(q->grad_gate_up, t, grad);
    if (q->grad_weight == NULL)
        return;
    for (int64_t i = 0; i < width; i++)
        dot += grad_h[i] * h[i];
    ((float *)q->grad_weight->data)[t] = dot;
}

ng_status ng_ref_gate_backward(void *context, const ng_array *grad_gate_up,
                               const ng_array *grad_weight,
                               const ng_array *grad_h, const ng_array *gate_up,
                               const ng_array *weight)
{
    const gating q = {.gate_up = gate_up,
                      .weight = weight,
                      .grad_gate_up = grad_gate_up,
                      .grad_weight = grad_weight,
                      .grad_h = grad_h};

    (void)context;
    if (grad_gate_up->rows != gate_up->rows
        || grad_gate_up->cols != gate_up->cols || grad_h->rows != gate_up->rows
        || 2 * grad_h->cols != gate_up->cols
        || (weight != NULL && weight->rows * weight->cols != gate_up->rows)
        || (grad_weight != NULL
            && grad_weight->rows * grad_weight->cols != gate_up->rows))
        return NG_BAD_SHAPE;
    if (!ng_ref_is_numbers(grad_gate_up) || !ng_ref_is_numbers(grad_h)
        || !ng_ref_is_rows(gate_up)
        || (weight != NULL && weight->carrier != NG_CARRY_FP32)
        || (grad_weight != NULL && grad_weight->carrier != NG_CARRY_FP32))
        return NG_BAD_DTYPE;
    return ng_ref_each_row(backward_row, &q, gate_up->rows, 6 * grad_h->cols);
}
