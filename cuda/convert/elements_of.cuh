/* SPDX-License-Identifier: Apache-2.0
 *
 * Single elements of the views of layout.h, as the general paths read and write
 * them.
 */
#ifndef NG_CUDA_CONVERT_ELEMENTS_OF_CUH
#define NG_CUDA_CONVERT_ELEMENTS_OF_CUH

#include "cuda/convert/decode_code.cuh"
#include "formats/layout.h"

/* Element (r, c) of numbers, as an FP32 pattern. A NaN stays one. */
NG_HOST_DEVICE uint32_t ng_cuda_load_number(const ng_matrix &x, int64_t r,
                                            int64_t c)
{
    const int64_t i = r * x.ld + c;

    if (x.dtype == NG_FP32)
        return ((const uint32_t *)x.data)[i];

    const uint32_t code = ((const uint16_t *)x.data)[i];

    return x.dtype == NG_BF16 ? code << 16
                              : ng_cuda_bits_of(ng_cuda_decode_fp16(code));
}

/* Store the bits of a number in x's type. */
NG_HOST_DEVICE void ng_cuda_store_number(const ng_matrix &x, int64_t r,
                                         int64_t c, uint32_t bits)
{
    const int64_t i = r * x.ld + c;

    if (x.dtype == NG_FP32)
        ((uint32_t *)x.data)[i] = bits;
    else
        ((uint16_t *)x.data)[i] = (uint16_t)bits;
}

/* Element c of a row of packed E2M1 codes. */
NG_HOST_DEVICE uint32_t ng_cuda_load_nibble(const uint8_t *row, int64_t c)
{
    return row[c / 2] >> c % 2 * 4 & 0xF;
}

/* The code of element (r, c) of an FP8 tensor. */
NG_HOST_DEVICE uint8_t *ng_cuda_fp8_byte(const ng_fp8 &x, int64_t r, int64_t c)
{
    return x.codes + (x.form == NG_FP8_COL ? c * x.ld + r : r * x.ld + c);
}

#endif
