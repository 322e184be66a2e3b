/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs of numbers as the fast paths load them: 16-byte loads, then FP32 values
 * out of registers. Device only.
 */
#ifndef NG_CUDA_CONVERT_LOAD_NUMBERS_CUH
#define NG_CUDA_CONVERT_LOAD_NUMBERS_CUH

#include "cuda/convert/decode_code.cuh"
#include "cuda/ptx_cvt.cuh"
#include "cuda/ptx_half2.cuh"
#include "cuda/ptx_prmt.cuh"
#include "cuda/vector.cuh"
#include "formats/dtype.h"

/* N numbers of a type, N a multiple of 8, as loaded. */
template <ng_dtype DTYPE, int N> struct ng_cuda_run {
    static constexpr int bytes = DTYPE == NG_FP32 ? 4 : 2;
    static constexpr int n_words = N * bytes / 4;
    uint32_t word[n_words];

    /* `from` lies on a 16-byte boundary. */
    __device__ __forceinline__ void load(const void *from)
    {
#pragma unroll
        for (int i = 0; i < n_words; i += 4) {
            const uint4 v = ng_cuda_load16((const char *)from + 4 * i);

            word[i] = v.x;
            word[i + 1] = v.y;
            word[i + 2] = v.z;
            word[i + 3] = v.w;
        }
    }

    __device__ __forceinline__ void clear()
    {
#pragma unroll
        for (int i = 0; i < n_words; i++)
            word[i] = 0;
    }

    /* Numbers 2 i and 2 i + 1, exactly. */
    __device__ __forceinline__ float2 pair(int i) const
    {
        if constexpr (DTYPE == NG_FP32)
            return make_float2(__uint_as_float(word[2 * i]),
                               __uint_as_float(word[2 * i + 1]));
        else if constexpr (DTYPE == NG_BF16)
            return make_float2(__uint_as_float(word[i] << 16),
                               __uint_as_float(word[i] & 0xFFFF0000));
        else
            return ng_cuda_float2_of_fp16x2(word[i]);
    }

    /* The signs of numbers 4 i .. 4 i + 3, each in bit 7 of its byte. */
    __device__ __forceinline__ uint32_t signs(int i) const
    {
        if constexpr (DTYPE == NG_FP32)
            return ng_cuda_prmt(
                       ng_cuda_prmt(word[4 * i], word[4 * i + 1], 0x73),
                       ng_cuda_prmt(word[4 * i + 2], word[4 * i + 3], 0x73),
                       0x5410)
                   & 0x80808080;
        return ng_cuda_prmt(word[2 * i], word[2 * i + 1], 0x7531) & 0x80808080;
    }

    /* The largest magnitude, in patterns of the type: they are ordered as
     * integers, NaN above infinity above every number. Of 16-bit types the
     * largest of the even numbers is in the lower half, of the odd ones in the
     * upper. */
    __device__ __forceinline__ uint32_t largest() const
    {
        uint32_t amax = 0;

        if constexpr (DTYPE == NG_FP32) {
#pragma unroll
            for (int i = 0; i < n_words; i++)
                amax = max(amax, word[i] & 0x7FFFFFFF);
        } else {
#pragma unroll
            for (int i = 0; i < n_words; i += 2)
                amax = ng_cuda_max3_u16x2(amax, word[i] & 0x7FFF7FFF,
                                          word[i + 1] & 0x7FFF7FFF);
        }
        return amax;
    }

    /* What largest() gave, merged over threads, as an FP32 pattern. */
    static __device__ __forceinline__ uint32_t magnitude(uint32_t largest)
    {
        if constexpr (DTYPE == NG_FP32)
            return largest;
        largest = max(largest & 0xFFFF, largest >> 16);
        return DTYPE == NG_BF16 ? largest << 16
                                : ng_cuda_bits_of(ng_cuda_decode_fp16(largest));
    }

    /* The larger of what two threads' largest() gave. */
    static __device__ __forceinline__ uint32_t larger(uint32_t a, uint32_t b)
    {
        if constexpr (DTYPE == NG_FP32)
            return max(a, b);
        return ng_cuda_max3_u16x2(a, b, 0);
    }
};

#endif
