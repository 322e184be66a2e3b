/* SPDX-License-Identifier: Apache-2.0
 *
 * A ring of stages in shared memory between the warp that loads and those that
 * multiply: `full` completes when a stage's bytes have landed, `empty` when
 * every warp that multiplies, in both CTAs of a pair, is done with it. Both
 * CTAs, because each loads a part of what both need.
 */
#ifndef NG_CUDA_MOE_GEMM_RING_CUH
#define NG_CUDA_MOE_GEMM_RING_CUH

#include "cuda/ptx_mbarrier.cuh"

enum {
    NG_GEMM_MATH_WARPS = 8, /* two warpgroups */
    NG_GEMM_LOAD_WARP = 8,  /* one lane issues all bulk copies */
    NG_GEMM_SCALE_WARP = 9, /* loads scales that the engine cannot */
    NG_GEMM_THREADS = 12 * 32,
    NG_GEMM_PAIR = 2, /* CTAs of a cluster */
    NG_GEMM_MATH_REGISTERS = 232,
    NG_GEMM_LOAD_REGISTERS = 40
};

template <int stages> struct ng_gemm_ring {
    uint64_t *full, *empty; /* [stages] each, in shared memory */
    int stage;
    uint32_t phase;

    __device__ ng_gemm_ring(uint64_t *barriers)
        : full(barriers), empty(barriers + stages), stage(0), phase(0)
    {
    }

    /* By one thread. scale_lanes more arrivals fill a stage. */
    __device__ void init(int scale_lanes)
    {
        for (int i = 0; i < stages; i++) {
            ng_mbarrier_init(full + i, 1 + (uint32_t)scale_lanes);
            ng_mbarrier_init(empty + i, NG_GEMM_PAIR * NG_GEMM_MATH_WARPS);
        }
        ng_mbarrier_init_fence();
    }

    __device__ void advance()
    {
        if (++stage == stages) {
            stage = 0;
            phase ^= 1;
        }
    }

    __device__ void wait_full()
    {
        ng_mbarrier_wait(full + stage, phase);
    }

    __device__ bool is_full()
    {
        return ng_mbarrier_test(full + stage, phase);
    }

    __device__ void wait_empty()
    {
        ng_mbarrier_wait(empty + stage, phase ^ 1);
    }

    /* A whole warp: this stage is read, in either CTA. */
    __device__ void release(int of_stage)
    {
        const uint32_t lane = threadIdx.x % 32;

        if (lane < NG_GEMM_PAIR)
            ng_mbarrier_arrive_remote(empty + of_stage, lane);
    }

    /* The loader, at the end: its barriers must outlive what the other CTA
     * still sends to them. */
    __device__ void drain()
    {
        for (int i = 0; i < stages; i++) {
            wait_empty();
            advance();
        }
    }
};

#endif
