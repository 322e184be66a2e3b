/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_CONFORMANCE_ORACLE_CONVERT_FP8_TO_MXFP4_H
#define NG_CONFORMANCE_ORACLE_CONVERT_FP8_TO_MXFP4_H

#include "formats/options.h"

/* Convert FP8, row or tile, to MXFP4 from the exact values code * scale;
 * semantics section 7.
 *   y        out  [rows, cols]
 *   x        in   form row or tile; scales FP32 or UE8M0
 *   options  rules mxfp4_scale, rounding (stochastic: the word of element
 *            row * cols + col); groups; events
 * Returns NG_OK, or NG_BAD_DTYPE, NG_BAD_LAYOUT (col) or NG_BAD_SHAPE with y
 * untouched. */
ng_status ng_oracle_convert_fp8_to_mxfp4(const ng_mxfp4 *y, const ng_fp8 *x,
                                         const ng_options *options);

#endif
