/* SPDX-License-Identifier: Apache-2.0
 *
 * Pairs of token and slot in the order of their experts, by counting: stable,
 * so that within an expert tokens ascend. And rows moved by an index. Exact.
 */
#include <stdlib.h>
#include <string.h>

#include "reference/model/ref_model_operations.h"
#include "reference/model/ref_rows.h"

ng_status ng_ref_permutation(void *context, int64_t *row, int64_t *source,
                             int64_t *offsets, const int32_t *expert,
                             int64_t tokens, int64_t top_k, int64_t experts)
{
    const int64_t pairs = tokens * top_k;
    int64_t *next;

    (void)context;
    if (tokens < 0 || top_k < 1 || experts < 1)
        return NG_BAD_SHAPE;
    for (int64_t i = 0; i < pairs; i++)
        if (expert[i] < 0 || expert[i] >= experts)
            return NG_BAD_VALUE;
    next = calloc((size_t)experts, sizeof *next);
    if (next == NULL)
        return NG_NO_MEMORY;
    memset(offsets, 0, ((size_t)experts + 1) * sizeof *offsets);
    for (int64_t i = 0; i < pairs; i++)
        offsets[expert[i] + 1]++;
    for (int64_t e = 0; e < experts; e++) {
        next[e] = offsets[e];
        offsets[e + 1] += offsets[e];
    }
    for (int64_t i = 0; i < pairs; i++) {
        row[i] = next[expert[i]]++;
        source[row[i]] = i;
    }
    free(next);
    return NG_OK;
}

typedef struct gathering {
    const ng_array *y, *x;
    const int64_t *index;
    int64_t divisor, bytes, scale_bytes;
} gathering;

static void move_row(const void *job, int64_t i, float *scratch)
{
    const gathering *g = job;
    const int64_t from = g->index[i] / g->divisor;

    (void)scratch;
    if (g->bytes > 0)
        memcpy((char *)g->y->data + i * g->bytes,
               (const char *)g->x->data + from * g->bytes, (size_t)g->bytes);
    if (g->scale_bytes > 0)
        memcpy((char *)g->y->scales + i * g->scale_bytes,
               (const char *)g->x->scales + from * g->scale_bytes,
               (size_t)g->scale_bytes);
}

ng_status ng_ref_gather(void *context, const ng_array *y, const ng_array *x,
                        const int64_t *index, int64_t divisor)
{
    const gathering g = {y,
                         x,
                         index,
                         divisor,
                         ng_carrier_row_bytes(x->carrier, x->cols),
                         ng_carrier_row_scale_bytes(x->carrier, x->cols)};

    (void)context;
    if (y->cols != x->cols || divisor < 1)
        return NG_BAD_SHAPE;
    if (!ng_ref_is_rows(x) || y->carrier != x->carrier)
        return NG_BAD_DTYPE;
    for (int64_t i = 0; i < y->rows; i++)
        if (index[i] < 0 || index[i] / divisor >= x->rows)
            return NG_BAD_VALUE;
    return ng_ref_each_row(move_row, &g, y->rows, 0);
}
