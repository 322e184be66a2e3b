/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/checks/recoding.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/fp32.h"

uint32_t ng_code_of_quotient(const ng_format *format, double v, double s,
                             ng_tie tie)
{
    const double a = fabs(v);
    const uint32_t sign = signbit(v) ? ng_format_sign(format) : 0;
    uint32_t below = 0, above = format->max_finite + 1;

    while (above - below > 1) { /* value(below) * s <= a < value(above) * s */
        const uint32_t middle = below + (above - below) / 2;

        *(ng_code_value(format, middle) * s <= a ? &below : &above) = middle;
    }
    if (below == format->max_finite || tie == NG_CUT)
        return sign | below;
    const double low = ng_code_value(format, below);
    const double twice = (low + ng_code_value(format, above)) * s;
    bool up = 2 * a > twice;

    if (2 * a == twice)
        up = tie == NG_TIE_EVEN   ? below % 2 != 0
             : tie == NG_TIE_ODD  ? below % 2 == 0
             : tie == NG_TIE_AWAY ? true
             : tie == NG_TIE_UP   ? sign == 0
             : tie == NG_TIE_DOWN ? sign != 0
                                  : false;
    return sign | (up ? above : below);
}

const ng_format *ng_format_of(ng_dtype dtype)
{
    switch (dtype) {
    case NG_E2M1:
    case NG_E2M1X2:
        return &ng_formats[NG_FORMAT_E2M1];
    case NG_E4M3:
        return &ng_formats[NG_FORMAT_E4M3];
    case NG_UE8M0:
    case NG_UE8M0X4:
        return &ng_formats[NG_FORMAT_UE8M0];
    case NG_UE6M10:
        return &ng_formats[NG_FORMAT_UE6M10];
    case NG_BF16:
        return &ng_formats[NG_FORMAT_BF16];
    case NG_FP16:
        return &ng_formats[NG_FORMAT_FP16];
    default:
        return &ng_formats[NG_FORMAT_FP32];
    }
}

const ng_format *ng_format_of_codec(const ng_call *call)
{
    const char *name = call->operation;

    return strncmp(name, "encode_", 7) == 0 || strncmp(name, "decode_", 7) == 0
               ? ng_format_find(name + 7)
               : NULL;
}

double ng_rounded_to(ng_format_id id, double x)
{
    if (id == NG_FORMAT_FP32)
        return (double)(float)x;
    const ng_format *format = &ng_formats[id];
    const double largest = ng_code_value(format, format->max_finite);

    /* One half more than the largest, and it is infinite. */
    if (!(fabs(x) < largest * (1 + ldexp(0.5, -format->fraction_bits - 1))))
        return x;
    return ng_code_value(format,
                         ng_code_of_quotient(format, x, 1, NG_TIE_EVEN));
}

static double scale_value(ng_dtype dtype, uint32_t bits)
{
    return ng_value_of(dtype, bits);
}

/* The value of the element of x, whatever x is. */
static double value_at(const ng_elements *x, int64_t row, int64_t col)
{
    const double v = ng_value_of(x->codes->dtype, ng_elements_get(x, row, col));

    if (x->scales == NULL)
        return v;
    const ng_block b = ng_elements_block_at(x, row, col);

    return v * scale_value(x->scales->dtype, ng_elements_scale(x, &b));
}

static bool is_encoder(const ng_call *call)
{
    return strncmp(call->operation, "encode_", 7) == 0;
}

static void recode_list(const ng_call *call,
                        uint32_t (*recode)(const ng_element *))
{
    const ng_format *format = ng_format_of_codec(call);
    const ng_tensor *x = ng_call_input(call, "x");
    const ng_tensor *y = ng_call_output(call, "y");

    if (format == NULL)
        return;
    for (int64_t i = 0; i < x->shape[0]; i++) {
        ng_element e = {
            .call = call, .format = format, .s = 1};

        e.v = ng_value_of(x->dtype, (uint32_t)ng_unit_get(x, &i));
        e.right = (uint32_t)ng_unit_get(y, &i);
        if (!isfinite(e.v))
            continue;
        if (!e.format->is_signed)
            e.v = fabs(e.v);
        ng_unit_put(y, &i, recode(&e));
    }
}

static void recode_block(const ng_call *call, const ng_elements *x,
                         const ng_elements *y, const ng_block *b,
                         uint32_t (*recode)(const ng_element *))
{
    ng_element e = {.call = call, .format = ng_format_of(y->codes->dtype)};

    e.s = scale_value(y->scales->dtype, ng_elements_scale(y, b));
    if (!isfinite(e.s) || e.s <= 0)
        return;
    for (int64_t r = b->row; r < b->row_end; r++)
        for (int64_t c = b->col; c < b->col_end; c++) {
            e.v = value_at(x, r, c);
            e.right = ng_elements_get(y, r, c);
            if (isfinite(e.v))
                ng_elements_put(y, r, c, recode(&e));
        }
}

ng_status ng_recode(const ng_call *call, const ng_specification *right,
                    uint32_t (*recode)(const ng_element *))
{
    ng_elements x, y;
    const bool list = is_encoder(call);

    if (right->bounds != NULL
        || (!list
            && (!ng_elements_of(&x, call, "x") || !ng_elements_of(&y, call, "y")
                || y.scales == NULL)))
        return NG_NOT_COVERED;
    const ng_status status = ng_specified(right, call);

    if (status != NG_OK)
        return status;
    if (list)
        recode_list(call, recode);
    else
        for (int64_t i = 0, n_blocks = ng_elements_blocks(&y); i < n_blocks;
             i++) {
            const ng_block b = ng_elements_block(&y, i);

            recode_block(call, &x, &y, &b, recode);
        }
    return NG_OK;
}

