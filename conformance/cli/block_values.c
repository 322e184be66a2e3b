/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/cli/block_values.h"

#include <math.h>
#include <string.h>

#include "reference/exact.h"

static double code_value(const ng_format *format, uint32_t code)
{
    const ng_exact x = ng_exact_decode(format, code);

    if (x.kind == NG_EXACT_NAN)
        return NAN;
    const double magnitude = x.kind == NG_EXACT_INFINITE
                                 ? INFINITY
                                 : ldexp((double)x.significand, x.exponent);
    return x.negative ? -magnitude : magnitude;
}

/* The scalar format of one element. */
static const ng_format *format_of(const ng_block_values *values)
{
    switch (values->side.kind) {
    case NG_SIDE_MXFP4:
        return &ng_formats[NG_FORMAT_E2M1];
    case NG_SIDE_MXFP8:
    case NG_SIDE_FP8:
        return &ng_formats[NG_FORMAT_E4M3];
    default:
        break;
    }
    return &ng_formats[values->codes_dtype == NG_BF16   ? NG_FORMAT_BF16
                       : values->codes_dtype == NG_FP16 ? NG_FORMAT_FP16
                                                        : NG_FORMAT_FP32];
}

void ng_block_values_open(ng_block_values *values, ng_side side, int64_t rows,
                          int64_t cols, const ng_tensor *codes,
                          const ng_tensor *scales)
{
    *values = (ng_block_values){.side = side,
                                .rows = rows,
                                .cols = cols,
                                .codes = codes->data,
                                .codes_dtype = codes->dtype,
                                .codes_ld = codes->stride[0]};
    if (scales != NULL) {
        int64_t shape[2], plane[2];

        values->scales = scales->data;
        values->scales_dtype = scales->dtype;
        values->scales_ld = scales->stride[0];
        ng_side_shapes(shape, plane, side, rows, cols, NG_UE8M0);
        values->scale_lines = plane[0];
        values->scale_count = plane[1];
    }
    for (uint32_t code = 0; code < 256; code++) {
        values->ue8m0_value[code] =
            code_value(&ng_formats[NG_FORMAT_UE8M0], code);
        if (side.kind != NG_SIDE_MATRIX)
            values->code_value[code] =
                code_value(format_of(values),
                           side.kind == NG_SIDE_MXFP4 ? code & 0xF : code);
    }
}

static double number_at(const ng_block_values *values, int64_t i)
{
    uint16_t half;
    float single;

    if (values->codes_dtype == NG_FP32) {
        memcpy(&single, (const char *)values->codes + 4 * i, sizeof single);
        return (double)single;
    }
    memcpy(&half, (const char *)values->codes + 2 * i, sizeof half);
    return code_value(format_of(values), half);
}

double ng_block_scale_at(const ng_block_values *values, int64_t i, int64_t j)
{
    const unsigned char *bytes = values->scales;
    float single;

    if (values->scales_dtype == NG_UE8M0X4) /* bytes in order: block j */
        return values->ue8m0_value[bytes[4 * (i * values->scales_ld) + j]];
    if (values->scales_dtype != NG_FP32)
        return values->ue8m0_value[bytes[i * values->scales_ld + j]];
    memcpy(&single, bytes + 4 * (i * values->scales_ld + j), sizeof single);
    return (double)single;
}

double ng_block_scale_value(const ng_block_values *values, int64_t r, int64_t c)
{
    if (values->side.kind == NG_SIDE_MATRIX)
        return 1;
    if (ng_side_is_mx(values->side))
        return ng_block_scale_at(values, r, c / NG_MX_BLOCK);
    switch (values->side.form) {
    case NG_FP8_COL:
        return ng_block_scale_at(values, c, r / NG_FP8_BLOCK);
    case NG_FP8_TILE:
        return ng_block_scale_at(values, r / NG_FP8_BLOCK, c / NG_FP8_BLOCK);
    default:
        return ng_block_scale_at(values, r, c / NG_FP8_BLOCK);
    }
}

double ng_block_value(const ng_block_values *values, int64_t r, int64_t c)
{
    const unsigned char *bytes = values->codes;
    const int64_t ld = values->codes_ld;
    unsigned code;

    if (values->side.kind == NG_SIDE_MATRIX)
        return number_at(values, r * ld + c);
    if (values->side.kind == NG_SIDE_MXFP4)
        code = bytes[r * ld + c / 2] >> (c % 2 != 0 ? 4 : 0) & 0xF;
    else if (values->side.form == NG_FP8_COL)
        code = bytes[c * ld + r];
    else
        code = bytes[r * ld + c];
    return values->code_value[code] * ng_block_scale_value(values, r, c);
}

double ng_block_ulp(const ng_block_values *values, double x, double scale)
{
    const ng_format *format = format_of(values);
    const int p = format->fraction_bits;
    const int lowest = 1 - format->bias;
    const int highest = (int)(format->max_finite >> p) - format->bias;
    const double q = fabs(x / scale);
    int binade = q > 0 && isfinite(q) ? ilogb(q) : q > 0 ? highest : lowest;

    binade = binade < lowest ? lowest : binade > highest ? highest : binade;
    return ldexp(fabs(scale), binade - p);
}
