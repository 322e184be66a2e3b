/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_REFERENCE_CONVERT_REF_DEQUANTIZE_MXFP8_H
#define NG_REFERENCE_CONVERT_REF_DEQUANTIZE_MXFP8_H

#include "formats/layout.h"
#include "formats/options.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Dequantize MXFP8: RN32(code * scale), and for a narrower type that FP32 value
 * rounded once more, nearest-even (two roundings: decode, then cast).
 *   y        out [rows, cols], FP32, BF16 or FP16
 *   x        in  [rows, cols]; scales UE8M0 or UE8M0X4; not overlapping y
 *   options  rules: overflow, of the second rounding only; groups, events
 * What passes FP32, from 256 under 2^120 on, becomes an infinity; the narrower
 * type then saturates or keeps it as rules->overflow says. A NaN code, of either
 * sign, and every element under scale 0xFF are the canonical NaN. Zero keeps its
 * sign; the least scales take the products below FP32's least subnormal, which
 * is rounded to, not flushed. Gaps, and rows past the last group, are not
 * touched.
 * Events: those of both roundings, ORed per element; NAN only where the result
 * is one.
 * Returns NG_OK, or with y untouched NG_BAD_POINTER, NG_BAD_SHAPE,
 * NG_BAD_DTYPE, NG_BAD_LAYOUT, NG_BAD_GROUPS, NG_BAD_RULES.
 * Source: semantics.md 1 (decoding) and 2. */
ng_status ng_ref_dequantize_mxfp8(const ng_matrix *y, const ng_mxfp8 *x,
                                  const ng_options *options);

#ifdef __cplusplus
}
#endif

#endif
