/* SPDX-License-Identifier: Apache-2.0
 *
 * convert and transpose of the backend table; see reference/backend.h.
 * Private to the reference backend.
 */
#ifndef NG_REFERENCE_MODEL_REF_CONVERT_ARRAY_H
#define NG_REFERENCE_MODEL_REF_CONVERT_ARRAY_H

#include "reference/backend.h"

ng_status ng_ref_convert_array(void *context, const ng_array *y,
                               const ng_array *x, const ng_row_groups *groups,
                               ng_events *events);
ng_status ng_ref_transpose_array(void *context, const ng_array *y,
                                 const ng_array *x);

/* A block of rows, at most 128 of one group, as block `index` of a col form. */
typedef struct ng_ref_row_block {
    int64_t first, n, index;
} ng_ref_row_block;

/* The blocks of groups (null: one of all rows), malloc'd; null without memory.
 */
ng_ref_row_block *ng_ref_row_blocks(int64_t *n, const ng_row_groups *groups,
                                    int64_t rows);

/* Quantise a row x [y->cols] into row `row` of an FP8 or MXFP4 array. */
void ng_ref_quantize_row(const ng_array *y, int64_t row, const float *x,
                         ng_events *events);

/* Quantise a block of rows x [n][cols] into block `index` of a col form, at its
 * rows first ... scratch holds 128 floats. */
void ng_ref_quantize_col_block(const ng_array *y, const ng_ref_row_block *block,
                               const float *x, float *scratch,
                               ng_events *events);

/* Add counts of one thread to those of all; sum may be null. */
void ng_ref_add_events(ng_events *sum, const ng_events *mine);

#endif
