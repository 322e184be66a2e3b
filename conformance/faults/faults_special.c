/* SPDX-License-Identifier: Apache-2.0
 *
 * Zeros, subnormals, NaN, ends of formats.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/faults/fault.h"
#include "formats/fp32.h"

/* The reference, on a copy of x in which every number is as changed. */
static ng_status on_changed_x(const ng_call *call, uint32_t (*change)(uint32_t))
{
    ng_call other = *call;
    ng_tensor *x;
    int64_t n;
    uint32_t *copy = fault_copy_input(&other, "x", &x, &n);

    if (copy == NULL)
        return NG_NO_MEMORY;
    for (int64_t i = 0; i < n; i++)
        copy[i] = change(copy[i]);
    const ng_status status = fault_reference(&other);

    free(copy);
    return status;
}

static uint32_t without_subnormals(uint32_t bits)
{
    return (bits & 0x7F800000) == 0 ? bits & 0x80000000 : bits;
}

static uint32_t without_nan(uint32_t bits)
{
    return (bits & 0x7FFFFFFF) > 0x7F800000 ? 0 : bits;
}

static uint32_t at_most_448(uint32_t bits)
{
    const uint32_t magnitude = bits & 0x7FFFFFFF;

    return magnitude > 0x43E00000 && magnitude < 0x7F800000
               ? (bits & 0x80000000) | 0x43E00000
               : bits;
}

static ng_status flushes_inputs(const ng_call *call)
{
    return on_changed_x(call, without_subnormals);
}

static ng_status skips_nan(const ng_call *call)
{
    return on_changed_x(call, without_nan);
}

static ng_status clamps_first(const ng_call *call)
{
    return on_changed_x(call, at_most_448);
}

static ng_status never_saturates(const ng_call *call)
{
    return fault_rule(call, NG_RULE_OVERFLOW, NG_IEEE);
}

static ng_status always_saturates(const ng_call *call)
{
    return fault_rule(call, NG_RULE_OVERFLOW, NG_SATURATE);
}

/* The slot past 6 would be 8: its code's low bits are 0. */
static ng_status wraps(const ng_call *call)
{
    const ng_status status = fault_reference(call);
    const ng_tensor *x = ng_call_input(call, "x");
    uint8_t *y = ng_call_output(call, "y")->data;

    for (int64_t i = 0; status == NG_OK && i < x->shape[0]; i++)
        if (fabsf(((const float *)x->data)[i]) >= 7)
            y[i] &= 8;
    return status;
}

/* Every code of an output list, changed. */
static ng_status on_list(const ng_call *call, int bytes,
                         uint32_t (*change)(uint32_t))
{
    const ng_status status = fault_reference(call);
    const ng_tensor *y = ng_call_output(call, "y");

    for (int64_t i = 0; status == NG_OK && i < y->shape[0]; i++)
        if (bytes == 1)
            ((uint8_t *)y->data)[i] = (uint8_t)change(((uint8_t *)y->data)[i]);
        else
            ((uint16_t *)y->data)[i] =
                (uint16_t)change(((uint16_t *)y->data)[i]);
    return status;
}

static uint32_t zero_unsigned(uint32_t code)
{
    return code == 0x80 ? 0 : code;
}

static uint32_t fp16_flushed(uint32_t code)
{
    return (code & 0x7C00) == 0 ? code & 0x8000 : code;
}

static ng_status zero_loses_sign(const ng_call *call)
{
    return on_list(call, 1, zero_unsigned);
}

static ng_status flushes_fp16(const ng_call *call)
{
    return on_list(call, 2, fp16_flushed);
}

/* What is rounded to zero loses its sign; a zero keeps it. */
static void unsign_block(const ng_call *call, const ng_elements *x,
                         const ng_elements *y, const ng_block *b)
{
    (void)call;
    for (int64_t r = b->row; r < b->row_end; r++)
        for (int64_t c = b->col; c < b->col_end; c++)
            if (ng_elements_get(y, r, c) == 8
                && fault_value(x->codes->dtype, ng_elements_get(x, r, c)) != 0)
                ng_elements_put(y, r, c, 0);
}

static ng_status small_loses_sign(const ng_call *call)
{
    return fault_blocks(call, unsign_block);
}

/* ---- decoders ----------------------------------------------------------- */

