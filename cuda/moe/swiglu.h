/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_CUDA_MOE_SWIGLU_H
#define NG_CUDA_MOE_SWIGLU_H

#include "cuda/launch.h"
#include "formats/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ng_ref_swiglu ... on the GPU; arguments and results are those of
 * reference/moe/ref_swiglu.h, values within the bounds of the operation, codes
 * and scales exact on the values.
 *   launch  events; workspace where what is quantised has nowhere to lie and
 *           the call is not fast: ng_cuda_swiglu_workspace(rows, cols, n) bytes
 *           for n = 1 matrix without `values`, or 2 without grad_gate and
 *           grad_up
 * Fast, in one pass and without a workspace: quantisation nearest-even without
 * events, y of form row and no y_col, cols a multiple of 16, all lines on
 * 16-byte boundaries (codes of MXFP4 on 8-byte ones). The rest makes the values
 * first and quantises them by ng_cuda_quantize_*.
 * Returns as launch.h says, NG_BAD_POINTER also for a workspace that is wanted
 * and missing, too small or off a 256-byte boundary. Never a refusal. */
ng_status ng_cuda_swiglu(const ng_matrix *y, const ng_matrix *gate,
                         const ng_matrix *up, const ng_options *options,
                         const ng_cuda_launch *launch);
ng_status ng_cuda_swiglu_mxfp4(const ng_mxfp4 *y, const ng_matrix *values,
                               const ng_matrix *gate, const ng_matrix *up,
                               const ng_options *options,
                               const ng_cuda_launch *launch);
ng_status ng_cuda_swiglu_fp8(const ng_fp8 *y, const ng_fp8 *y_col,
                             const ng_matrix *values, const ng_matrix *gate,
                             const ng_matrix *up, const ng_options *options,
                             const ng_cuda_launch *launch);
ng_status ng_cuda_swiglu_backward(const ng_matrix *grad_gate,
                                  const ng_matrix *grad_up,
                                  const ng_matrix *grad_y,
                                  const ng_matrix *gate, const ng_matrix *up,
                                  const ng_options *options,
                                  const ng_cuda_launch *launch);
ng_status ng_cuda_swiglu_backward_fp8(
    const ng_fp8 *y_gate, const ng_fp8 *y_up, const ng_matrix *grad_gate,
    const ng_matrix *grad_up, const ng_matrix *grad_y, const ng_matrix *gate,
    const ng_matrix *up, const ng_options *options,
    const ng_cuda_launch *launch);

/* Bytes for n FP32 matrices; 0 if they pass INT64_MAX. */
int64_t ng_cuda_swiglu_workspace(int64_t rows, int64_t cols, int n);

#ifdef __cplusplus
}
#endif

#endif
