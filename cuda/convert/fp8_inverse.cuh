/* SPDX-License-Identifier: Apache-2.0
 *
 * What an FP8 element is divided by, for kernels in which neighbours have
 * different scales: no branch, no boundary to look at. Device only; the general
 * path, fp8_code.cuh, is held against it.
 *
 * Powers of two: v * 2^-k is exact, or so far below E4M3's least step that any
 * rounding gives zero; cvt rounds once.
 *
 * General scales: let t = v / s, and q an FP32 number within one ulp of it. The
 * sign of the rest v - q s says on which side of q it lies; one step toward it
 * if that is toward zero, then the last bit set, is t rounded to odd, and
 * RNE_E4M3 takes that where it takes t, for its boundaries are FP32 numbers
 * with an even last bit. q: RN32(v r), r = RN32(1 / s), is within 2 ulps of t,
 * and one step of the residual, v - q s, brings it closer. The sign of the last
 * rest must be right where q is a boundary, and there v - q s is a multiple of
 * 2^-10 ulp(s), which FP32 holds for s >= 2^-100; below, v and s are scaled up
 * by 2^64 first. (Cutting q instead of rounding it would save the step, and
 * loses ties: where t is a boundary, q may come out below it.)
 */
#ifndef NG_CUDA_CONVERT_FP8_INVERSE_CUH
#define NG_CUDA_CONVERT_FP8_INVERSE_CUH

#include "cuda/ptx_math.cuh"

/* v * up over s; r = RN32(1 / s), the exact inverse of a power of two. All NaN
 * in a NaN block. */
struct ng_cuda_inverse {
    float up, s, r;
};

/* scale is an FP32 pattern of fp8_scale.cuh. */
template <bool POW2>
__device__ __forceinline__ ng_cuda_inverse ng_cuda_inverse_of(uint32_t scale)
{
    ng_cuda_inverse d = {1.0f, __uint_as_float(scale), 0.0f};

    if (!POW2 && d.s < 0x1p-100f) {
        d.up = 0x1p64f;
        d.s = __fmul_rn(d.s, d.up);
    }
    d.r = __frcp_rn(d.s);
    return d;
}

/* A number that RNE_E4M3 takes where it takes v / s, the sign of zero kept. */
template <bool POW2>
__device__ __forceinline__ float ng_cuda_odd_quotient(float v,
                                                      const ng_cuda_inverse &d)
{
    if constexpr (POW2)
        return __fmul_rn(v, d.r);

    const uint32_t bits = __float_as_uint(v);
    const float x = __fmul_rn(fabsf(v), d.up);
    const float near = __fmul_rn(x, d.r);
    const float q = __fmaf_rn(__fmaf_rn(-near, d.s, x), d.r, near);
    const float rest = __fmaf_rn(-q, d.s, x);
    uint32_t odd = __float_as_uint(q);

    if (rest != 0.0f)
        odd = (odd - (__float_as_uint(rest) >> 31)) | 1;
    return __uint_as_float(odd | (bits & 0x80000000));
}

#endif
