/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/model/ref_rows.h"

#include <stdlib.h>
#include <string.h>

#include "reference/model/ref_codes.h"
#include "reference/model/ref_lanes.h"

bool ng_ref_is_numbers(const ng_array *array)
{
    return array->carrier == NG_CARRY_FP32 || array->carrier == NG_CARRY_BF16;
}

bool ng_ref_is_rows(const ng_array *array)
{
    return ng_ref_is_numbers(array) || array->carrier == NG_CARRY_FP8
           || array->carrier == NG_CARRY_MXFP4;
}

static void decode_fp8(float *restrict y, const uint8_t *restrict codes,
                       const float *scales, int64_t cols)
{
    for (int64_t first = 0; first < cols; first += NG_FP8_BLOCK) {
        const float scale = scales[first / NG_FP8_BLOCK];
        const int64_t last =
            first + NG_FP8_BLOCK < cols ? first + NG_FP8_BLOCK : cols;

        NG_REF_SIMD
        for (int64_t c = first; c < last; c++)
            y[c] = ng_ref_e4m3_values[codes[c]] * scale;
        if (scale != scale)
            for (int64_t c = first; c < last; c++)
                y[c] = ng_fp32_from_bits(NG_FP32_NAN);
    }
}

static void decode_mxfp4(float *restrict y, const uint8_t *restrict codes,
                         const uint8_t *scales, int64_t cols)
{
    for (int64_t first = 0; first < cols; first += NG_MXFP4_BLOCK) {
        const float scale = ng_ref_ue8m0_values[scales[first / NG_MXFP4_BLOCK]];
        const int64_t last =
            first + NG_MXFP4_BLOCK < cols ? first + NG_MXFP4_BLOCK : cols;

        for (int64_t c = first; c < last; c++) {
            const unsigned code = codes[c / 2] >> (c % 2 * 4) & 0xF;

            y[c] = scale != scale ? scale : ng_ref_e2m1_values[code] * scale;
        }
    }
}

NG_REF_CLONES
const float *ng_ref_row(const ng_array *array, int64_t row, float *scratch)
{
    const int64_t cols = array->cols;
    const char *data = array->data;

    data += row * ng_carrier_row_bytes(array->carrier, cols);
    switch (array->carrier) {
    case NG_CARRY_FP32:
        return (const float *)(const void *)data;
    case NG_CARRY_BF16: {
        const uint16_t *codes = (const uint16_t *)(const void *)data;

        NG_REF_SIMD
        for (int64_t c = 0; c < cols; c++)
            scratch[c] = ng_ref_of_bf16(codes[c]);
        break;
    }
    case NG_CARRY_FP8:
        decode_fp8(scratch, (const uint8_t *)data,
                   (const float *)array->scales
                       + row * ng_ceil_div(cols, NG_FP8_BLOCK),
                   cols);
        break;
    default:
        decode_mxfp4(scratch, (const uint8_t *)data,
                     (const uint8_t *)array->scales
                         + row * ng_ceil_div(cols, NG_MXFP4_BLOCK),
                     cols);
        break;
    }
    return scratch;
}

NG_REF_CLONES
void ng_ref_store_row(const ng_array *array, int64_t row, const float *x)
{
    const int64_t cols = array->cols;

    if (array->carrier == NG_CARRY_FP32) {
        float *y = (float *)array->data + row * cols;

        NG_REF_SIMD
        for (int64_t c = 0; c < cols; c++)
            y[c] = x[c] != x[c] ? ng_fp32_from_bits(NG_FP32_NAN) : x[c];
    } else {
        uint16_t *y = (uint16_t *)array->data + row * cols;

        NG_REF_SIMD
        for (int64_t c = 0; c < cols; c++)
            y[c] = ng_ref_to_bf16(x[c]);
    }
}

ng_status ng_ref_each_row(ng_ref_row_job *work, const void *job, int64_t n,
                          int64_t n_scratch)
{
    bool failed = false;

#ifdef _OPENMP
#pragma omp parallel if (n > 1)
#endif
    {
        float *scratch = malloc(((size_t)n_scratch + 1) * sizeof *scratch);

        if (scratch == NULL) {
#ifdef _OPENMP
#pragma omp atomic write
#endif
            failed = true;
        }
#ifdef _OPENMP
#pragma omp for schedule(guided)
#endif
        for (int64_t i = 0; i < n; i++)
            if (scratch != NULL)
                work(job, i, scratch);
        free(scratch);
    }
    return failed ? NG_NO_MEMORY : NG_OK;
}
