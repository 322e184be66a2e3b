/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_CONFORMANCE_ORACLE_CONVERT_FP8_ROW_TO_COL_H
#define NG_CONFORMANCE_ORACLE_CONVERT_FP8_ROW_TO_COL_H

#include "formats/options.h"

/* Convert FP8 row to FP8 col; semantics section 6.
 *   y        out  form col; scales FP32 or UE8M0
 *   x        in   form row. Power-of-two scales (x->scales.pow2, or UE8M0) are
 *            aligned with headroom 0, nearest-even only; under others, the
 *            values RN32(code * scale) are quantized as in section 4
 *   options  rules as for quantize_fp8 in the general case; groups; events, in
 *            the general case those of both roundings ORed
 * Returns NG_OK, or with y untouched NG_BAD_SCALE (a scale declared a power of
 * two is neither 2^-127 .. 2^127 nor NaN), NG_BAD_RULES, NG_BAD_LAYOUT or
 * NG_BAD_SHAPE. */
ng_status ng_oracle_convert_fp8_row_to_col(const ng_fp8 *y, const ng_fp8 *x,
                                           const ng_options *options);

#endif
