/* SPDX-License-Identifier: Apache-2.0
 *
 * Events as one thread counts them.
 */
#ifndef NG_CUDA_COUNTS_CUH
#define NG_CUDA_COUNTS_CUH

#include <cstdint>

#include "cuda/host_device.cuh"
#include "formats/events.h"

struct ng_cuda_counts {
    uint32_t count[NG_N_EVENTS]; /* below 2^32 elements a thread */
};

NG_HOST_DEVICE void ng_cuda_count(ng_cuda_counts &counts, unsigned bits)
{
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int event = 0; event < NG_N_EVENTS; event++)
        counts.count[event] += bits >> event & 1;
}

#endif
