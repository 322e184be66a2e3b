/* SPDX-License-Identifier: Apache-2.0
 *
 * Eight FP32 numbers to eight E2M1 codes in a word, nearest-even, saturating:
 * what a quantiser to MXFP4 does with v / 2^e.
 *
 * An adder rounds: |x| plus a power of two M whose ulp is E2M1's step at |x| is
 * M plus a number of steps n, to nearest even, in the last bits. The step is
 * 0.5 below 2, 1 below 4 and 2 below 8, so M = 2^(22 + k) with 2^k the binade
 * of |x|, k >= 0; and the code is n + 2 k. Adding those 2 k ulps (an even
 * number, ties stay ties to even) to M beforehand leaves the code itself in the
 * sum's last three bits, with nothing else below bit 22.
 *
 * M's pattern from the binade's, B: B + (22 << 23) + (B >> 22) - 2 * 127. That
 * is C + (C >> 22) for C = B + (22 << 23) - 297, whose low bits borrow one from
 * 22 << 1: an addition with a maximum and a shifted addition on the machine.
 */
#ifndef NG_CUDA_CONVERT_ENCODE_E2M1X8_CUH
#define NG_CUDA_CONVERT_ENCODE_E2M1X8_CUH

#include "cuda/bits.cuh"

/* The magnitude code of |x| in the last three bits, 0 in bits 3 .. 21; x not
 * NaN. */
NG_HOST_DEVICE uint32_t ng_cuda_adder_e2m1(float x)
{
    const float magnitude = ng_cuda_float_of(ng_cuda_bits_of(x) & 0x7FFFFFFF);
    const float capped = magnitude < 6.0f ? magnitude : 6.0f;
    const int binade = (int)(ng_cuda_bits_of(capped) & 0x7F800000);
    const int shift = (22 << 23) - 297;
    const uint32_t c =
        (uint32_t)ng_cuda_max(binade + shift, 0x3F800000 + shift);

    return ng_cuda_bits_of(
        ng_cuda_add_rn(capped, ng_cuda_float_of(c + (c >> 22))));
}

/* Codes of x[0 .. 7], the first in the lowest nibble. */
NG_HOST_DEVICE uint32_t ng_cuda_encode_e2m1x8(const float x[8])
{
    uint32_t code[8]; /* the sign below the magnitude, 0 in bits 4 .. 7 */

#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int i = 0; i < 8; i++)
        code[i] = ng_cuda_adder_e2m1(x[i]) << 1 | ng_cuda_bits_of(x[i]) >> 31;

#ifdef __CUDA_ARCH__
    const uint32_t even =
        __byte_perm(__byte_perm(code[0], code[2], 0x0040),
                    __byte_perm(code[4], code[6], 0x0040), 0x5410);
    const uint32_t odd =
        __byte_perm(__byte_perm(code[1], code[3], 0x0040),
                    __byte_perm(code[5], code[7], 0x0040), 0x5410);
#else
    const uint32_t even = (code[0] & 0xFF) | (code[2] & 0xFF) << 8
                          | (code[4] & 0xFF) << 16 | code[6] << 24;
    const uint32_t odd = (code[1] & 0xFF) | (code[3] & 0xFF) << 8
                         | (code[5] & 0xFF) << 16 | code[7] << 24;
#endif
    const uint32_t word = even + (odd << 4);

    return (word >> 1 & 0x77777777) | (word & 0x11111111) << 3;
}

#endif
