/* SPDX-License-Identifier: Apache-2.0
 *
 * The fast paths of swiglu.h. Arguments have been checked; each says whether it
 * takes them, and then enqueues. A matrix without data is not wanted.
 */
#ifndef NG_CUDA_MOE_SWIGLU_FAST_CUH
#define NG_CUDA_MOE_SWIGLU_FAST_CUH

#include "cuda/launch.h"
#include "cuda/options.cuh"

struct ng_cuda_swiglu_job {
    ng_matrix values, gate, up;
    ng_cuda_options o;
};

bool ng_cuda_swiglu_mxfp4_takes(const ng_mxfp4 &y, const ng_cuda_swiglu_job &);
ng_status ng_cuda_swiglu_mxfp4_fast(const ng_mxfp4 &y,
                                    const ng_cuda_swiglu_job &,
                                    const ng_cuda_launch *launch);

bool ng_cuda_swiglu_fp8_takes(const ng_fp8 &y, const ng_cuda_swiglu_job &);
ng_status ng_cuda_swiglu_fp8_fast(const ng_fp8 &y, const ng_cuda_swiglu_job &,
                                  const ng_cuda_launch *launch);

/* To BF16, and to FP8 with or without FP32 values. */
struct ng_cuda_swiglu_backward_job {
    ng_matrix grad_gate, grad_up, grad_y, gate, up;
    ng_cuda_options o;
};

bool ng_cuda_swiglu_backward_takes(const ng_cuda_swiglu_backward_job &);
ng_status ng_cuda_swiglu_backward_fast(const ng_cuda_swiglu_backward_job &,
                                       const ng_cuda_launch *launch);
bool ng_cuda_swiglu_backward_fp8_takes(const ng_fp8 &y_gate, const ng_fp8 &y_up,
                                       const ng_cuda_swiglu_backward_job &);
ng_status ng_cuda_swiglu_backward_fp8_fast(const ng_fp8 &y_gate,
                                           const ng_fp8 &y_up,
                                           const ng_cuda_swiglu_backward_job &,
                                           const ng_cuda_launch *launch);

#endif
