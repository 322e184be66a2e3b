/* SPDX-License-Identifier: Apache-2.0
 *
 * Accesses to global memory whose data is used once (PTX ISA 9.7.9.8 and 9.7.9.11,
 * ld and st with .cs), at a byte offset from a base that the whole warp shares.
 * Device only.
 */
#ifndef NG_CUDA_PTX_STREAM_CUH
#define NG_CUDA_PTX_STREAM_CUH

#include <cstdint>

/* N is 2 or a multiple of 4; 8 or 16 bytes an access, and aligned so. */
template <int N>
__device__ __forceinline__ void
ng_cuda_load_words(uint32_t *words, uint64_t base, uint32_t offset)
{
    const uint64_t at = base + offset;

    if constexpr (N == 2) {
        asm volatile("ld.global.cs.v2.u32 {%0, %1}, [%2];"
                     : "=r"(words[0]), "=r"(words[1])
                     : "l"(at));
    } else {
#pragma unroll
        for (int i = 0; i < N; i += 4)
            asm volatile("ld.global.cs.v4.u32 {%0, %1, %2, %3}, [%4];"
                         : "=r"(words[i]), "=r"(words[i + 1]),
                           "=r"(words[i + 2]), "=r"(words[i + 3])
                         : "l"(at + 4 * (uint64_t)i));
    }
}

template <int N>
__device__ __forceinline__ void
ng_cuda_store_words(uint64_t base, uint32_t offset, const uint32_t *words)
{
    const uint64_t at = base + offset;

    if constexpr (N == 2) {
        asm volatile("st.global.cs.v2.u32 [%0], {%1, %2};" ::"l"(at),
                     "r"(words[0]), "r"(words[1])
                     : "memory");
    } else {
#pragma unroll
        for (int i = 0; i < N; i += 4)
            asm volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(
                             at + 4 * (uint64_t)i),
                         "r"(words[i]), "r"(words[i + 1]), "r"(words[i + 2]),
                         "r"(words[i + 3])
                         : "memory");
    }
}

__device__ __forceinline__ uint32_t ng_cuda_load_u16(uint64_t base,
                                                     uint32_t offset)
{
    uint32_t x;
    asm volatile("ld.global.cs.u16 %0, [%1];" : "=r"(x) : "l"(base + offset));
    return x;
}

__device__ __forceinline__ void ng_cuda_store_u16(uint64_t base,
                                                  uint32_t offset, uint32_t x)
{
    asm volatile("st.global.cs.u16 [%0], %1;" ::"l"(base + offset), "r"(x)
                 : "memory");
}

#endif
