/* SPDX-License-Identifier: Apache-2.0
 *
 * E4M3 codes under a power of two to E2M1, nearest-even, saturating: four
 * elements in two words of FP16 pairs, nearly all of it in multiply-adds, which
 * go beside the integer pipe. Device only; fp8_to_mxfp4_block.cuh is held
 * against it.
 *
 * With x = |code| 2^k, the function that runs straight through E2M1's numbers,
 * x at the value of code n being n, is a sum of three ramps
 *
 *     4 sat(x / 2) + 2 sat((x - 2) / 2) + sat((x - 4) / 2)
 *
 * where sat(t) is t between 0 and 1. Within a step it is linear, and half of it
 * is passed where x passes the boundary; so the magnitude code is it rounded to
 * an integer, a tie to the even one, and 7 above 6 by itself. At most one of
 * the ramps is neither 0 nor full, and the sums of full ones are even: added to
 * 1024, whose ulp is 1, one after the other they round once, in FP16.
 *
 * x has 4 significant bits, and FP16 holds x and the ramps exactly where x is
 * 2^-11 or more; below, far from the least boundary 1/4, whatever it rounds to
 * gives 0.
 */
#ifndef NG_CUDA_CONVERT_RAMP_E2M1_CUH
#define NG_CUDA_CONVERT_RAMP_E2M1_CUH

#include "cuda/bits.cuh"
#include "cuda/ptx_cvt.cuh"
#include "cuda/ptx_half2.cuh"
#include "cuda/ptx_prmt.cuh"

/* 2^(k - 1) twice, of the ramps: FP16. Below 2^-24 every code is 0. From 2^14
 * on no code but zeros has such a factor, for the largest of a block comes to 8
 * at most, or is stopped with the scale at 2^127, where k is small. */
__device__ __forceinline__ uint32_t ng_cuda_ramp_factor(int k)
{
    const int e = ng_cuda_min(k - 1, 14);
    const uint32_t half = e >= -14   ? (uint32_t)(e + 15) << 10
                          : e >= -24 ? UINT32_C(1) << (e + 24)
                                     : 0;

    return half * 0x10001;
}

/* 1024 plus the magnitude codes of two E4M3 magnitudes in FP16: in the halves'
 * last three bits, 0x6400 above. factor of ng_cuda_ramp_factor. */
__device__ __forceinline__ uint32_t ng_cuda_ramp_e2m1x2(uint32_t magnitudes,
                                                        uint32_t factor)
{
    const uint32_t one = 0x3C003C00, two = 0x40004000, four = 0x44004400;
    const uint32_t low = ng_cuda_fma_sat_fp16x2(magnitudes, factor, 0x80008000);
    const uint32_t middle =
        ng_cuda_fma_sat_fp16x2(magnitudes, factor, one | 0x80008000);
    const uint32_t high =
        ng_cuda_fma_sat_fp16x2(magnitudes, factor, two | 0x80008000);
    const uint32_t sum =
        ng_cuda_fma_fp16x2(middle, two, ng_cuda_add_fp16x2(high, 0x64006400));

    return ng_cuda_fma_fp16x2(low, four, sum);
}

/* Eight E2M1 codes in a word, of the E4M3 codes of even elements and of odd
 * ones, none of them NaN. `magnitudes` are the two words without signs. */
__device__ __forceinline__ uint32_t ng_cuda_ramp_e2m1x8(
    uint32_t even, uint32_t odd, const uint32_t magnitudes[2], uint32_t factor)
{
    uint32_t pair[2];

    /* Odd ones into the upper nibbles: 16 * 0x6400 leaves 6 in the upper half,
     * which is taken away beforehand. */
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const uint32_t low = ng_cuda_ramp_e2m1x2(
            ng_cuda_cvt_fp16x2_of_e4m3x2(magnitudes[0] >> 16 * i), factor);
        const uint32_t high = ng_cuda_ramp_e2m1x2(
            ng_cuda_cvt_fp16x2_of_e4m3x2(magnitudes[1] >> 16 * i), factor);

        pair[i] = high * 16 + (low - 0x60000);
    }
    return ng_cuda_prmt(pair[0], pair[1], 0x6420) | (even >> 4 & 0x08080808)
           | (odd & 0x80808080);
}

#endif
