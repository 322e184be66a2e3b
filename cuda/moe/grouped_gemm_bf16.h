/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_CUDA_MOE_GROUPED_GEMM_BF16_H
#define NG_CUDA_MOE_GROUPED_GEMM_BF16_H

#include "cuda/launch.h"
#include "formats/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The operations of reference/moe/ref_grouped_gemm_bf16.h on the GPU, bounded:
 * products are exact, sums are the tensor core's, in ascending order of the
 * contraction, 16 products at a time. The same bits in every run. Groups may
 * start at any row and need no padding; the host never reads their offsets.
 * Fast: rows of a and b on 16-byte boundaries, and pairs of elements of d
 * on one boundary each. Other rows of a and b are copied to the workspace
 * first.
 *   launch   a workspace as ..._workspace says; events: NaN, infinite and
 *            subnormal elements of d
 * Returns as launch.h says, NG_BAD_SHAPE also for T, N, K, G * N or a number of
 * tiles of 2^31 - 1024 and more, NG_NO_MEMORY for a workspace too small; never
 * a refusal. */

/* D [T, N] = A [T, K] * B[g] [N, K]^T; b [G * N, K]. The data gradient is the
 * same call with the transposed weights. */
ng_status ng_cuda_grouped_gemm_bf16_fprop(const ng_matrix *d,
                                          const ng_matrix *a,
                                          const ng_matrix *b,
                                          const ng_options *options,
                                          const ng_cuda_launch *launch);

/* D[g] [N, K] = A^T * B over the rows of group g of a [T, N] and b [T, K], or C
 * and that; d and c [G * N, K]. */
ng_status ng_cuda_grouped_gemm_bf16_wgrad(const ng_matrix *d,
                                          const ng_matrix *c,
                                          const ng_matrix *a,
                                          const ng_matrix *b,
                                          const ng_options *options,
                                          const ng_cuda_launch *launch);

/* How many bytes of workspace either takes: 0 where all rows of a and b lie on
 * 16-byte boundaries. */
int64_t ng_cuda_grouped_gemm_bf16_workspace(const ng_matrix *a,
                                            const ng_matrix *b);

#ifdef __cplusplus
}
#endif

#endif