/* ---- scales ------------------------------------------------------------- */

/* The exponent and the fraction of a finite FP32 number of an amax. */
static uint32_t bits_of(double amax)
{
    return ng_fp32_bits((float)amax);
}

static double mx_scale(bool e4m3, int rule, double amax)
{
    const uint32_t bits = bits_of(amax), fraction = bits & 0x7FFFFF;
    const int c = rule == NG_MX_CEIL    ? fraction != 0
                  : rule == NG_MX_EVEN  ? fraction >= (e4m3 ? 0x780000 : 0x600000)
                  : rule == NG_MX_RCEIL ? fraction > (e4m3 ? 0x600000 : 0x400000)
                                        : 0;
    const int byte = (int)(bits >> 23) - (e4m3 ? 8 : 2) + c;

    return ldexp(1, (byte > 0 ? byte : 0) - 127);
}

static double fp8_scale(int rule, double amax)
{
    if (amax == 0)
        return 1;
    if (rule == NG_FP8_FP32)
        return fmax((double)((float)amax / 448.0f), 0x1p-126);
    if (rule == NG_FP8_FP32_PRODUCT)
        return fmax((double)((float)amax * (1 / 448.0f)), 0x1p-126);
    if (rule == NG_FP8_FP32_INVERSE)
        return (double)(1 / (448 / (float)amax));
    const uint32_t bits = bits_of(amax);
    const int k = (int)(bits >> 23) - 135 + ((bits & 0x7FFFFF) > 0x600000);

    return ldexp(1, k > -126 ? k : -126);
}

double ng_scale_of_amax(const ng_block_values *b, double amax)
{
    const ng_rules *rules = &b->call->rules;

    return b->mx == NG_FORMAT_E2M1 ? mx_scale(false, rules->mxfp4_scale, amax)
           : b->mx == NG_FORMAT_E4M3
               ? mx_scale(true, rules->mxfp8_scale, amax)
               : fp8_scale(rules->fp8_scale, amax);
}

/* Its bits in the plane; a scale past the ends stops there. */
static uint32_t scale_bits(ng_dtype dtype, double s)
{
    if (dtype == NG_FP32)
        return ng_fp32_bits((float)s);
    const int k = s > 0 ? ilogb(s) + 127 : 0;

    return (uint32_t)(k < 0 ? 0 : k > 254 ? 254 : k);
}

static ng_tie tie_of(const ng_call *call)
{
    return call->rules.rounding == NG_NEAREST_AWAY ? NG_TIE_AWAY : NG_TIE_EVEN;
}

static void rescale_block(const ng_call *call, const ng_elements *x,
                          const ng_elements *y, const ng_block *b,
                          double *value,
                          double (*scale)(const ng_block_values *))
{
    const ng_format *format = ng_format_of(y->codes->dtype);
    ng_block_values v = {.call = call,
                         .mx = y->block_cols != NG_MX_BLOCK        ? NG_FORMAT_FP32
                                : y->codes->dtype == NG_E2M1X2 ? NG_FORMAT_E2M1
                                                               : NG_FORMAT_E4M3,
                         .value = value,
                         .cols = b->col_end - b->col};

    for (int64_t r = b->row; r < b->row_end; r++)
        for (int64_t c = b->col; c < b->col_end; c++) {
            const double element = value_at(x, r, c);

            if (!isfinite(element))
                return;
            value[v.n++] = element;
            if (fabs(element) > v.amax)
                v.amax = fabs(element);
        }
    v.right = scale_value(y->scales->dtype, ng_elements_scale(y, b));

    const double s = scale(&v);
    int64_t i = 0;

    if (!isfinite(v.right) || !isfinite(s) || s < 0 || s == v.right)
        return;
    const uint32_t bits = scale_bits(y->scales->dtype, s);
    const double stored = scale_value(y->scales->dtype, bits);

    ng_elements_put_scale(y, b, bits);
    for (int64_t r = b->row; stored > 0 && r < b->row_end; r++)
        for (int64_t c = b->col; c < b->col_end; c++, i++)
            ng_elements_put(
                y, r, c,
                ng_code_of_quotient(format, value[i], stored, tie_of(call)));
}

ng_status ng_rescale(const ng_call *call, const ng_specification *right,
                     double (*scale)(const ng_block_values *))
{
    ng_elements x, y;

    if (right->bounds != NULL || call->rules.rounding > NG_NEAREST_AWAY
        || !ng_elements_of(&x, call, "x") || !ng_elements_of(&y, call, "y")
        || y.scales == NULL)
        return NG_NOT_COVERED;
    const ng_status status = ng_specified(right, call);
    double *value =
        malloc((size_t)(y.block_rows * y.block_cols) * sizeof *value);

    for (int64_t i = 0, n_blocks = ng_elements_blocks(&y);
         status == NG_OK && value != NULL && i < n_blocks; i++) {
        const ng_block b = ng_elements_block(&y, i);

        rescale_block(call, &x, &y, &b, value, scale);
    }
    free(value);
    return value != NULL ? status : NG_NO_MEMORY;
}
