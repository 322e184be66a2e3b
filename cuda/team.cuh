/* SPDX-License-Identifier: Apache-2.0
 *
 * Who works on a block together in the general paths: one host thread, or the
 * 32 lanes of a warp. A block function takes a team, does every lanes-th piece
 * of its loops and asks the team for what all of them found. So the same
 * function runs on both sides, and the host verifies it.
 */
#ifndef NG_CUDA_TEAM_CUH
#define NG_CUDA_TEAM_CUH

#include <cstdint>

#include "cuda/host_device.cuh"

struct ng_cuda_alone {
    static constexpr int lanes = 1;
    NG_HOST_DEVICE int lane() const
    {
        return 0;
    }
    NG_HOST_DEVICE uint32_t max(uint32_t x) const
    {
        return x;
    }
};

#ifdef __CUDACC__
/* All lanes of the warp call every function together. */
struct ng_cuda_warp {
    static constexpr int lanes = 32;
    __device__ __forceinline__ int lane() const
    {
        return (int)(threadIdx.x % 32);
    }
    __device__ __forceinline__ uint32_t max(uint32_t x) const
    {
        return __reduce_max_sync(0xFFFFFFFFu, x);
    }
};
#endif

#endif
