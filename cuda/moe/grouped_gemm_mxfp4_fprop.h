/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_CUDA_MOE_GROUPED_GEMM_MXFP4_FPROP_H
#define NG_CUDA_MOE_GROUPED_GEMM_MXFP4_FPROP_H

#include "cuda/launch.h"
#include "formats/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ng_ref_grouped_gemm_mxfp4_fprop on the GPU: as ng_cuda_grouped_gemm_fprop
 * (grouped_gemm_fprop.h), with A in MXFP4, converted on its way to the tensor
 * core. Same bits as ng_cuda_convert_mxfp4_to_fp8, form row with FP32 scales,
 * followed by that.
 *   d        out [T, N], BF16 (fast) or FP32
 *   a        in  [T, K], scales UE8M0 or UE8M0X4. The spare nibble of a row of
 *            odd K, if it is not zero, may reach d where the rules' headroom is
 *            above 6 and overflow gives NaN
 *   b        in  [G * N, K], form tile, G matrices stacked
 *   options  groups; of the rules headroom, and overflow for headrooms above 6;
 *            rounding must be nearest-even
 *   launch   a workspace as ..._workspace says; events: NaN, infinite and
 *            subnormal elements of d
 * Fast: codes, scales of a, and rows of BF16 d on 16-byte boundaries with every
 * line, scales of a side by side (step 1), N a multiple of 8. Codes off them
 * are copied to the workspace first; other scales are loaded by a warp.
 * Returns as ng_cuda_grouped_gemm_fprop, and NG_BAD_RULES. */
ng_status ng_cuda_grouped_gemm_mxfp4_fprop(const ng_matrix *d,
                                           const ng_mxfp4 *a, const ng_fp8 *b,
                                           const ng_options *options,
                                           const ng_cuda_launch *launch);

/* How many bytes of workspace that takes: 0 where all codes lie on 16-byte
 * boundaries. */
int64_t ng_cuda_grouped_gemm_mxfp4_fprop_workspace(const ng_mxfp4 *a,
                                                   const ng_fp8 *b);

#ifdef __cplusplus
}
#endif

#endif
