/* SPDX-License-Identifier: Apache-2.0
 *
 * Planes of scales in fast paths: where scale j of line i is one unit at
 * data + i ld + j step, bytes, with the unit and the strides in registers.
 * That is every plane of FP32 and UE8M0, and packed words that lie together and
 * are all full. Others go through scale_plane.cuh, out of line.
 */
#ifndef NG_CUDA_CONVERT_SCALE_ACCESS_CUH
#define NG_CUDA_CONVERT_SCALE_ACCESS_CUH

#include "cuda/convert/scale_plane.cuh"

struct ng_cuda_scale_access {
    uint8_t *data;
    int64_t ld, step; /* bytes */
    int unit;         /* bytes of a scale; 0: by way of the plane */
    ng_scales plane;
    int64_t n; /* scales of a line */
};

inline ng_cuda_scale_access ng_cuda_scale_access_of(const ng_scales &plane,
                                                    int64_t n)
{
    ng_cuda_scale_access a = {
        (uint8_t *)plane.data, plane.ld, plane.step, 1, plane, n};

    if (plane.dtype == NG_FP32) {
        a.unit = 4;
        a.ld *= 4;
        a.step *= 4;
    } else if (plane.dtype == NG_UE8M0X4) {
        a.ld *= 4;
        if (plane.step != 1 || n % 4 != 0)
            a.unit = 0;
    }
    return a;
}

#ifdef __CUDACC__
static __device__ __noinline__ void
ng_cuda_store_scale_slow(const ng_cuda_scale_access &a, uint32_t i, uint32_t j,
                         uint32_t bits)
{
    ng_cuda_store_scale(a.plane, i, j, a.n, bits);
}

static __device__ __noinline__ uint32_t
ng_cuda_load_scale_slow(const ng_cuda_scale_access &a, uint32_t i, uint32_t j)
{
    return ng_cuda_load_scale(a.plane, i, j);
}

/* Store the bits of scale j of line i: an FP32 pattern, or a UE8M0 code. PLAIN:
 * the plane is known to have units. */
template <bool PLAIN = false>
__device__ __forceinline__ void ng_cuda_put_scale(const ng_cuda_scale_access &a,
                                                  uint32_t i, uint32_t j,
                                                  uint32_t bits)
{
    uint8_t *at = a.data + (i * a.ld + j * a.step);

    if (a.unit == 1)
        *at = (uint8_t)bits;
    else if (PLAIN || a.unit == 4)
        *(uint32_t *)at = bits;
    else
        ng_cuda_store_scale_slow(a, i, j, bits);
}

__device__ __forceinline__ uint32_t
ng_cuda_get_scale(const ng_cuda_scale_access &a, uint32_t i, uint32_t j)
{
    const uint8_t *at = a.data + (i * a.ld + j * a.step);

    if (a.unit == 4)
        return __ldg((const uint32_t *)at);
    return a.unit == 1 ? __ldg(at) : ng_cuda_load_scale_slow(a, i, j);
}

/* Its FP32 pattern. */
__device__ __forceinline__ uint32_t
ng_cuda_get_scale_fp32(const ng_cuda_scale_access &a, uint32_t i, uint32_t j)
{
    const uint32_t bits = ng_cuda_get_scale(a, i, j);

    return a.unit == 4 ? bits : ng_cuda_bits_of(ng_cuda_decode_ue8m0(bits));
}
#endif

#endif
