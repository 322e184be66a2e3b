/* SPDX-License-Identifier: Apache-2.0
 *
 * The general path of a conversion: a warp a block, over the jobs of
 * convert/row_block.cuh. Right for every layout, rule and count of events; fast
 * paths take what is common.
 */
#ifndef NG_CUDA_GENERAL_CUH
#define NG_CUDA_GENERAL_CUH

#include "cuda/count_events.cuh"
#include "cuda/grid.cuh"
#include "cuda/launch.h"
#include "cuda/team.cuh"
#include "cuda/try.cuh"

enum { NG_CUDA_GENERAL_THREADS = 256, NG_CUDA_GENERAL_BLOCKS = 132 * 32 };

template <class JOB>
static __global__ void __launch_bounds__(NG_CUDA_GENERAL_THREADS)
    general(const __grid_constant__ JOB job, ng_events *events,
            bool inexact_only)
{
    const int64_t outer = job.outer(), inner = job.inner();
    ng_cuda_counts counts = {};

    for (int64_t i = ng_cuda_thread() / 32; i < outer * inner;
         i += ng_cuda_threads() / 32)
        job.run(i / inner, i % inner, ng_cuda_warp(), counts);
    ng_cuda_add_counts(events, counts, inexact_only);
}

/* Enqueue it for at most `blocks` blocks of the job. */
template <class JOB>
static inline ng_status ng_cuda_run_general(const JOB &job, int64_t blocks,
                                            const ng_cuda_launch *launch)
{
    if (blocks > 0) {
        general<<<ng_cuda_blocks(blocks, NG_CUDA_GENERAL_THREADS / 32,
                                 NG_CUDA_GENERAL_BLOCKS),
                  NG_CUDA_GENERAL_THREADS, 0, (cudaStream_t)launch->stream>>>(
            job, launch->events, launch->inexact_only);
        NG_CUDA_TRY_LAUNCH();
    }
    return NG_OK;
}

#endif
