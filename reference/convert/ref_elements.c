/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/convert/ref_elements.h"

const ng_format *ng_ref_format(ng_dtype dtype)
{
    return &ng_formats[dtype == NG_FP16   ? NG_FORMAT_FP16
                       : dtype == NG_BF16 ? NG_FORMAT_BF16
                                          : NG_FORMAT_FP32];
}

ng_exact ng_ref_load(const ng_matrix *matrix, int64_t r, int64_t c)
{
    const int64_t i = r * matrix->ld + c;
    const uint32_t code = matrix->dtype == NG_FP32
                              ? ((const uint32_t *)matrix->data)[i]
                              : ((const uint16_t *)matrix->data)[i];

    return ng_exact_decode(ng_ref_format(matrix->dtype), code);
}

void ng_ref_store(const ng_matrix *matrix, int64_t r, int64_t c, uint32_t code)
{
    const int64_t i = r * matrix->ld + c;

    if (matrix->dtype == NG_FP32)
        ((uint32_t *)matrix->data)[i] = code;
    else
        ((uint16_t *)matrix->data)[i] = (uint16_t)code;
}

uint8_t ng_ref_load_nibble(const uint8_t *line, int64_t c)
{
    return c % 2 == 0 ? line[c / 2] & 0xF : line[c / 2] >> 4;
}

void ng_ref_store_nibble(uint8_t *line, int64_t c, uint8_t code)
{
    line[c / 2] = (uint8_t)(c % 2 == 0 ? code : line[c / 2] | code << 4);
}

uint8_t *ng_ref_fp8_byte(const ng_fp8 *tensor, int64_t r, int64_t c)
{
    return &tensor->codes[tensor->form == NG_FP8_COL ? c * tensor->ld + r
                                                     : r * tensor->ld + c];
}

ng_exact ng_ref_load_fp8(const ng_fp8 *tensor, int64_t r, int64_t c)
{
    return ng_exact_decode(&ng_formats[NG_FORMAT_E4M3],
                           *ng_ref_fp8_byte(tensor, r, c));
}
