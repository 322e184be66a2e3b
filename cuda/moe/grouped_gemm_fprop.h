/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_CUDA_MOE_GROUPED_GEMM_FPROP_H
#define NG_CUDA_MOE_GROUPED_GEMM_FPROP_H

#include "cuda/launch.h"
#include "formats/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ng_ref_grouped_gemm_fprop on the GPU: D [T, N] = A [T, K] * B[g] [N, K]^T,
 * the rows ragged over groups; the data gradient is the same call with the
 * transposed weights, a dense product the same without groups.
 *   d        out [T, N], BF16 (fast) or FP32
 *   a        in  [T, K], form row
 *   b        in  [G * N, K], form tile, G matrices stacked
 *   options  groups of rows of a and d; of the rules, gemm is not read: every
 *            bit is that of profile hopper-wgmma, whatever is asked
 *   launch   a workspace as ng_cuda_grouped_gemm_fprop_workspace says; events:
 *            NaN, infinite and subnormal elements of d
 * Fast: codes, and rows of BF16 d, on 16-byte boundaries with every line, N a
 * multiple of 8; scales of a in FP32, stored transposed (ld 1) on such
 * boundaries. Codes off them are copied to the workspace first; other scales
 * are loaded by a warp. Groups may start at any row and need no padding; the
 * host never reads their offsets. The same bits in every run.
 * Returns as launch.h says, NG_BAD_SHAPE also for T, K, G * N or a number of
 * tiles of 2^31 - 1024 and more, NG_NO_MEMORY for a workspace too small; never
 * a refusal. */
ng_status ng_cuda_grouped_gemm_fprop(const ng_matrix *d, const ng_fp8 *a,
                                     const ng_fp8 *b, const ng_options *options,
                                     const ng_cuda_launch *launch);

/* How many bytes of workspace that takes: 0 where all codes lie on 16-byte
 * boundaries. */
int64_t ng_cuda_grouped_gemm_fprop_workspace(const ng_fp8 *a, const ng_fp8 *b);

#ifdef __cplusplus
}
#endif

#endif
