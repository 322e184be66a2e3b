/* SPDX-License-Identifier: Apache-2.0
 *
 * The scale of an FP8 block from its amax (semantics.md 4), as an FP32 pattern.
 */
#ifndef NG_CUDA_CONVERT_FP8_SCALE_CUH
#define NG_CUDA_CONVERT_FP8_SCALE_CUH

#include "cuda/bits.cuh"
#include "formats/fp32.h"

/* amax  an FP32 magnitude's pattern, of NaN and infinities too
 *
 * pow2   the smallest 2^k >= amax / 448 = amax / (1.75 * 2^8), k >= -126: in
 *        the pattern, E - 8 and one more where F > 0x600000, which is a carry
 *        out of F + 0x1FFFFF.
 * fp32   max(RN32(amax / 448), 2^-126), by one IEEE division.
 * A block of zeros has scale 1, one with a NaN or an infinity NaN. */
NG_HOST_DEVICE uint32_t ng_cuda_fp8_scale(uint32_t amax, bool pow2)
{
    const uint32_t one = 0x3F800000, least = 0x00800000; /* 2^-126 */
    uint32_t scale;

    if (amax >= NG_FP32_INFINITY)
        return NG_FP32_NAN;
    if (amax == 0)
        return one;
    if (pow2) {
        const int field = (int)((amax + 0x1FFFFF) >> 23) - 8;

        scale = (uint32_t)(field > 1 ? field : 1) << 23;
    } else {
        scale = ng_cuda_bits_of(ng_cuda_div_rn(ng_cuda_float_of(amax), 448.0f));
    }
    return scale > least ? scale : least;
}

/* The scale 2^k as a UE8M0 code; 0xFF of NaN. */
NG_HOST_DEVICE uint32_t ng_cuda_fp8_scale_byte(uint32_t scale)
{
    return scale > NG_FP32_INFINITY ? 0xFF : scale >> 23;
}

#endif
