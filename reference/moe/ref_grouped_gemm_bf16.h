/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_REFERENCE_MOE_REF_GROUPED_GEMM_BF16_H
#define NG_REFERENCE_MOE_REF_GROUPED_GEMM_BF16_H

#include "formats/layout.h"
#include "formats/options.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The products of ref_grouped_gemm_fprop.h and ref_grouped_gemm_wgrad.h for the
 * BF16 recipe: plain BF16 operands, no scales, nothing stored transposed.
 *
 * acc = fma(a, b, acc) in FP32 over the contraction in ascending order, from
 * +0. That is the order this project states; the operations are bounded, and
 * any other order of sums in FP32 is right too, cut or rounded
 * (conformance/oracle/oracle_gemm_bf16.h has the bound). D = acc, or RN32(C +
 * acc); BF16 rounds once more, nearest-even. NaN and infinities go by IEEE 754,
 * a NaN that is computed is canonical; subnormal numbers are kept. Empty groups
 * are legal; gaps, and rows past the last group, are neither read nor written.
 * Events count elements that are written as NaN, infinite or subnormal.
 * Both return NG_OK, or with d untouched NG_BAD_POINTER, NG_BAD_SHAPE,
 * NG_BAD_DTYPE, NG_BAD_LAYOUT, NG_BAD_GROUPS, NG_BAD_RULES. Source: semantics.md
 * 11; L-21, L-22. */

/* Multiply the rows of each group by that group's weights: D = A * B[g]^T.
 *   d        out [T, N], FP32 or BF16; not overlapping a or b
 *   a        in  [T, K], BF16
 *   b        in  [G * N, K], BF16: G matrices [N, K] stacked; G is the number
 *            of groups, 1 for a dense call
 *   options  groups of rows of a and d; events
 * K = 0 gives +0. The data gradient is the same call with rows of gradients and
 * the transposed weights. */
ng_status ng_ref_grouped_gemm_bf16_fprop(const ng_matrix *d, const ng_matrix *a,
                                         const ng_matrix *b,
                                         const ng_options *options);

/* The weight gradient of each group over its own rows: D[g] = A^T * B.
 *   d        out [G * N, K], FP32 or BF16; not overlapping a or b
 *   c        in  as d in shape and type, what the gradient is added to; null:
 *            overwrite; it may be d itself, or not overlap it
 *   a        in  [T, N], BF16
 *   b        in  [T, K], BF16
 *   options  groups of rows of a and b; events
 * An empty group gives +0 everywhere, or the bits of C as they are, which are
 * not counted. */
ng_status ng_ref_grouped_gemm_bf16_wgrad(const ng_matrix *d, const ng_matrix *c,
                                         const ng_matrix *a, const ng_matrix *b,
                                         const ng_options *options);

#ifdef __cplusplus
}
#endif

#endif
