/* SPDX-License-Identifier: Apache-2.0
 *
 * RND_E4M3(v / s) under any rules, with events: the general path of FP8
 * quantization.
 */
#ifndef NG_CUDA_CONVERT_FP8_CODE_CUH
#define NG_CUDA_CONVERT_FP8_CODE_CUH

#include "cuda/convert/both.cuh"
#include "cuda/convert/fp8_quotient.cuh"
#include "cuda/convert/round_code.cuh"

/* a / b to 32 bits and a sticky bit; a finite, b finite and not zero, neither
 * sticky. */
NG_HOST_DEVICE ng_cuda_real ng_cuda_real_quotient(const ng_cuda_real &a,
                                                  const ng_cuda_real &b)
{
    ng_cuda_real v = {0, 0, a.negative != b.negative, false, NG_CUDA_FINITE};

    if (a.significand == 0)
        return v;

    /* Two numbers in [2^31, 2^32): their quotient times 2^32 has 32 or 33
     * bits. */
    const uint64_t numerator = (uint64_t)a.significand << 32;
    const uint64_t quotient = numerator / b.significand;
    const int extra = (int)(quotient >> 32);

    v.significand = (uint32_t)(quotient >> extra);
    v.sticky = numerator % b.significand != 0 || (quotient & extra) != 0;
    v.exponent = a.exponent - b.exponent - 32 + extra;
    return v;
}

/* The code of FP32 pattern v under FP32 pattern scale; 0x7F under a NaN. */
NG_HOST_DEVICE uint32_t ng_cuda_fp8_code(uint32_t v, uint32_t scale,
                                         const ng_rules &rules, uint32_t random,
                                         unsigned &events)
{
    if (scale > NG_FP32_INFINITY) {
        events |= NG_CUDA_EVENT(NAN);
        return NG_E4M3_NAN;
    }

    const uint32_t code = ng_cuda_round_code<ng_cuda_e4m3>(
        ng_cuda_real_quotient(ng_cuda_real_of(v), ng_cuda_real_of(scale)),
        rules, random, events);

    /* The fast path's writing is held against it. */
    return rules.rounding == NG_NEAREST_EVEN ? ng_cuda_both(
               code, (v >> 24 & 0x80)
                         | ng_cuda_quotient_code(ng_cuda_float_of(v),
                                                 ng_cuda_divisor_of(scale)))
                                             : code;
}

#endif
