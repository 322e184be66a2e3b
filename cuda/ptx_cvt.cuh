/* SPDX-License-Identifier: Apache-2.0
 *
 * The conversion instructions of sm_89 and later (PTX ISA 9.7.9.22, cvt), each
 * with a host twin by encode_nearest.cuh and decode_code.cuh; subject cuda
 * holds both against the reference, over all inputs. Pairs: `low` is the lower
 * half.
 */
#ifndef NG_CUDA_PTX_CVT_CUH
#define NG_CUDA_PTX_CVT_CUH

#include "cuda/convert/decode_code.cuh"
#include "cuda/convert/encode_nearest.cuh"

/* Two E4M3 codes: nearest-even, saturating, NaN 0x7F. */
NG_HOST_DEVICE uint32_t ng_cuda_cvt_e4m3x2(float low, float high)
{
#ifdef __CUDA_ARCH__
    uint16_t pair;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;"
        : "=h"(pair)
        : "f"(high), "f"(low));
    return pair;
#else
    return ng_cuda_nearest_e4m3(low) | ng_cuda_nearest_e4m3(high) << 8;
#endif
}

/* Two FP16 numbers: nearest-even, overflow to infinity, NaN 0x7FFF. */
NG_HOST_DEVICE uint32_t ng_cuda_cvt_fp16x2(float low, float high)
{
#ifdef __CUDA_ARCH__
    uint32_t pair;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
#else
    return ng_cuda_nearest_fp16(low) | ng_cuda_nearest_fp16(high) << 16;
#endif
}

/* Two BF16 numbers: nearest-even, overflow to infinity, NaN 0x7FFF. */
NG_HOST_DEVICE uint32_t ng_cuda_cvt_bf16x2(float low, float high)
{
#ifdef __CUDA_ARCH__
    uint32_t pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
#else
    return ng_cuda_nearest_bf16(low) | ng_cuda_nearest_bf16(high) << 16;
#endif
}

/* Two E4M3 codes as two FP16 numbers, exactly; NaN 0x7FFF. */
NG_HOST_DEVICE uint32_t ng_cuda_cvt_fp16x2_of_e4m3x2(uint32_t pair)
{
#ifdef __CUDA_ARCH__
    uint32_t halves;
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"((uint16_t)pair));
    return halves;
#else
    return ng_cuda_nearest_fp16(ng_cuda_decode_e4m3(pair & 0xFF))
           | ng_cuda_nearest_fp16(ng_cuda_decode_e4m3(pair >> 8 & 0xFF)) << 16;
#endif
}

#ifdef __CUDACC__
/* Two FP16 numbers as FP32, exactly: device only. */
__device__ __forceinline__ float2 ng_cuda_float2_of_fp16x2(uint32_t pair)
{
    float2 x;
    asm("{.reg .b16 low, high;\n\t"
        "mov.b32 {low, high}, %2;\n\t"
        "cvt.f32.f16 %0, low;\n\t"
        "cvt.f32.f16 %1, high;}"
        : "=f"(x.x), "=f"(x.y)
        : "r"(pair));
    return x;
}
#endif

/* Two FP16 numbers as E4M3 codes: nearest-even, saturating, NaN 0x7F. */
NG_HOST_DEVICE uint32_t ng_cuda_cvt_e4m3x2_of_fp16x2(uint32_t halves)
{
#ifdef __CUDA_ARCH__
    uint16_t pair;
    asm("cvt.rn.satfinite.e4m3x2.f16x2 %0, %1;" : "=h"(pair) : "r"(halves));
    return pair;
#else
    return ng_cuda_nearest_e4m3(ng_cuda_decode_fp16(halves & 0xFFFF))
           | ng_cuda_nearest_e4m3(ng_cuda_decode_fp16(halves >> 16)) << 8;
#endif
}

#endif
