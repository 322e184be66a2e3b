/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_REFERENCE_CONVERT_REF_DEQUANTIZE_FP8_H
#define NG_REFERENCE_CONVERT_REF_DEQUANTIZE_FP8_H

#include "formats/layout.h"
#include "formats/options.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Dequantize FP8 of any form: RN32(code * scale), and for a narrower type that
 * FP32 value rounded once more, nearest-even (decode, then cast).
 *   y        out [rows, cols], FP32, BF16 or FP16; row-major whatever x is
 *   x        in  [rows, cols]; row, col or tile; scales FP32, UE8M0 or UE8M0X4,
 *            any value of theirs; not overlapping y
 *   options  rules: overflow, of the second rounding only; groups, events
 * A NaN code, a NaN scale and 0 * Inf give the canonical NaN. The product can
 * become an FP32 infinity, which the narrower type saturates or keeps as
 * rules->overflow says. Zero keeps its sign. scales.pow2 is not read: it
 * changes no result here. Gaps, and rows past the last group, are not touched.
 * Events: those of both roundings, ORed per element; NAN only where it is NaN.
 * Returns NG_OK, or with y untouched NG_BAD_POINTER, NG_BAD_SHAPE,
 * NG_BAD_DTYPE, NG_BAD_LAYOUT, NG_BAD_GROUPS, NG_BAD_RULES, NG_NO_MEMORY.
 * Source: semantics.md 1 (decoding) and 2. */
ng_status ng_ref_dequantize_fp8(const ng_matrix *y, const ng_fp8 *x,
                                const ng_options *options);

#ifdef __cplusplus
}
#endif

#endif
