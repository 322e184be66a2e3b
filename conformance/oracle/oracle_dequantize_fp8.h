/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_CONFORMANCE_ORACLE_DEQUANTIZE_FP8_H
#define NG_CONFORMANCE_ORACLE_DEQUANTIZE_FP8_H

#include "formats/options.h"

/* Decode FP8 of any form to FP32, BF16 or FP16: RN32(code * scale), rounded
 * once more, nearest even under the overflow rule, where y is narrower. Scales
 * are any FP32 numbers, infinite and negative ones by the rules of IEEE 754.
 * The events of both roundings are ORed.
 *   y        out  [rows, cols]
 *   x        in   scales FP32 or UE8M0
 * Returns NG_OK, or NG_BAD_DTYPE or NG_BAD_SHAPE with y untouched. */
ng_status ng_oracle_dequantize_fp8(const ng_matrix *y, const ng_fp8 *x,
                                   const ng_options *options);

#endif
