/* SPDX-License-Identifier: Apache-2.0
 *
 * prmt, four bytes chosen out of eight (PTX ISA 9.7.8.7). Device only.
 */
#ifndef NG_CUDA_PTX_PRMT_CUH
#define NG_CUDA_PTX_PRMT_CUH

#include <cstdint>

/* Byte i of the result is byte n of low (0 .. 3) and high (4 .. 7), n the low
 * three bits of nibble i of `which`; where the nibble's high bit is set, that
 * byte's bit 7 in all eight places. (__byte_perm ignores the high bit.) */
__device__ __forceinline__ uint32_t ng_cuda_prmt(uint32_t low, uint32_t high,
                                                 uint32_t which)
{
    uint32_t bytes;
    asm("prmt.b32 %0, %1, %2, %3;"
        : "=r"(bytes)
        : "r"(low), "r"(high), "r"(which));
    return bytes;
}

#endif
