/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_REFERENCE_CONVERT_REF_DEQUANTIZE_MXFP4_H
#define NG_REFERENCE_CONVERT_REF_DEQUANTIZE_MXFP4_H

#include "formats/layout.h"
#include "formats/options.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Dequantize MXFP4: RN32(code * scale), and for a narrower type that FP32 value
 * rounded once more, nearest-even (two roundings: decode, then cast).
 *   y        out [rows, cols], FP32, BF16 or FP16
 *   x        in  [rows, cols]; scales UE8M0 or UE8M0X4; not overlapping y
 *   options  rules: overflow, of the second rounding only; groups, events
 * 4 and 6 under 2^126 and above become FP32 infinities; the narrower type then
 * saturates or keeps them as rules->overflow says. Elements under scale 0xFF
 * are the canonical NaN. Zero keeps its sign. Gaps, and rows past the last
 * group, are not touched.
 * Events: those of both roundings, ORed per element; NAN only under scale 0xFF.
 * Returns NG_OK, or with y untouched NG_BAD_POINTER, NG_BAD_SHAPE,
 * NG_BAD_DTYPE, NG_BAD_LAYOUT, NG_BAD_GROUPS, NG_BAD_RULES.
 * Source: semantics.md 1 (decoding) and 2. */
ng_status ng_ref_dequantize_mxfp4(const ng_matrix *y, const ng_mxfp4 *x,
                                  const ng_options *options);

#ifdef __cplusplus
}
#endif

#endif
