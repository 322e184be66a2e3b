/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_CONFORMANCE_ORACLE_QUANTIZE_FP8_H
#define NG_CONFORMANCE_ORACLE_QUANTIZE_FP8_H

#include "formats/options.h"

/* Quantize BF16, FP16 or FP32 to FP8 blocks, row, col or tile by y->form;
 * semantics section 4.
 *   y        out  scales FP32, or UE8M0 under rule fp8_scale pow2
 *   x        in   [rows, cols]
 *   options  rules fp8_scale, rounding (stochastic under pow2 only: the word of
 *            element row * cols + col), overflow, which only the directed
 *            roundings can meet; groups; events
 * Returns NG_OK, or NG_BAD_RULES, NG_BAD_DTYPE or NG_BAD_SHAPE with y
 * untouched. */
ng_status ng_oracle_quantize_fp8(const ng_fp8 *y, const ng_matrix *x,
                                 const ng_options *options);

#endif
