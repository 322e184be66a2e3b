/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_REFERENCE_CONVERT_REF_CONVERT_FP8_ROW_TO_COL_H
#define NG_REFERENCE_CONVERT_REF_CONVERT_FP8_ROW_TO_COL_H

#include "formats/layout.h"
#include "formats/options.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Convert FP8 from blocks along the rows to blocks along the columns, which
 * also transposes the codes: what a weight gradient wants.
 *   y        out [rows, cols], form col; scales FP32, UE8M0 or UE8M0X4
 *   x        in  [rows, cols], form row; not overlapping y
 *   options  rules, groups, random, events
 * Where x->scales are powers of two (pow2 is set, or UE8M0 or UE8M0X4):
 *   S = 2^E, E the largest exponent among the scales that are not NaN (1 if all
 *   are; as UE8M0 not below 2^-127); code = RNE_E4M3(code * scale / S). NaN
 *   codes and elements under NaN scales become 0x7F, and no others do. An FP32
 *   scale may be any power of two, 2^-149 .. 2^127, or NaN. rules: rounding
 *   must be nearest-even; fp8_scale and headroom are not read.
 * Where they are general FP32 numbers:
 *   section 4 on v = RN32(code * scale), exactly as ng_ref_quantize_fp8 of the
 *   dequantized FP32 tensor under the same rules: fp8_scale, rounding,
 *   overflow; UE8M0 scales of y and stochastic rounding only with pow2. A v
 *   that is NaN or infinite makes its block NaN: scale NaN, codes 0x7F.
 * No block spans two groups. Absent bytes of a packed scale word are written as
 * 0; gaps, and rows past the last group, are not touched.
 * Events: those of the rounding to E4M3, with general scales also those of the
 * rounding to v; NAN only where the code comes out NaN by
 * a NaN code, scale or block.
 * Returns NG_OK, or with y untouched NG_BAD_POINTER, NG_BAD_SHAPE,
 * NG_BAD_DTYPE, NG_BAD_LAYOUT (also other forms), NG_BAD_GROUPS, NG_BAD_RULES,
 * NG_BAD_SCALE (declared a power of two, and is none), NG_NO_MEMORY.
 * Source: semantics.md 6; L-29. */
ng_status ng_ref_convert_fp8_row_to_col(const ng_fp8 *y, const ng_fp8 *x,
                                        const ng_options *options);

#ifdef __cplusplus
}
#endif

#endif
