/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_CONFORMANCE_ORACLE_QUANTIZE_MXFP8_H
#define NG_CONFORMANCE_ORACLE_QUANTIZE_MXFP8_H

#include "formats/options.h"

/* Quantize BF16, FP16 or FP32 rows to MXFP8; semantics section 3.
 *   y        out  [rows, cols], one UE8M0 scale per 32 columns
 *   x        in   [rows, cols]
 *   options  rules mxfp8_scale, rounding (stochastic: the word of element
 *            row * cols + col) and overflow; groups limit the rows; events
 * Returns NG_OK, or NG_BAD_DTYPE or NG_BAD_SHAPE with y untouched. */
ng_status ng_oracle_quantize_mxfp8(const ng_mxfp8 *y, const ng_matrix *x,
                                   const ng_options *options);

#endif
