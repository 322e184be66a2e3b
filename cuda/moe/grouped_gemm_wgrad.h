/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_CUDA_MOE_GROUPED_GEMM_WGRAD_H
#define NG_CUDA_MOE_GROUPED_GEMM_WGRAD_H

#include "cuda/launch.h"
#include "formats/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ng_ref_grouped_gemm_wgrad on the GPU: D[g] [N, K] = (C[g] +) A^T * B over the
 * rows of group g.
 *   d        out [G * N, K], FP32 (fast) or BF16; G matrices stacked
 *   c        in  as d in shape and type, null to overwrite; d itself, or apart
 *   a        in  [T, N], form col; b in [T, K], form col
 *   options  groups of rows of a and b; of the rules, gemm is not read: every
 *            bit is that of profile hopper-wgmma, whatever is asked
 *   launch   a workspace as ng_cuda_grouped_gemm_wgrad_workspace says; events:
 *            NaN, infinite and subnormal elements of d
 * Fast: codes, and lines of FP32 d, on 16-byte boundaries, K a multiple of 4;
 * scales in FP32, stored transposed (ld 1) on such boundaries; c null or d.
 * Groups may start at any row and end within a block of 128, without padding,
 * and may be empty; the host never reads their offsets. Groups that do not
 * start on a multiple of 16 rows are first copied to where they do. The same
 * bits in every run.
 * Returns as launch.h says, NG_BAD_SHAPE also for T + 16 * G, N, K, G * N,
 * G * (N + K) / 16 or a number of tiles of 2^31 - 1024 and more, NG_NO_MEMORY
 * for a workspace too small; never a refusal. */
ng_status ng_cuda_grouped_gemm_wgrad(const ng_matrix *d, const ng_matrix *c,
                                     const ng_fp8 *a, const ng_fp8 *b,
                                     const ng_options *options,
                                     const ng_cuda_launch *launch);

/* How many bytes of workspace that takes: (N + K) * (T + 16 * G), about. */
int64_t ng_cuda_grouped_gemm_wgrad_workspace(const ng_fp8 *a, const ng_fp8 *b,
                                             const ng_options *options);

#ifdef __cplusplus
}
#endif

#endif
