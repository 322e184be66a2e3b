/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_REFERENCE_CONVERT_REF_CONVERT_MXFP4_TO_FP8_H
#define NG_REFERENCE_CONVERT_REF_CONVERT_MXFP4_TO_FP8_H

#include "formats/layout.h"
#include "formats/options.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Convert MXFP4 to FP8 by hierarchical scale alignment: the blocks of one FP8
 * block come under one scale S = 2^(E - H), E the largest exponent among their
 * scales that are not NaN, H = rules->headroom. Only exponents move.
 *   y        out [rows, cols]; form row, or form col, which also transposes;
 *            scales FP32 (subnormal where it must be), or UE8M0 or UE8M0X4,
 *            then S = 2^max(E - H, -127)
 *   x        in  [rows, cols]; scales UE8M0 or UE8M0X4; not overlapping y
 *   options  rules: headroom, overflow (met only with a headroom above 6);
 *            rounding must be nearest-even; groups, events
 * Every code is RNE_E4M3(q * 2^e / S). Elements under scale 0xFF become 0x7F
 * and leave their neighbours alone; where all scales are NaN, S = 1. Zero keeps
 * its sign. In the col form no block spans two groups. Absent bytes of a packed
 * scale word are written as 0; gaps, and rows past the last group, are not
 * touched.
 * All codes are numerically the same iff E - e <= 8 + H for every block
 * (section 5's theorem). Beyond, events count: INEXACT is the number of
 * elements whose value changed. An element under scale 0xFF counts NAN only.
 * Returns NG_OK, or with y untouched NG_BAD_POINTER, NG_BAD_SHAPE,
 * NG_BAD_DTYPE, NG_BAD_LAYOUT (also form tile), NG_BAD_GROUPS, NG_BAD_RULES,
 * NG_NO_MEMORY.
 * Source: semantics.md 5 and 6; L-16. */
ng_status ng_ref_convert_mxfp4_to_fp8(const ng_fp8 *y, const ng_mxfp4 *x,
                                      const ng_options *options);

#ifdef __cplusplus
}
#endif

#endif
