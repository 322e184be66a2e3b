/* SPDX-License-Identifier: Apache-2.0
 *
 * The views of formats/layout.h over an array of the backend. Private to the
 * reference backend and its tests.
 */
#ifndef NG_REFERENCE_MODEL_REF_VIEWS_ARRAY_H
#define NG_REFERENCE_MODEL_REF_VIEWS_ARRAY_H

#include "formats/layout.h"
#include "reference/backend.h"

/* FP32 or BF16; a batch is stacked. */
static inline ng_matrix ng_ref_matrix_view(const ng_array *a)
{
    return (ng_matrix){a->data, a->carrier == NG_CARRY_FP32 ? NG_FP32 : NG_BF16,
                       a->batch * a->rows, a->cols, a->cols};
}

/* FP8 of any form; a batch of tiles is stacked. */
static inline ng_fp8 ng_ref_fp8_view(const ng_array *a)
{
    const int64_t wide = ng_ceil_div(a->cols, NG_FP8_BLOCK);
    const bool col = a->carrier == NG_CARRY_FP8_COL;

    return (ng_fp8){
        a->data,
        col                               ? NG_FP8_COL
        : a->carrier == NG_CARRY_FP8_TILE ? NG_FP8_TILE
                                          : NG_FP8_ROW,
        a->batch * a->rows,
        a->cols,
        col ? a->rows : a->cols,
        {a->scales, NG_FP32, true, col ? a->blocks : wide, 1},
    };
}

/* A batch is stacked. */
static inline ng_mxfp4 ng_ref_mxfp4_view(const ng_array *a)
{
    return (ng_mxfp4){
        a->data,
        a->batch * a->rows,
        a->cols,
        ng_ceil_div(a->cols, 2),
        {a->scales, NG_UE8M0, true, ng_ceil_div(a->cols, NG_MXFP4_BLOCK), 1},
    };
}

#endif
