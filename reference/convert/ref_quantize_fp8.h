/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_REFERENCE_CONVERT_REF_QUANTIZE_FP8_H
#define NG_REFERENCE_CONVERT_REF_QUANTIZE_FP8_H

#include "formats/layout.h"
#include "formats/options.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Quantize numbers to FP8 (E4M3) with one scale a block: 128 elements of a row,
 * 128 of a column (written transposed), or a tile of 128 x 128.
 *   y        out [rows, cols]; form row, col or tile; scales FP32, or UE8M0 or
 *            UE8M0X4 with rules->fp8_scale pow2
 *   x        in  [rows, cols], FP32, BF16 or FP16; not overlapping y
 *   options  rules: fp8_scale, rounding (stochastic with pow2 scales only, word
 *            of element row * cols + col in every form), overflow (nearest
 *            roundings never meet it); groups, random, events
 * The code is the exact quotient by the stored scale, rounded once. A block
 * that holds a NaN or an infinity gets a NaN scale and codes 0x7F; one of zeros
 * gets scale 1. Zero keeps its sign. No block along the rows spans two groups;
 * short blocks are coded from the elements they have; absent bytes of a packed
 * scale word are written as 0. Gaps, and rows past the last group, are not
 * touched.
 * Events: those of each element's one rounding; in a NaN block NAN only. The
 * choice of the scale counts none.
 * Returns NG_OK, or with y untouched NG_BAD_POINTER, NG_BAD_SHAPE,
 * NG_BAD_DTYPE, NG_BAD_LAYOUT, NG_BAD_GROUPS, NG_BAD_RULES (also the
 * combinations above), NG_NO_MEMORY.
 * Source: semantics.md 2 and 4. */
ng_status ng_ref_quantize_fp8(const ng_fp8 *y, const ng_matrix *x,
                              const ng_options *options);

#ifdef __cplusplus
}
#endif

#endif
