/* SPDX-License-Identifier: Apache-2.0
 *
 * The warpgroup matrix instruction for E4M3, one wrapper an instruction. PTX
 * ISA 9.0, 9.7.15 (wgmma). How the tensor core adds is measured, not specified:
 * docs/semantics.md 11, profile hopper-wgmma.
 */
#ifndef NG_CUDA_PTX_WGMMA_CUH
#define NG_CUDA_PTX_WGMMA_CUH

#include <cstdint>

#include "cuda/ptx_mbarrier.cuh"
#include "cuda/ptx_operands.cuh"

/* Describe a K-major tile with rows of 128 bytes, 128-byte swizzle, 1024-byte
 * aligned: 8 rows (1024 bytes) from one core matrix to the next. A step of 32
 * along K adds 2 to the descriptor, 16-byte units. */
__device__ inline uint64_t ng_wgmma_descriptor(const void *tile)
{
    const uint64_t address = (ng_shared_address(tile) & 0x3FFFF) >> 4;
    return address | (uint64_t)1 << 16 | (uint64_t)(1024 >> 4) << 32
           | (uint64_t)1 << 62;
}

/* Order register accesses before the next wgmma of this warpgroup. */
__device__ inline void ng_wgmma_fence()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ inline void ng_wgmma_commit()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/* Wait until at most `pending` committed groups are still running. */
template <int pending> __device__ inline void ng_wgmma_wait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}

/* Keep the compiler from moving a register across an asynchronous group. */
template <int n> __device__ inline void ng_wgmma_touch(float (&d)[n])
{
#pragma unroll
    for (int i = 0; i < n; i++) {
        asm volatile("" : "+f"(d[i])::"memory");
    }
}

/* Give registers back, or take more (PTX ISA 9.7.19.5); whole warpgroups. */
template <int registers> __device__ inline void ng_registers_shrink()
{
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers));
}

template <int registers> __device__ inline void ng_registers_grow()
{
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers));
}

/* d (64 x 64) = a (64 x 32) b (64 x 32)^T, + d if `accumulate`; descriptors of
 * K-major tiles. Thread t of the warpgroup holds d[4 i + 2 h + c] = element
 * (16 (t / 32) + t % 32 / 4 + 8 h, 8 i + 2 (t % 4) + c). */
__device__ inline void ng_wgmma_m64n64k32_e4m3(float (&d)[32], uint64_t a,
                                               uint64_t b, bool accumulate)
{
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "setp.ne.b32 p, %34, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3 {" NG_PTX_LIST_32
        "}, "
        "%32, %33, p, 1, 1;\n"
        "}\n"
        : NG_PTX_FLOATS_32(d)
        : "l"(a), "l"(b), "r"((int)accumulate));
}

/* d (64 x 128) = a (64 x 32) b (128 x 32)^T, + d if `accumulate`; descriptors
 * of K-major tiles. Thread t of the warpgroup holds d[4 i + 2 h + c] = element
 * (16 (t / 32) + t % 32 / 4 + 8 h, 8 i + 2 (t % 4) + c). */
__device__ inline void ng_wgmma_m64n128k32_e4m3(float (&d)[64], uint64_t a,
                                                uint64_t b, bool accumulate)
{
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "setp.ne.b32 p, %66, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3 {" NG_PTX_LIST_64
        "}, "
        "%64, %65, p, 1, 1;\n"
        "}\n"
        : NG_PTX_FLOATS_64(d)
        : "l"(a), "l"(b), "r"((int)accumulate));
}

/* d (64 x 192) = a (64 x 32) b (192 x 32)^T, + d if `accumulate`; descriptors
 * of K-major tiles. Thread t of the warpgroup holds d[4 i + 2 h + c] = element
 * (16 (t / 32) + t % 32 / 4 + 8 h, 8 i + 2 (t % 4) + c). */
__device__ inline void ng_wgmma_m64n192k32_e4m3(float (&d)[96], uint64_t a,
                                                uint64_t b, bool accumulate)
{
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "setp.ne.b32 p, %98, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n192k32.f32.e4m3.e4m3 {" NG_PTX_LIST_96
        "}, "
        "%96, %97, p, 1, 1;\n"
        "}\n"
        : NG_PTX_FLOATS_96(d)
        : "l"(a), "l"(b), "r"((int)accumulate));
}

/* The same with a in registers: word 2 i + h of the thread has a's elements
 * (16 (t / 32) + t % 32 / 4 + 8 h, 16 i + 4 (t % 4) + 0 .. 3); they must stay
 * as they are until the group is complete. */
__device__ inline void
ng_wgmma_m64n192k32_e4m3_registers(float (&d)[96], const uint32_t (&a)[4],
                                   uint64_t b, bool accumulate)
{
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "setp.ne.b32 p, %101, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n192k32.f32.e4m3.e4m3 {" NG_PTX_LIST_96
        "}, "
        "{%96, %97, %98, %99}, %100, p, 1, 1;\n"
        "}\n"
        : NG_PTX_FLOATS_96(d)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b),
          "r"((int)accumulate));
}

#endif
