/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_CONFORMANCE_ORACLE_CONVERT_MXFP4_TO_FP8_H
#define NG_CONFORMANCE_ORACLE_CONVERT_MXFP4_TO_FP8_H

#include "formats/options.h"

/* Convert MXFP4 to FP8, row (semantics section 5) or col (section 6).
 *   y        out  form row or col; scales FP32 or UE8M0
 *   x        in   [rows, cols]
 *   options  rules headroom, overflow (met above headroom 6 only), rounding,
 *            which must be nearest-even; groups; events, whose inexact count is
 *            the number of elements that changed
 * Returns NG_OK, or NG_BAD_RULES, NG_BAD_DTYPE, NG_BAD_LAYOUT (tile) or
 * NG_BAD_SHAPE with y untouched. */
ng_status ng_oracle_convert_mxfp4_to_fp8(const ng_fp8 *y, const ng_mxfp4 *x,
                                         const ng_options *options);

#endif
