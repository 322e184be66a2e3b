/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_REFERENCE_MOE_REF_GROUPED_GEMM_FPROP_H
#define NG_REFERENCE_MOE_REF_GROUPED_GEMM_FPROP_H

#include "formats/layout.h"
#include "formats/options.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Multiply the rows of each group by that group's weights: D = A * B[g]^T.
 *   d        out [T, N], FP32 or BF16; not overlapping a or b
 *   a        in  [T, K], FP8 form row: a scale for 128 of K
 *   b        in  [G * N, K], FP8 form tile: G matrices [N, K] stacked
 *            (formats/layout.h), a scale for 128x128; G is the number of
 *            groups, 1 for a dense call
 *   options  rules: gemm; groups of rows of a and d; events
 * Scales FP32 (any value), UE8M0 or UE8M0X4, each operand its own. D = acc with
 * acc = fma(RN32(s_a * s_b), p, acc) over blocks of 128 of K in ascending
 * order, from +0; p is RN32 of the block's exact dot product, or under gemm
 * hopper-wgmma what that tensor core makes of it. The last block may be short.
 * BF16 rounds acc once more, nearest-even. A NaN code or scale makes its block,
 * so the element, the canonical NaN. K = 0 gives +0. Empty groups are legal;
 * gaps, and rows past the last group, are neither read nor written.
 * The data gradient is the same call: rows of gradients [T, N] by the
 * transposed weights [G * K, N] (transpose_fp8_tile). Events count elements
 * that are written as NaN, infinite or subnormal. Returns NG_OK, or with d
 * untouched NG_BAD_POINTER, NG_BAD_SHAPE, NG_BAD_DTYPE, NG_BAD_LAYOUT,
 * NG_BAD_GROUPS, NG_BAD_RULES. Source: semantics.md 11; L-13 to L-15, L-22. */
ng_status ng_ref_grouped_gemm_fprop(const ng_matrix *d, const ng_fp8 *a,
                                    const ng_fp8 *b, const ng_options *options);

/* The same with activations in MXFP4, a [T, K] with UE8M0 or UE8M0X4 scales:
 * converted to FP8 rows with FP32 scales (semantics 5; rules: headroom), then
 * multiplied. Same bits as ng_ref_convert_mxfp4_to_fp8 followed by the above.
 * Returns also NG_NO_MEMORY. */
ng_status ng_ref_grouped_gemm_mxfp4_fprop(const ng_matrix *d, const ng_mxfp4 *a,
                                          const ng_fp8 *b,
                                          const ng_options *options);

#ifdef __cplusplus
}
#endif

#endif
