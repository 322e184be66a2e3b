/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps of SGD and SGDW, rules of flashoptim.
 */
#include "cuda/optim/step_launch.cuh"

ng_status ng_cuda_launch_sgd_flashoptim(const ng_cuda_step_job &job,
                                        const ng_cuda_step_pick &pick,
                                        cudaStream_t stream)
{
    if (pick.states == NG_CUDA_STATES_FP32)
        return launch_states<NG_CUDA_ROW_SGD, NG_CUDA_STATES_FP32,
                             NG_CUDA_RULES_FLASHOPTIM>(job, pick.weights,
                                                       stream);
    if (pick.states == NG_CUDA_STATES_NONE)
        return launch_states<NG_CUDA_ROW_SGD, NG_CUDA_STATES_NONE,
                             NG_CUDA_RULES_FLASHOPTIM>(job, pick.weights,
                                                       stream);
    return launch_states<NG_CUDA_ROW_SGD, NG_CUDA_STATES_CODED,
                         NG_CUDA_RULES_FLASHOPTIM>(job, pick.weights, stream);
}
