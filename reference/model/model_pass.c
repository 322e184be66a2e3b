/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays of a pass: made, converted, lent, dropped.
 */
#include <stdlib.h>

#include "reference/model/model_parts.h"

static ng_array make(ng_pass *p, ng_array shape)
{
    const ng_array nothing = {.carrier = NG_CARRY_NONE};
    const int64_t data = ng_array_data_bytes(&shape);
    const int64_t scales = ng_array_scale_bytes(&shape);
    /* One block: the scales follow the data, aligned. */
    const int64_t before = (data + 63) / 64 * 64;
    char *memory;

    if (p->status != NG_OK)
        return nothing;
    memory = p->b->alloc(p->c, before + scales);
    if (memory == NULL) {
        p->status = NG_NO_MEMORY;
        return nothing;
    }
    shape.data = memory;
    shape.scales = ng_carrier_row_scale_bytes(shape.carrier, 1) > 0
                           || shape.carrier == NG_CARRY_FP8_COL
                           || shape.carrier == NG_CARRY_FP8_TILE
                       ? memory + before
                       : NULL;
    return shape;
}

ng_array ng_make(ng_pass *p, ng_carrier carrier, int64_t rows, int64_t cols)
{
    return make(
        p,
        (ng_array){.carrier = carrier, .batch = 1, .rows = rows, .cols = cols});
}

ng_array ng_make_col(ng_pass *p, int64_t rows, int64_t cols,
                     const ng_row_groups *groups)
{
    const int64_t blocks = ng_groups_blocks(
        groups != NULL ? &groups->host : NULL, rows, NG_FP8_BLOCK);

    return make(p, (ng_array){.carrier = NG_CARRY_FP8_COL,
                              .batch = 1,
                              .rows = rows,
                              .cols = cols,
                              .blocks = blocks});
}

void ng_drop(ng_pass *p, ng_array *array)
{
    if (array->carrier != NG_CARRY_NONE)
        p->b->free(p->c, array->data);
    *array = (ng_array){.carrier = NG_CARRY_NONE};
}

int64_t *ng_make_integers(ng_pass *p, int64_t n)
{
    int64_t *integers;

    if (p->status != NG_OK)
        return NULL;
    integers = calloc((size_t)n + 1, sizeof *integers);
    if (integers == NULL)
        p->status = NG_NO_MEMORY;
    return integers;
}

void ng_become(ng_pass *p, ng_array *x, ng_carrier carrier)
{
    ng_array y;

    if (x->carrier == carrier || p->status != NG_OK)
        return;
    y = ng_make(p, carrier, x->rows, x->cols);
    ng_convert(p, &y, x, NULL);
    ng_drop(p, x);
    *x = y;
}

ng_borrowed ng_as(ng_pass *p, const ng_array *x, ng_carrier carrier)
{
    ng_borrowed borrowed = {*x, false};

    if (x->carrier == carrier || p->status != NG_OK)
        return borrowed;
    borrowed.owned = true;
    borrowed.a = ng_make(p, carrier, x->rows, x->cols);
    ng_convert(p, &borrowed.a, x, NULL);
    return borrowed;
}

ng_borrowed ng_as_col(ng_pass *p, const ng_array *x,
                      const ng_row_groups *groups)
{
    ng_borrowed borrowed = {*x, false};

    if (x->carrier == NG_CARRY_FP8_COL || p->status != NG_OK)
        return borrowed;
    borrowed.owned = true;
    borrowed.a = ng_make_col(p, x->rows, x->cols, groups);
    ng_convert(p, &borrowed.a, x, groups);
    return borrowed;
}

void ng_return(ng_pass *p, ng_borrowed *borrowed)
{
    if (borrowed->owned)
        ng_drop(p, &borrowed->a);
    borrowed->owned = false;
}
