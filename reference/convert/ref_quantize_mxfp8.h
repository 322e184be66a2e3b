/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_REFERENCE_CONVERT_REF_QUANTIZE_MXFP8_H
#define NG_REFERENCE_CONVERT_REF_QUANTIZE_MXFP8_H

#include "formats/layout.h"
#include "formats/options.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Quantize rows of numbers to MXFP8: E4M3 elements in blocks of 32 along cols,
 * one UE8M0 scale each, chosen by the block's largest magnitude as MXFP4's is.
 *   y        out [rows, cols]; scales UE8M0 or UE8M0X4
 *   x        in  [rows, cols], FP32, BF16 or FP16; not overlapping y
 *   options  rules: mxfp8_scale, rounding (all of them; stochastic takes the
 *            random word of element row * cols + col), overflow; groups,
 *            random, events
 * A block that holds a NaN or an infinity gets scale 0xFF and codes 0x7F. Zero,
 * and what rounds to it, keep the sign. What rounds past 448 scales, which under
 * nearest-even only scale floor (amax above 464 to 512 scales) and even (to 496)
 * leave there, becomes 0x7E, or a NaN under overflow ieee, with its sign. A
 * short last block is coded from the elements it has; the absent bytes of a
 * packed scale word are written as 0. Gaps, and rows past the last group, are
 * not touched.
 * Events: those of each element's one rounding; in a NaN block NAN only. The
 * choice of the scale counts none.
 * Returns NG_OK, or with y untouched NG_BAD_POINTER, NG_BAD_SHAPE,
 * NG_BAD_DTYPE, NG_BAD_LAYOUT, NG_BAD_GROUPS, NG_BAD_RULES.
 * Source: semantics.md 2 and 3; OCP MX v1.0. */
ng_status ng_ref_quantize_mxfp8(const ng_mxfp8 *y, const ng_matrix *x,
                                const ng_options *options);

#ifdef __cplusplus
}
#endif

#endif
