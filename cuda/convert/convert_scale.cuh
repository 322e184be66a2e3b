/* SPDX-License-Identifier: Apache-2.0
 *
 * One power-of-two scale from one storage to another (semantics.md 2).
 */
#ifndef NG_CUDA_CONVERT_CONVERT_SCALE_CUH
#define NG_CUDA_CONVERT_CONVERT_SCALE_CUH

#include "cuda/convert/scale_plane.cuh"

/* Whether UE8M0 holds the FP32 pattern: 2^-127 ... 2^127, or any NaN. One bit
 * of exponent and no fraction, or the subnormal 2^-127 alone. */
NG_HOST_DEVICE bool ng_cuda_fits_ue8m0(uint32_t bits)
{
    return (bits & 0x7FFFFFFF) > NG_FP32_INFINITY || bits == 0x00400000
           || ((bits & 0x007FFFFF) == 0 && bits != 0
               && bits < NG_FP32_INFINITY);
}

/* Bits of type `from`, which fit, as bits of type `to`: UE8M0 packed or not is
 * one type here. FP32 to FP32 moves them. */
NG_HOST_DEVICE uint32_t ng_cuda_convert_scale(uint32_t bits, ng_dtype from,
                                              ng_dtype to)
{
    if (from != NG_FP32 && to == NG_FP32)
        return ng_cuda_bits_of(ng_cuda_decode_ue8m0(bits));
    if (from != NG_FP32 || to == NG_FP32)
        return bits;
    return (bits & 0x7FFFFFFF) > NG_FP32_INFINITY ? 0xFF : bits >> 23;
}

#endif
