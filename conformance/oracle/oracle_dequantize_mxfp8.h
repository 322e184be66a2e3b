/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_CONFORMANCE_ORACLE_DEQUANTIZE_MXFP8_H
#define NG_CONFORMANCE_ORACLE_DEQUANTIZE_MXFP8_H

#include "formats/options.h"

/* Decode MXFP8 to FP32, BF16 or FP16: RN32(code * scale), rounded once more,
 * nearest even under the overflow rule, where y is narrower; semantics
 * section 1. The events of both roundings are ORed.
 *   y        out  [rows, cols]
 *   x        in   [rows, cols]
 * Returns NG_OK, or NG_BAD_DTYPE or NG_BAD_SHAPE with y untouched. */
ng_status ng_oracle_dequantize_mxfp8(const ng_matrix *y, const ng_mxfp8 *x,
                                     const ng_options *options);

#endif
