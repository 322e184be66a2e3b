/* SPDX-License-Identifier: Apache-2.0
 *
 * The bare instructions of the probe: wgmma.mma_async.m64nNk32, E4M3 x E4M3
 * into FP32, N = 8, 64, 128, 256, the A operand in shared memory or in
 * registers (PTX ISA 9.7.15). `add` 0: the accumulator is ignored (scale-d).
 *
 * An accumulator holds N/2 numbers a thread: d[4 j + i] is column 8 j + 2 (lane
 * % 4) + i % 2 of row 16 warp + lane / 4 + 8 (i / 2). An A operand in registers
 * holds four codes a word: word i is codes 4 (lane % 4) + 16 (i / 2) up of row
 * 16 warp + lane / 4 + 8 (i % 2).
 */
#ifndef NG_CUDA_PTX_WGMMA_PROBE_CUH
#define NG_CUDA_PTX_WGMMA_PROBE_CUH

#include <cstdint>

#include "cuda/ptx_operands.cuh"

/* A matrix in shared memory without swizzle, K-major: core matrices of 8 rows x
 * 16 bytes, `leading` bytes apart along K and `stride` along the rows. */
__device__ __forceinline__ uint64_t wgmma_descriptor(const void *matrix,
                                                     uint32_t leading,
                                                     uint32_t stride)
{
    const uint64_t address = __cvta_generic_to_shared(matrix);

    return (address & 0x3FFFF) >> 4 | uint64_t{leading >> 4} << 16
           | uint64_t{stride >> 4} << 32;
}

/* Ordinary stores to shared memory become visible to the tensor core. */
__device__ __forceinline__ void fence_async_shared()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__device__ __forceinline__ void wgmma_fence()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ __forceinline__ void wgmma_finish()
{
    asm volatile("wgmma.commit_group.sync.aligned;\n"
                 "wgmma.wait_group.sync.aligned 0;" ::
                     : "memory");
}

__device__ __forceinline__ void wgmma_e4m3(float (&d)[4], uint64_t a,
                                           uint64_t b, int add)
{
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.b32 p, %6, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {" NG_PTX_LIST_4
        "}, %4, %5, p, 1, 1;\n}\n"
        : NG_PTX_FLOATS_4(d)
        : "l"(a), "l"(b), "r"(add));
}

__device__ __forceinline__ void
wgmma_e4m3(float (&d)[4], const uint32_t (&a)[4], uint64_t b, int add)
{
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.b32 p, %9, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {" NG_PTX_LIST_4
        "}, {%4, %5, %6, %7}, %8, p, 1, 1;\n}\n"
        : NG_PTX_FLOATS_4(d)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));
}

__device__ __forceinline__ void wgmma_e4m3(float (&d)[32], uint64_t a,
                                           uint64_t b, int add)
{
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3 {" NG_PTX_LIST_32
        "}, %32, %33, p, 1, 1;\n}\n"
        : NG_PTX_FLOATS_32(d)
        : "l"(a), "l"(b), "r"(add));
}

__device__ __forceinline__ void
wgmma_e4m3(float (&d)[32], const uint32_t (&a)[4], uint64_t b, int add)
{
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.b32 p, %37, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3 {" NG_PTX_LIST_32
        "}, {%32, %33, %34, %35}, %36, p, 1, 1;\n}\n"
        : NG_PTX_FLOATS_32(d)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));
}

__device__ __forceinline__ void wgmma_e4m3(float (&d)[64], uint64_t a,
                                           uint64_t b, int add)
{
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3 {" NG_PTX_LIST_64
        "}, %64, %65, p, 1, 1;\n}\n"
        : NG_PTX_FLOATS_64(d)
        : "l"(a), "l"(b), "r"(add));
}

__device__ __forceinline__ void
wgmma_e4m3(float (&d)[64], const uint32_t (&a)[4], uint64_t b, int add)
{
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.b32 p, %69, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3 {" NG_PTX_LIST_64
        "}, {%64, %65, %66, %67}, %68, p, 1, 1;\n}\n"
        : NG_PTX_FLOATS_64(d)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));
}

__device__ __forceinline__ void wgmma_e4m3(float (&d)[128], uint64_t a,
                                           uint64_t b, int add)
{
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %130, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n256k32.f32.e4m3.e4m3 "
                 "{" NG_PTX_LIST_128 "}, %128, %129, p, 1, 1;\n}\n"
                 : NG_PTX_FLOATS_128(d)
                 : "l"(a), "l"(b), "r"(add));
}

__device__ __forceinline__ void
wgmma_e4m3(float (&d)[128], const uint32_t (&a)[4], uint64_t b, int add)
{
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.b32 p, %133, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n256k32.f32.e4m3.e4m3 "
        "{" NG_PTX_LIST_128 "}, {%128, %129, %130, %131}, %132, p, 1, 1;\n}\n"
        : NG_PTX_FLOATS_128(d)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));
}

#endif
