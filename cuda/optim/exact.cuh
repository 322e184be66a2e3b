/* SPDX-License-Identifier: Apache-2.0
 *
 * Correctly rounded quotients and roots from approximate seeds, at half of the
 * instructions that IEEE division and square root take, for numbers whose
 * results and remainders stay normal: the callers see to that, and to what
 * happens outside.
 *
 * Reciprocal. y0 = 1/b within an ulp; y = y0 + y0 (1 - b y0), each fma rounded.
 * Whether y = RN(1/b) depends on the seed for 33 of the 2^23 significands of b:
 * from y0 = RN(1/b) it is for all of them (test_exact_steps.cc), and so it is
 * from the seeds that the GPU has (probe_steps.h tries them all there).
 *
 * Quotient. q0 = a y lies within 1.5 ulp of a/b: y is off by half an ulp, which
 * is at most an ulp of the quotient, and rounding adds half of one. r = fma(-b,
 * q0, a) has an error of at most one unit in its last place, so q1 = fma(r, y,
 * q0) is a faithful rounding: off by half an ulp and some 2^-22 of one. For
 * such a q1 the remainder r1 = a - b q1 is exact, and fma(r1, y, q1) = RN(a/b)
 * where y = RN(1/b): Markstein's theorem (P. Markstein, "Computation of
 * elementary functions on the IBM RISC System/6000 processor", IBM J. Res. Dev.
 * 34, 1990; Muller et al., Handbook of Floating-Point Arithmetic, 2nd
 * edition, 4.7). It needs |a| >= 2^-100 (the remainder's last bit is about
 * 2^-48 a), and b and a/b between 2^-100 and 2^100. a = 0 gives a zero, of
 * either sign. Smaller a give a q within a few ulps or units of 2^-149.
 *
 * Root. y = v^-1/2 within 2^-22, r0 = v y, then one step of Newton on the
 * remainder v - r0^2. Tried likewise for all significands of two binades, of
 * which 16 depend on the seed. v between 2^-99 and 2^99; v = 0, negative,
 * infinite, NaN and subnormal v give NaN (of a subnormal one the seed is
 * infinite), others below 2^-99 a root within a few ulps.
 */
#ifndef NG_CUDA_OPTIM_EXACT_CUH
#define NG_CUDA_OPTIM_EXACT_CUH

#include "cuda/ptx_math.cuh"

NG_HOST_DEVICE float ng_cuda_reciprocal_from(float y0, float b)
{
    return ng_cuda_fma_rn(y0, ng_cuda_fma_rn(-b, y0, 1.0f), y0);
}

/* RN(1/b); b from 2^-100 to 2^100. */
NG_HOST_DEVICE float ng_cuda_reciprocal(float b)
{
    return ng_cuda_reciprocal_from(ng_cuda_reciprocal_approx(b), b);
}

/* RN(a/b), y = RN(1/b). */
NG_HOST_DEVICE float ng_cuda_quotient(float a, float b, float y)
{
    const float q0 = ng_cuda_mul_rn(a, y);
    const float q1 = ng_cuda_fma_rn(ng_cuda_fma_rn(-b, q0, a), y, q0);

    return ng_cuda_fma_rn(ng_cuda_fma_rn(-b, q1, a), y, q1);
}

NG_HOST_DEVICE float ng_cuda_root_from(float y, float v)
{
    const float r = ng_cuda_mul_rn(v, y);

    return ng_cuda_fma_rn(ng_cuda_fma_rn(-r, r, v), ng_cuda_mul_rn(0.5f, y), r);
}

/* RN(sqrt v). */
NG_HOST_DEVICE float ng_cuda_root(float v)
{
    return ng_cuda_root_from(ng_cuda_rsqrt_approx(v), v);
}

#endif
