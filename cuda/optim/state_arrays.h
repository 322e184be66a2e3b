/* SPDX-License-Identifier: Apache-2.0
 *
 * Weights and states by themselves: FP32 export and import, and what verifies
 * the kernels' element functions over every input. Bit for bit the reference's
 * functions of their names; options->counts as in step.h.
 */
#ifndef NG_CUDA_OPTIM_STATE_ARRAYS_H
#define NG_CUDA_OPTIM_STATE_ARRAYS_H

#include "cuda/launch.h"
#include "formats/optim.h"

#ifdef __cplusplus
extern "C" {
#endif

ng_status ng_cuda_split_weights(const ng_weights *y, const float *theta,
                                int64_t n, const ng_optim_options *options,
                                const ng_cuda_launch *launch);
ng_status ng_cuda_merge_weights(float *theta, const ng_weights *x, int64_t n,
                                const ng_optim_options *options,
                                const ng_cuda_launch *launch);
ng_status ng_cuda_compand(const ng_state *y, const float *x, int64_t n,
                          const ng_optim_options *options,
                          const ng_cuda_launch *launch);
ng_status ng_cuda_expand(float *y, const ng_state *x, int64_t n,
                         const ng_optim_options *options,
                         const ng_cuda_launch *launch);

#ifdef __cplusplus
}
#endif

#endif
