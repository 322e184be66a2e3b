/* SPDX-License-Identifier: Apache-2.0
 *
 * Codes to FP32, exactly: shift the code so that its fields meet FP32's, and
 * multiply by the power of two between the biases. The product of a normal or
 * subnormal FP32 pattern with a power of two is exact here, and subnormal codes
 * become FP32 subnormals first, which the multiplication then normalizes: no
 * branch. (Kernels are built without flushing.)
 */
#ifndef NG_CUDA_CONVERT_DECODE_CODE_CUH
#define NG_CUDA_CONVERT_DECODE_CODE_CUH

#include "cuda/bits.cuh"
#include "formats/fp32.h"
#include "formats/rules.h"

/* Fields 1 + 2 + 1, 4 + 3 ...: the magnitude's lowest bit goes to bit `shift`,
 * and 2^(127 - bias) makes up for the bias. */
NG_HOST_DEVICE float ng_cuda_decode_fields(uint32_t magnitude,
                                           uint32_t negative, int shift,
                                           int bias)
{
    return ng_cuda_mul_rn(ng_cuda_float_of(magnitude << shift | negative << 31),
                          ng_cuda_power_of_two(127 - bias));
}

NG_HOST_DEVICE float ng_cuda_nan()
{
    return ng_cuda_float_of(NG_FP32_NAN);
}

NG_HOST_DEVICE float ng_cuda_decode_e2m1(uint32_t code)
{
    return ng_cuda_decode_fields(code & 7, code >> 3 & 1, 22, 1);
}

/* 0x7F and 0xFF, which the fields alone would make 480, are NaN. */
NG_HOST_DEVICE float ng_cuda_decode_e4m3(uint32_t code)
{
    return (code & 0x7F) == 0x7F
               ? ng_cuda_nan()
               : ng_cuda_decode_fields(code & 0x7F, code >> 7 & 1, 20, 7);
}

/* 0x00 is 2^-127: an FP32 subnormal. */
NG_HOST_DEVICE float ng_cuda_decode_ue8m0(uint32_t code)
{
    code &= 0xFF;
    if (code == 0xFF)
        return ng_cuda_nan();
    return ng_cuda_float_of(code != 0 ? code << 23 : UINT32_C(1) << 22);
}

NG_HOST_DEVICE float ng_cuda_decode_ue6m10(uint32_t code)
{
    code &= 0xFFFF;
    return code == 0xFFFF ? ng_cuda_nan()
                          : ng_cuda_decode_fields(code, 0, 13, 46);
}

/* The upper half of the FP32 number; a NaN becomes the canonical one. */
NG_HOST_DEVICE float ng_cuda_decode_bf16(uint32_t code)
{
    code &= 0xFFFF;
    return (code & 0x7FFF) > 0x7F80 ? ng_cuda_nan()
                                    : ng_cuda_float_of(code << 16);
}

NG_HOST_DEVICE float ng_cuda_decode_fp16(uint32_t code)
{
    const uint32_t magnitude = code & 0x7FFF;

    if (magnitude > 0x7C00)
        return ng_cuda_nan();
    if (magnitude == 0x7C00)
        return ng_cuda_float_of((code & 0x8000) << 16 | NG_FP32_INFINITY);
    return ng_cuda_decode_fields(magnitude, code >> 15 & 1, 13, 15);
}

#endif