static ng_status e4m3_without_subnormals(const ng_call *call)
{
    const ng_status status = fault_reference(call);
    const ng_tensor *x = ng_call_input(call, "x");
    float *y = ng_call_output(call, "y")->data;

    for (int64_t i = 0; status == NG_OK && i < x->shape[0]; i++) {
        const int code = ((const uint8_t *)x->data)[i];

        if ((code & 0x78) == 0 && (code & 7) != 0)
            y[i] = copysignf(ldexpf(1 + (float)(code & 7) / 8, -7),
                             (code & 0x80) != 0 ? -1.0f : 1.0f);
    }
    return status;
}

static ng_status e4m3_flushed(const ng_call *call)
{
    const ng_status status = fault_reference(call);
    const ng_tensor *x = ng_call_input(call, "x");
    float *y = ng_call_output(call, "y")->data;

    for (int64_t i = 0; status == NG_OK && i < x->shape[0]; i++)
        if ((((const uint8_t *)x->data)[i] & 0x78) == 0)
            y[i] = copysignf(0.0f, y[i]);
    return status;
}

static ng_status byte_in_the_field(const ng_call *call)
{
    const ng_status status = fault_reference(call);
    const ng_tensor *x = ng_call_input(call, "x");
    float *y = ng_call_output(call, "y")->data;

    for (int64_t i = 0; status == NG_OK && i < x->shape[0]; i++)
        y[i] = ng_fp32_from_bits((uint32_t)((const uint8_t *)x->data)[i] << 23);
    return status;
}

/* The same, in a dequantiser: 2^-127 is 0, and the NaN scale an infinity. */
static ng_status scale_by_shift(const ng_call *call)
{
    const ng_status status = fault_reference(call);
    ng_elements x, y;

    if (status != NG_OK || !fault_sides(&x, &y, call))
        return status;
    for (int64_t r = 0; r < x.rows; r++)
        for (int64_t c = 0; c < x.cols; c++) {
            const ng_block b = ng_elements_block_at(&x, r, c);
            const float s = ng_fp32_from_bits(ng_elements_scale(&x, &b) << 23);
            const float v = s * fault_value(NG_E2M1, ng_elements_get(&x, r, c));

            ng_elements_put(&y, r, c, isnan(v) ? NG_FP32_NAN : ng_fp32_bits(v));
        }
    return NG_OK;
}

/* FP32 scales below the normal numbers are flushed. */
static void flush_scale(const ng_call *call, const ng_elements *x,
                        const ng_elements *y, const ng_block *b)
{
    (void)call, (void)x;
    if (ng_elements_scale(y, b) < 0x00800000)
        ng_elements_put_scale(y, b, 0);
}

static ng_status small_scales_flushed(const ng_call *call)
{
    return fault_blocks(call, flush_scale);
}

/* ---- blocks ------------------------------------------------------------- */

static bool is_zero(const ng_elements *x, const ng_block *b)
{
    for (int64_t r = b->row; r < b->row_end; r++)
        for (int64_t c = b->col; c < b->col_end; c++)
            if (fault_value(x->codes->dtype, ng_elements_get(x, r, c)) != 0)
                return false;
    return true;
}

/* 0 / 0 */
static void divide_by_zero(const ng_call *call, const ng_elements *x,
                           const ng_elements *y, const ng_block *b)
{
    (void)call;
    if (!is_zero(x, b))
        return;
    ng_elements_put_scale(y, b, 0);
    for (int64_t r = b->row; r < b->row_end; r++)
        for (int64_t c = b->col; c < b->col_end; c++)
            ng_elements_put(y, r, c, 0x7F);
}

static ng_status zero_over_zero(const ng_call *call)
{
    return fault_blocks(call, divide_by_zero);
}

static void no_scale(const ng_call *call, const ng_elements *x,
                     const ng_elements *y, const ng_block *b)
{
    (void)call;
    if (is_zero(x, b))
        ng_elements_put_scale(y, b, 0xFF);
}

static ng_status zero_has_no_scale(const ng_call *call)
{
    return fault_blocks(call, no_scale);
}

static void least_scale(const ng_call *call, const ng_elements *x,
                        const ng_elements *y, const ng_block *b)
{
    (void)call;
    if (is_zero(x, b))
        ng_elements_put_scale(y, b, ng_fp32_bits(0x1p-126f));
}

static ng_status zero_has_the_least_scale(const ng_call *call)
{
    return fault_blocks(call, least_scale);
}

