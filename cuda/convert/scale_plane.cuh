/* SPDX-License-Identifier: Apache-2.0
 *
 * Scale j of line i of a plane in any of its three types: its bits as stored,
 * an FP32 pattern or a UE8M0 code.
 */
#ifndef NG_CUDA_CONVERT_SCALE_PLANE_CUH
#define NG_CUDA_CONVERT_SCALE_PLANE_CUH

#include "cuda/convert/decode_code.cuh"
#include "formats/layout.h"

/* The byte of a UE8M0 scale, packed (byte j % 4 of a little-endian word) or
 * not. */
NG_HOST_DEVICE uint8_t *ng_cuda_scale_byte(const ng_scales &plane, int64_t i,
                                           int64_t j)
{
    uint8_t *data = (uint8_t *)plane.data;

    return plane.dtype == NG_UE8M0X4
               ? data + 4 * (i * plane.ld + j / 4 * plane.step) + j % 4
               : data + i * plane.ld + j * plane.step;
}

NG_HOST_DEVICE uint32_t ng_cuda_load_scale(const ng_scales &plane, int64_t i,
                                           int64_t j)
{
    return plane.dtype == NG_FP32
               ? ((const uint32_t *)plane.data)[i * plane.ld + j * plane.step]
               : *ng_cuda_scale_byte(plane, i, j);
}

/* Its FP32 pattern. */
NG_HOST_DEVICE uint32_t ng_cuda_load_scale_fp32(const ng_scales &plane,
                                                int64_t i, int64_t j)
{
    const uint32_t bits = ng_cuda_load_scale(plane, i, j);

    return plane.dtype == NG_FP32 ? bits
                                  : ng_cuda_bits_of(ng_cuda_decode_ue8m0(bits));
}

/* Store scale j of the n of line i. Scales of a line may have different
 * writers: a packed word is written by bytes, those past the last scale, which
 * are 0x00, with the last. */
NG_HOST_DEVICE void ng_cuda_store_scale(const ng_scales &plane, int64_t i,
                                        int64_t j, int64_t n, uint32_t bits)
{
    if (plane.dtype == NG_FP32) {
        ((uint32_t *)plane.data)[i * plane.ld + j * plane.step] = bits;
        return;
    }

    uint8_t *byte = ng_cuda_scale_byte(plane, i, j);

    *byte = (uint8_t)bits;
    if (plane.dtype == NG_UE8M0X4 && j == n - 1)
        for (int64_t absent = j % 4 + 1; absent < 4; absent++)
            byte[absent - j % 4] = 0;
}

/* The bits of scale 2^k (NaN where is_nan) in the plane's type; k fits it. */
NG_HOST_DEVICE uint32_t ng_cuda_scale_bits(ng_dtype dtype, int k, bool is_nan)
{
    if (dtype == NG_FP32)
        return is_nan ? (uint32_t)NG_FP32_NAN
                      : ng_cuda_bits_of(ng_cuda_power_of_two(k));
    return is_nan ? 0xFF : (uint32_t)(k + 127);
}

#endif
