/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_REFERENCE_MOE_REF_GROUPED_GEMM_WGRAD_H
#define NG_REFERENCE_MOE_REF_GROUPED_GEMM_WGRAD_H

#include "formats/layout.h"
#include "formats/options.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The weight gradient of each group over its own rows: D[g] = A^T * B, the
 * contraction ragged.
 *   d        out [G * N, K], FP32 or BF16: G matrices [N, K] stacked; not
 *            overlapping a or b
 *   c        in  as d in shape and type, what the gradient is added to; null:
 *            overwrite; it may be d itself, or not overlap it
 *   a        in  [T, N], FP8 form col: codes [N, T], a scale for 128 rows
 *   b        in  [T, K], FP8 form col: codes [K, T], a scale for 128 rows
 *   options  rules: gemm; groups of rows of a and b (G of them; dense: one);
 *            events
 * Scales FP32 (any value), UE8M0 or UE8M0X4, each operand its own. acc as in
 * ref_grouped_gemm_fprop.h, over the blocks of 128 rows of the group, counted
 * from its first row, the last may be short; D = acc, or RN32(C + acc), then
 * rounded once more for BF16. An empty group gives +0 everywhere, or the bits
 * of C as they are. Rows past the last group are not read. Events count
 * elements that are written as NaN, infinite or subnormal; those of C that an
 * empty group leaves are not counted. Returns NG_OK, or with d untouched
 * NG_BAD_POINTER, NG_BAD_SHAPE, NG_BAD_DTYPE (also c of another type than d),
 * NG_BAD_LAYOUT, NG_BAD_GROUPS, NG_BAD_RULES, NG_NO_MEMORY. Source:
 * semantics.md 11; L-21, L-22. */
ng_status ng_ref_grouped_gemm_wgrad(const ng_matrix *d, const ng_matrix *c,
                                    const ng_fp8 *a, const ng_fp8 *b,
                                    const ng_options *options);

/* The same with the activations in MXFP4, b [T, K] row-quantized with UE8M0 or
 * UE8M0X4 scales: converted to FP8 col with FP32 scales (semantics 6; rules:
 * headroom), then multiplied. */
ng_status ng_ref_grouped_gemm_mxfp4_wgrad(const ng_matrix *d,
                                          const ng_matrix *c, const ng_fp8 *a,
                                          const ng_mxfp4 *b,
                                          const ng_options *options);

#ifdef __cplusplus
}
#endif

#endif
