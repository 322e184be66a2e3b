/* SPDX-License-Identifier: Apache-2.0
 *
 * prmt, four bytes chosen out of eight (PTX ISA 9.7.8.7).
 */
#ifndef NG_CUDA_PTX_PRMT_CUH
#define NG_CUDA_PTX_PRMT_CUH

#include <cstdint>

#include "cuda/host_device.cuh"

/* Byte i of the result is byte n of low (0 .. 3) and high (4 .. 7), n the low
 * three bits of nibble i of `which`; where the nibble's high bit is set, that
 * byte's bit 7 in all eight places. (__byte_perm ignores the high bit.) */
NG_HOST_DEVICE uint32_t ng_cuda_prmt(uint32_t low, uint32_t high,
                                     uint32_t which)
{
#ifdef __CUDA_ARCH__
    uint32_t bytes;
    asm("prmt.b32 %0, %1, %2, %3;"
        : "=r"(bytes)
        : "r"(low), "r"(high), "r"(which));
    return bytes;
#else
    const uint64_t both = (uint64_t)high << 32 | low;
    uint32_t bytes = 0;

    for (int i = 0; i < 4; i++) {
        const uint32_t nibble = which >> 4 * i & 15;
        const uint32_t byte = (uint32_t)(both >> 8 * (nibble & 7)) & 0xFF;

        bytes |= (nibble < 8 ? byte : byte < 128 ? 0 : 0xFF) << 8 * i;
    }
    return bytes;
#endif
}

#endif
