/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/model/ref_model_operations.h"
#include "reference/model/ref_rows.h"

typedef struct embedding {
    const ng_array *y, *table;
    const int32_t *tokens;
} embedding;

static void look_up(const void *job, int64_t t, float *scratch)
{
    const embedding *e = job;

    ng_ref_store_row(e->y, t, ng_ref_row(e->table, e->tokens[t], scratch));
}

ng_status ng_ref_embedding(void *context, const ng_array *y,
                           const int32_t *tokens, const ng_array *table)
{
    const embedding e = {y, table, tokens};

    (void)context;
    if (y->cols != table->cols)
        return NG_BAD_SHAPE;
    if (!ng_ref_is_numbers(y) || !ng_ref_is_numbers(table))
        return NG_BAD_DTYPE;
    for (int64_t t = 0; t < y->rows; t++)
        if (tokens[t] < 0 || tokens[t] >= table->rows)
            return NG_BAD_VALUE;
    return ng_ref_each_row(look_up, &e, y->rows, y->cols);
}

enum { CHUNK = 64 }; /* columns of a job: each adds its tokens in order */

static void add_chunk(const void *job, int64_t chunk, float *scratch)
{
    const embedding *e = job;
    const int64_t cols = e->table->cols, first = chunk * CHUNK;
    const int64_t last = first + CHUNK < cols ? first + CHUNK : cols;

    for (int64_t t = 0; t < e->y->rows; t++) {
        const float *grad = ng_ref_row(e->y, t, scratch);
        float *sum = (float *)e->table->data + e->tokens[t] * cols;

        for (int64_t c = first; c < last; c++)
            sum[c] += grad[c];
    }
}

ng_status ng_ref_embedding_backward(void *context, const ng_array *grad_table,
                                    const int32_t *tokens,
                                    const ng_array *grad_y)
{
    const embedding e = {grad_y, grad_table, tokens};

    (void)context;
    if (grad_y->cols != grad_table->cols)
        return NG_BAD_SHAPE;
    if (grad_table->carrier != NG_CARRY_FP32 || !ng_ref_is_numbers(grad_y))
        return NG_BAD_DTYPE;
    for (int64_t t = 0; t < grad_y->rows; t++)
        if (tokens[t] < 0 || tokens[t] >= grad_table->rows)
            return NG_BAD_VALUE;
    return ng_ref_each_row(add_chunk, &e, ng_ceil_div(grad_y->cols, CHUNK),
                           grad_y->cols);
}
