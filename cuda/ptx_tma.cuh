/* SPDX-License-Identifier: Apache-2.0
 *
 * The tensor copy engine: two-dimensional tile loads and stores, and tensor
 * maps edited on the device. PTX ISA 9.0: cp.async.bulk.tensor (9.7.9.27),
 * tensormap.replace (9.7.9.28), tensormap.cp_fenceproxy (9.7.9.29), fence.proxy
 * (9.7.13.5), cp.reduce.async.bulk.tensor (9.7.9.27),
 * cp.async.bulk.prefetch.tensor (9.7.9.27).
 */
#ifndef NG_CUDA_PTX_TMA_CUH
#define NG_CUDA_PTX_TMA_CUH

#include <cstdint>
#include <cuda.h>

#include "cuda/ptx_mbarrier.cuh"

__device__ inline void ng_tma_prefetch_map(const CUtensorMap *map)
{
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

/* Load the map's box at element (x, y), x innermost, into shared memory; its
 * bytes count towards `bar`. What lies outside the tensor arrives as zero. */
__device__ inline void ng_tma_load_2d(void *out, const CUtensorMap *map,
                                      uint64_t *bar, int32_t x, int32_t y)
{
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile"
        ".mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(
            ng_shared_address(out)),
        "l"(map), "r"(ng_shared_address(bar)), "r"(x), "r"(y)
        : "memory");
}

/* The same into every CTA of `mask`, at the same shared address and barrier. */
__device__ inline void ng_tma_load_2d_multicast(void *out,
                                                const CUtensorMap *map,
                                                uint64_t *bar, int32_t x,
                                                int32_t y, uint16_t mask)
{
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile"
        ".mbarrier::complete_tx::bytes.multicast::cluster"
        " [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(ng_shared_address(out)),
        "l"(map), "r"(ng_shared_address(bar)), "r"(x), "r"(y), "h"(mask)
        : "memory");
}

/* Ask for the map's box of three axes at (x, y, z) in the L2 cache. */
__device__ inline void ng_tma_prefetch_3d(const CUtensorMap *map, int32_t x,
                                          int32_t y, int32_t z)
{
    asm volatile("cp.async.bulk.prefetch.tensor.3d.L2.global.tile "
                 "[%0, {%1, %2, %3}];" ::"l"(map),
                 "r"(x), "r"(y), "r"(z)
                 : "memory");
}

/* Store the map's box of three axes from shared memory at (x, y, z). */
__device__ inline void ng_tma_store_3d(const CUtensorMap *map, const void *in,
                                       int32_t x, int32_t y, int32_t z)
{
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group "
                 "[%0, {%2, %3, %4}], [%1];" ::"l"(map),
                 "r"(ng_shared_address(in)), "r"(x), "r"(y), "r"(z)
                 : "memory");
}

/* The same, added to what is there, FP32: subnormal numbers count as zero. */
__device__ inline void ng_tma_add_3d(const CUtensorMap *map, const void *in,
                                     int32_t x, int32_t y, int32_t z)
{
    asm volatile("cp.reduce.async.bulk.tensor.3d.global.shared::cta.add.tile"
                 ".bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(map),
                 "r"(ng_shared_address(in)), "r"(x), "r"(y), "r"(z)
                 : "memory");
}

/* Store the map's box from shared memory at element (x, y); what lies outside
 * the tensor is not written. Needs ng_async_fence between the writes to shared
 * memory and this. */
__device__ inline void ng_tma_store_2d(const CUtensorMap *map, const void *in,
                                       int32_t x, int32_t y)
{
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group "
                 "[%0, {%2, %3}], [%1];" ::"l"(map),
                 "r"(ng_shared_address(in)), "r"(x), "r"(y)
                 : "memory");
}

__device__ inline void ng_tma_store_commit()
{
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/* Wait until all but the last `pending` groups of this thread's stores have
 * read shared memory; or until all are complete. */
template <int pending> __device__ inline void ng_tma_store_wait_read()
{
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(pending) : "memory");
}

__device__ inline void ng_tma_store_wait()
{
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

/* Let the copy engine see this thread's writes to shared memory. */
__device__ inline void ng_async_fence()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/* Set the extent of the innermost axis in a map held in shared memory. */
__device__ inline void ng_tensormap_set_extent0(CUtensorMap *shared_map,
                                                uint32_t extent)
{
    asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 "
                 "[%0], 0, %1;" ::"r"(ng_shared_address(shared_map)),
                 "r"(extent)
                 : "memory");
}

/* Copy a map from shared to global memory and release it to the copy engine of
 * the whole GPU; all 32 lanes of the warp take part. */
__device__ inline void ng_tensormap_publish(CUtensorMap *global_map,
                                            const CUtensorMap *shared_map)
{
    asm volatile(
        "tensormap.cp_fenceproxy.global.shared::cta"
        ".tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;" ::"l"(
            global_map),
        "r"(ng_shared_address(shared_map))
        : "memory");
}

/* See what ng_tensormap_publish released, before the first use of the map. */
__device__ inline void ng_tensormap_acquire(const CUtensorMap *global_map)
{
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(
                     global_map)
                 : "memory");
}

#endif
