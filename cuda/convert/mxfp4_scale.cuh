/* SPDX-License-Identifier: Apache-2.0
 *
 * The UE8M0 scale of an MXFP4 block from its amax (semantics.md 3 and 7).
 *
 * With amax = m 2^f, 1 <= m < 2, the byte is f + 127 - 2 + c. In an FP32
 * pattern f + 127 is the exponent field E and m - 1 the fraction F, so adding
 * 2^23 less the least fraction with c = 1 carries into E exactly where c is 1:
 *
 *   floor  never          + 0
 *   ceil   F >= 1         + 0x7FFFFF
 *   even   F >= 0x600000  + 0x200000
 *   rceil  F >= 0x400001  + 0x3FFFFF
 *
 * FP32 subnormals (E = 0) come to at most 1 - 2, and so to 0.
 */
#ifndef NG_CUDA_CONVERT_MXFP4_SCALE_CUH
#define NG_CUDA_CONVERT_MXFP4_SCALE_CUH

#include "cuda/convert/real.cuh"
#include "formats/ue8m0.h"
#include "formats/rules.h"

/* The addend of the table above. */
NG_HOST_DEVICE uint32_t ng_cuda_mxfp4_carry(int mode)
{
    return mode == NG_MX_CEIL    ? 0x7FFFFF
           : mode == NG_MX_EVEN  ? 0x200000
           : mode == NG_MX_RCEIL ? 0x3FFFFF
                                 : 0; /* NG_MX_FLOOR */
}

/* amax   an FP32 magnitude's pattern, of NaN and infinities too
 * carry  ng_cuda_mxfp4_carry of the mode */
NG_HOST_DEVICE uint32_t ng_cuda_mxfp4_scale(uint32_t amax, uint32_t carry)
{
    const int byte = (int)((amax + carry) >> 23) - 2;

    if (amax >= 0x7F800000)
        return NG_UE8M0_NAN;
    return byte > 0 ? (uint32_t)byte : 0;
}

/* The same of an exact amax beyond FP32's digits or range, finite: the carry in
 * a 32-bit significand, of which FP32 has the first 24 bits. Above 2^127 the
 * scale stops. */
NG_HOST_DEVICE uint32_t ng_cuda_mxfp4_scale_exact(const ng_cuda_real &amax,
                                                  int mode)
{
    const uint32_t least = mode == NG_MX_CEIL    ? 0x80000001
                           : mode == NG_MX_EVEN  ? 0xE0000000
                           : mode == NG_MX_RCEIL ? 0xC0000001
                                                 : 0; /* never */
    const bool c = least != 0 && amax.significand >= least;
    const int byte = amax.exponent + 31 + 127 - 2 + c;

    if (amax.significand == 0 || byte < 0)
        return 0;
    return byte > NG_UE8M0_MAX_CODE ? (uint32_t)NG_UE8M0_MAX_CODE
                                    : (uint32_t)byte;
}

#endif
