/* SPDX-License-Identifier: Apache-2.0
 *
 * What a GEMM counts of the elements that it writes: NaN, infinite, subnormal.
 */
#ifndef NG_CUDA_MOE_GEMM_EVENTS_CUH
#define NG_CUDA_MOE_GEMM_EVENTS_CUH

#include <cstdint>
#include <cuda_bf16.h>

#include "cuda/count_events.cuh"

struct ng_gemm_counts {
    uint32_t nan, infinite, subnormal;
};

/* One element: its FP32 bits, or its BF16 bits above 16 zeros. */
__device__ inline void ng_gemm_count(ng_gemm_counts &counts, uint32_t bits)
{
    const uint32_t magnitude = bits & 0x7FFFFFFF;

    counts.nan += magnitude > 0x7F800000;
    counts.infinite += magnitude == 0x7F800000;
    counts.subnormal += magnitude - 1 < 0x007FFFFF;
}

/* Every lane of a warp calls it, once, at the end. */
__device__ inline void ng_gemm_add_counts(ng_events *events,
                                          const ng_gemm_counts &counts)
{
    ng_cuda_add_count(events, NG_EVENT_NAN, counts.nan);
    ng_cuda_add_count(events, NG_EVENT_INFINITE, counts.infinite);
    ng_cuda_add_count(events, NG_EVENT_SUBNORMAL, counts.subnormal);
}

/* Two numbers rounded to BF16, nearest-even, the first in the low half. */
__device__ inline uint32_t ng_gemm_pack_bf16(float low, float high)
{
    const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);

    return *reinterpret_cast<const uint32_t *>(&pair);
}

#endif
