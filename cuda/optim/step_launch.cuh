/* SPDX-License-Identifier: Apache-2.0
 *
 * The instances of step_kernel.cuh for one row and one set of rules: what each
 * step_ROW_RULES.cu defines, so that they compile side by side.
 */
#ifndef NG_CUDA_OPTIM_STEP_LAUNCH_CUH
#define NG_CUDA_OPTIM_STEP_LAUNCH_CUH

#include "cuda/grid.cuh"
#include "cuda/optim/step_kernel.cuh"
#include "cuda/optim/step_pick.cuh"
#include "cuda/try.cuh"

/* Blocks of the strides: as many as 132 multiprocessors hold. */
enum { NG_CUDA_STEP_BLOCKS = 132 * 6 };

using ng_cuda_step_function = void (*)(ng_cuda_step_job);

template <int ROW, int STATES, int RULES>
static ng_cuda_step_function of_weights(int weights)
{
    switch (weights) {
    case NG_CUDA_FP32:
        return step_kernel<ROW, STATES, NG_CUDA_FP32, RULES>;
    case NG_CUDA_BF16:
        return step_kernel<ROW, STATES, NG_CUDA_BF16, RULES>;
    case NG_CUDA_BF16_8:
        return step_kernel<ROW, STATES, NG_CUDA_BF16_8, RULES>;
    default:
        return step_kernel<ROW, STATES, NG_CUDA_BF16_16, RULES>;
    }
}

template <int ROW, int STATES, int RULES>
static ng_status launch_states(const ng_cuda_step_job &job, int weights,
                               cudaStream_t stream)
{
    const ng_cuda_step_function kernel =
        of_weights<ROW, STATES, RULES>(weights);

    kernel<<<ng_cuda_blocks(job.n_chunks, NG_CUDA_STEP_WARPS,
                            NG_CUDA_STEP_BLOCKS),
             NG_CUDA_STEP_THREADS, 0, stream>>>(job);
    NG_CUDA_TRY_LAUNCH();
    return NG_OK;
}

/* The launchers, one a file. */
using ng_cuda_step_launcher = ng_status(const ng_cuda_step_job &job,
                                        const ng_cuda_step_pick &pick,
                                        cudaStream_t stream);

ng_cuda_step_launcher ng_cuda_launch_sgd_ng, ng_cuda_launch_sgd_flashoptim,
    ng_cuda_launch_adam_ng, ng_cuda_launch_adam_flashoptim,
    ng_cuda_launch_lion_ng, ng_cuda_launch_lion_flashoptim;

#endif