/* Codes that are NaN taken for 0 in a product. */
static ng_status gemm_drops_nan(const ng_call *call)
{
    ng_call other = *call;
    ng_tensor *a;
    int64_t n;
    uint8_t *copy = fault_copy_input(&other, "a.codes", &a, &n);

    if (copy == NULL)
        return NG_NO_MEMORY;
    for (int64_t i = 0; i < n; i++)
        if ((copy[i] & 0x7F) == 0x7F)
            copy[i] = 0;
    const ng_status status = fault_reference(&other);

    free(copy);
    return status;
}

#define EVEN "rounding=nearest-even"
#define MXFP4 EVEN, "mxfp4.scale=floor", "x=fp32", "y.scales=ue8m0"

const fault faults_special[] = {
    {"e4m3-never-saturates",
     "overflow",
     "L-03",
     {"encode_e4m3"},
     {EVEN, "overflow=saturate"},
     never_saturates},
    {"e4m3-clamps-before-rounding",
     "overflow",
     "L-03",
     {"encode_e4m3"},
     {EVEN, "overflow=ieee"},
     clamps_first},
    {"fp16-saturates",
     "overflow",
     "L-03",
     {"encode_fp16"},
     {EVEN, "overflow=ieee"},
     always_saturates},
    {"e2m1-wraps-past-the-top",
     "overflow",
     "L-03",
     {"encode_e2m1"},
     {EVEN},
     wraps},
    {"e4m3-subnormals-read-as-normal",
     "subnormals",
     "L-04",
     {"decode_e4m3"},
     {NULL},
     e4m3_without_subnormals},
    {"e4m3-subnormals-read-as-zero",
     "subnormals",
     "L-04",
     {"decode_e4m3"},
     {NULL},
     e4m3_flushed},
    {"e4m3-zero-loses-its-sign",
     "sign of zero",
     "L-04",
     {"encode_e4m3"},
     {EVEN},
     zero_loses_sign},
    {"mxfp4-small-loses-its-sign",
     "sign of zero",
     "L-04",
     {"quantize_mxfp4"},
     {MXFP4},
     small_loses_sign},
    {"ue8m0-byte-in-the-exponent-field",
     "end of the scales",
     "L-05",
     {"decode_ue8m0"},
     {NULL},
     byte_in_the_field},
    {"mxfp4-scale-by-a-shift",
     "end of the scales",
     "L-05",
     {"dequantize_mxfp4"},
     {"y=fp32", "x.scales=ue8m0", "overflow=saturate"},
     scale_by_shift},
    {"fp8-small-scales-flushed",
     "end of the scales",
     "L-05",
     {"mxfp4_to_fp8_row"},
     {"headroom=6", "overflow=saturate", "x.scales=ue8m0", "y.scales=fp32"},
     small_scales_flushed},
    {"fp8-tile-zero-over-zero",
     "zero block",
     "L-09",
     {"quantize_fp8_tile"},
     {EVEN, "fp8.scale=fp32", "x=fp32"},
     zero_over_zero},
    {"mxfp4-zero-has-no-scale",
     "zero block",
     "L-09",
     {"quantize_mxfp4"},
     {MXFP4},
     zero_has_no_scale},
    {"fp8-row-zero-has-the-least-scale",
     "zero block",
     "L-09",
     {"quantize_fp8_row"},
     {EVEN, "fp8.scale=fp32", "x=fp32"},
     zero_has_the_least_scale},
    {"mxfp4-skips-nan",
     "NaN rule",
     "L-11",
     {"quantize_mxfp4"},
     {MXFP4},
     skips_nan},
    {"fp8-row-skips-nan",
     "NaN rule",
     "L-11",
     {"quantize_fp8_row"},
     {EVEN, "fp8.scale=fp32", "x=fp32"},
     skips_nan},
    {"gemm-takes-nan-for-zero",
     "NaN rule",
     "L-11",
     {"grouped_gemm_fprop"},
     {"gemm.accumulate=exact", "d=fp32", "a.scales=fp32"},
     gemm_drops_nan},
    {"fp16-subnormals-flushed",
     "subnormals",
     "L-20",
     {"encode_fp16"},
     {EVEN},
     flushes_fp16},
    {"mxfp4-subnormal-inputs-flushed",
     "subnormals",
     "L-20",
     {"quantize_mxfp4"},
     {MXFP4},
     flushes_inputs},
    {.name = NULL},
};
