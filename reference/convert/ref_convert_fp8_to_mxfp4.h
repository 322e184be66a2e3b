/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_REFERENCE_CONVERT_REF_CONVERT_FP8_TO_MXFP4_H
#define NG_REFERENCE_CONVERT_REF_CONVERT_FP8_TO_MXFP4_H

#include "formats/layout.h"
#include "formats/options.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Convert FP8 to MXFP4: section 3's quantization of the exact real values
 * code * scale, with no format between.
 *   y        out [rows, cols]; scales UE8M0 or UE8M0X4
 *   x        in  [rows, cols]; form row or tile; scales FP32, UE8M0 or UE8M0X4,
 *            any value of theirs, negative ones too; not overlapping y
 *   options  rules: mxfp4_scale, rounding (all of them: the scale is a power of
 *            two, so the place between two codes is exact; stochastic takes the
 *            random word of element row * cols + col); groups, random, events
 * A NaN code makes its block of 32 NaN (scale 0xFF, codes 0), a scale that is
 * not finite all blocks under it, whatever their codes. Where the exact amax
 * asks for more than 2^127 the scale stops there and elements saturate. The
 * sign of code * scale is kept, of zero too. Short blocks, the spare nibble,
 * packed scale words, gaps and rows past the last group: as
 * ng_ref_quantize_mxfp4. scales.pow2 is not read: it changes no result here.
 * Events: those of each element's one rounding; in a NaN block NAN only.
 * Returns NG_OK, or with y untouched NG_BAD_POINTER, NG_BAD_SHAPE,
 * NG_BAD_DTYPE, NG_BAD_LAYOUT (also form col), NG_BAD_GROUPS, NG_BAD_RULES,
 * NG_NO_MEMORY.
 * Source: semantics.md 7. */
ng_status ng_ref_convert_fp8_to_mxfp4(const ng_mxfp4 *y, const ng_fp8 *x,
                                      const ng_options *options);

#ifdef __cplusplus
}
#endif

#endif
