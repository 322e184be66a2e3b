/* SPDX-License-Identifier: Apache-2.0
 *
 * Event counts of a grid: a thread counts its own, a warp adds them up, and one
 * lane adds the warp's to device memory. Sums of integers: any order.
 */
#ifndef NG_CUDA_COUNT_EVENTS_CUH
#define NG_CUDA_COUNT_EVENTS_CUH

#include "cuda/counts.cuh"

/* Every lane of a warp calls it. */
__device__ __forceinline__ void
ng_cuda_add_count(ng_events *events, ng_event event, uint32_t count)
{
    unsigned long long sum = count;

    for (int lanes = 16; lanes > 0; lanes /= 2)
        sum += __shfl_xor_sync(0xFFFFFFFFu, sum, lanes);
    if (threadIdx.x % 32 == 0 && sum != 0)
        atomicAdd((unsigned long long *)&events->count[event], sum);
}

/* The same of all events, or of INEXACT alone. events may be null. */
__device__ __forceinline__ void ng_cuda_add_counts(ng_events *events,
                                                   const ng_cuda_counts &counts,
                                                   bool inexact_only)
{
    if (events == nullptr)
        return;
#pragma unroll
    for (int event = 0; event < NG_N_EVENTS; event++)
        if (!inexact_only || event == NG_EVENT_INEXACT)
            ng_cuda_add_count(events, (ng_event)event, counts.count[event]);
}

#endif
