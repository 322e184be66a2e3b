/* SPDX-License-Identifier: Apache-2.0
 *
 * Event counts of a grid: a thread counts its own, a warp adds them up, and one
 * thread adds the warp's to device memory. Sums of integers: any order.
 */
#ifndef NG_CUDA_COUNT_EVENTS_CUH
#define NG_CUDA_COUNT_EVENTS_CUH

#include <cstdint>

#include "formats/events.h"

struct ng_cuda_counts {
    uint32_t count[NG_N_EVENTS]; /* of one thread: below 2^32 */
};

__device__ __forceinline__ void ng_cuda_count(ng_cuda_counts &counts,
                                              unsigned bits)
{
#pragma unroll
    for (int event = 0; event < NG_N_EVENTS; event++)
        counts.count[event] += bits >> event & 1;
}

/* All threads of every warp call it, once. */
__device__ __forceinline__ void ng_cuda_add_counts(ng_events *events,
                                                   const ng_cuda_counts &counts,
                                                   bool inexact_only)
{
#pragma unroll
    for (int event = 0; event < NG_N_EVENTS; event++) {
        if (inexact_only && event != NG_EVENT_INEXACT)
            continue;
        unsigned long long sum = counts.count[event];

        for (int lanes = 16; lanes > 0; lanes /= 2)
            sum += __shfl_xor_sync(0xFFFFFFFFu, sum, lanes);
        if (threadIdx.x % 32 == 0 && sum != 0)
            atomicAdd((unsigned long long *)&events->count[event], sum);
    }
}

#endif
