/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared-memory barriers with transaction counts, named barriers and clusters,
 * one wrapper an instruction. PTX ISA 9.0: mbarrier (9.7.13.15), bar.sync and
 * barrier.red (9.7.13.1), elect.sync (9.7.13.14), barrier.cluster (9.7.13.4),
 * mapa (9.7.9.22).
 */
#ifndef NG_CUDA_PTX_MBARRIER_CUH
#define NG_CUDA_PTX_MBARRIER_CUH

#include <cstdint>

/* The 32-bit shared-space address that instructions take. */
__device__ inline uint32_t ng_shared_address(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

__device__ inline void ng_mbarrier_init(uint64_t *bar, uint32_t count)
{
    asm volatile(
        "mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(ng_shared_address(bar)),
        "r"(count)
        : "memory");
}

/* Make initialised barriers visible to the cluster and to the copy engine. */
__device__ inline void ng_mbarrier_init_fence()
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/* Arrive once and expect `bytes` more from the copy engine in this phase. */
__device__ inline void ng_mbarrier_arrive_expect(uint64_t *bar, uint32_t bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
                     ng_shared_address(bar)),
                 "r"(bytes)
                 : "memory");
}

/* Arrive at the same barrier of CTA `rank` of the cluster. It orders what this
 * warp has read, which is all that frees a stage; a release at cluster scope
 * would cost a fence of the whole GPU. */
__device__ inline void ng_mbarrier_arrive_remote(uint64_t *bar, uint32_t rank)
{
    asm volatile("{\n"
                 ".reg .b32 remote;\n"
                 "mapa.shared::cluster.u32 remote, %0, %1;\n"
                 "mbarrier.arrive.shared::cluster.b64 _, [remote];\n"
                 "}" ::"r"(ng_shared_address(bar)),
                 "r"(rank)
                 : "memory");
}

/* Arrive once; what this thread wrote before is released to who waits. */
__device__ inline void ng_mbarrier_arrive(uint64_t *bar)
{
    asm volatile(
        "mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(ng_shared_address(bar))
        : "memory");
}

/* Whether the phase of this parity has completed. */
__device__ inline bool ng_mbarrier_test(uint64_t *bar, uint32_t parity)
{
    uint32_t done;

    asm volatile("{\n"
                 ".reg .pred done;\n"
                 "mbarrier.test_wait.parity.shared::cta.b64 done, [%1], %2;\n"
                 "selp.u32 %0, 1, 0, done;\n"
                 "}"
                 : "=r"(done)
                 : "r"(ng_shared_address(bar)), "r"(parity)
                 : "memory");
    return done != 0;
}

/* Wait until the phase of this parity has completed; the number is how long, in
 * nanoseconds, the thread may sleep between looks (it wakes at the phase's
 * end). Without it the waiting warps spin, and heat. */
__device__ inline void ng_mbarrier_wait(uint64_t *bar, uint32_t parity)
{
    asm volatile(
        "{\n"
        ".reg .pred done;\n"
        "again:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1, %2;\n"
        "@done bra finished;\n"
        "bra again;\n"
        "finished:\n"
        "}" ::"r"(ng_shared_address(bar)),
        "r"(parity), "r"(0x989680)
        : "memory");
}

/* Named barrier: wait for `threads` arrivals, this warp's included. */
__device__ inline void ng_bar_sync(uint32_t id, uint32_t threads)
{
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/* The same, and whether any of the threads brought `flag`. */
__device__ inline bool ng_bar_any(uint32_t id, uint32_t threads, bool flag)
{
    uint32_t any;

    asm volatile("{\n"
                 ".reg .pred mine, any;\n"
                 "setp.ne.u32 mine, %3, 0;\n"
                 "barrier.cta.red.or.pred any, %1, %2, mine;\n"
                 "selp.u32 %0, 1, 0, any;\n"
                 "}"
                 : "=r"(any)
                 : "r"(id), "r"(threads), "r"((uint32_t)flag)
                 : "memory");
    return any != 0;
}

/* True in one lane of a whole warp. What only that lane does afterwards the
 * compiler knows to be done by one, and keeps in uniform registers; after
 * `lane == 0` it loops over lanes at each bulk copy. */
__device__ inline bool ng_elect_one()
{
    uint32_t elected;

    asm volatile("{\n"
                 ".reg .pred one;\n"
                 "elect.sync _|one, 0xFFFFFFFF;\n"
                 "selp.u32 %0, 1, 0, one;\n"
                 "}"
                 : "=r"(elected));
    return elected != 0;
}

__device__ inline void ng_cluster_sync()
{
    asm volatile("barrier.cluster.arrive.release;\n"
                 "barrier.cluster.wait.acquire;" ::
                     : "memory");
}

__device__ inline uint32_t ng_cluster_rank()
{
    uint32_t rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

#endif
