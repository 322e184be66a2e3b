/* SPDX-License-Identifier: Apache-2.0
 *
 * The linear layers of the backend table; see reference/backend.h.
 * Private to the reference backend.
 *
 * BF16 and FP32 operands: acc = acc + a * b in FP32, both rounded, from +0 in
 * ascending order of the summed index: |error| <= n u sum |a b| / (1 - n u), u
 * = 2^-24, n the number of products (Higham, Accuracy and Stability, 3.1, with
 * one more rounding for the product; the first addition is exact). FP8
 * operands: semantics.md 11. The dot of a block of 128 is exact: products of
 * E4M3 are multiples of 2^-18 below 2^18, 128 of them fit 43 bits, so that FP64
 * holds every partial sum in any order; then acc = fma(RN32(s_a * s_b),
 * RN32(dot), acc).
 */
#ifndef NG_REFERENCE_MODEL_REF_LINEAR_H
#define NG_REFERENCE_MODEL_REF_LINEAR_H

#include "reference/backend.h"

ng_status ng_ref_linear(void *context, const ng_array *y, const ng_array *x,
                        const ng_array *w, const ng_row_groups *groups);
ng_status ng_ref_linear_backward(void *context, const ng_array *grad_x,
                                 const ng_array *grad_y, const ng_array *w,
                                 const ng_array *w_transposed,
                                 const ng_row_groups *groups);
ng_status ng_ref_linear_weight(void *context, const ng_array *grad_w,
                               const ng_array *grad_y, const ng_array *x,
                               const ng_row_groups *groups, bool accumulate);

/* ---- the two products, on operands as they lie --------------------------- */

/* Element (line, p) of an FP32 or BF16 operand: unit line*line_step + p*p_step.
 */
typedef struct ng_ref_operand {
    const void *data;
    ng_carrier carrier;
    int64_t line_step, p_step;
} ng_ref_operand;

/* y[i][j] (+)= sum over p of a(i, p) * b(j, p), i < rows, j < y->cols, into
 * rows first_row .. of y. */
ng_status ng_ref_product(const ng_array *y, int64_t first_row, int64_t rows,
                         const ng_ref_operand *a, const ng_ref_operand *b,
                         int64_t products, bool accumulate);

/* An FP8 operand: code (line, p) is codes[line * ld + p]; its scale is
 * scales[line / lines_a_scale * scale_ld + (number of the block)]. */
typedef struct ng_ref_fp8_operand {
    const uint8_t *codes;
    int64_t ld;
    const float *scales;
    int64_t lines_a_scale, scale_ld;
} ng_ref_fp8_operand;

/* The same for FP8, p = first_p .. first_p + products - 1 in blocks of 128, the
 * first of them number first_block. */
ng_status ng_ref_fp8_product(const ng_array *y, int64_t first_row, int64_t rows,
                             const ng_ref_fp8_operand *a,
                             const ng_ref_fp8_operand *b, int64_t first_p,
                             int64_t products, int64_t first_block,
                             bool accumulate);

#endif
