/* SPDX-License-Identifier: Apache-2.0
 *
 * One element to its code, rounded in another way.
 */
#include <math.h>

#include "conformance/faults/fault.h"
#include "formats/fp32.h"
#include "reference/convert/ref_encode.h"

static ng_status ties_away(const ng_call *call)
{
    return fault_rule(call, NG_RULE_ROUNDING, NG_NEAREST_AWAY);
}

static ng_status cuts(const ng_call *call)
{
    return fault_rule(call, NG_RULE_ROUNDING, NG_TOWARD_ZERO);
}

static ng_status rounds_up(const ng_call *call)
{
    return fault_rule(call, NG_RULE_ROUNDING, NG_UP);
}

static ng_status always_noise(const ng_call *call)
{
    return fault_rule(call, NG_RULE_ROUNDING, NG_STOCHASTIC);
}

/* floor(v/step + 1/2) in every binade of E2M1: 2.5 goes up, -2.5 as well. */
static uint32_t half_up(float v)
{
    static const float middle[7] = {.25f, .75f, 1.25f, 1.75f, 2.5f, 3.5f, 5};
    uint32_t code = 0;

    while (code < 7 && (v > 0 ? v >= middle[code] : -v > middle[code]))
        code++;
    return signbit(v) ? code | 8 : code;
}

static void half_up_block(const ng_call *call, const ng_elements *x,
                          const ng_elements *y, const ng_block *b)
{
    const float s = fault_value(NG_UE8M0, ng_elements_scale(y, b));

    (void)call;
    for (int64_t r = b->row; isfinite(s) && r < b->row_end; r++)
        for (int64_t c = b->col; c < b->col_end; c++)
            ng_elements_put(
                y, r, c,
                half_up(fault_value(x->codes->dtype, ng_elements_get(x, r, c))
                        / s));
}

static ng_status adds_half(const ng_call *call)
{
    return fault_blocks(call, half_up_block);
}

/* Of each tie, which the encoder's event tells, the other neighbour. */
static ng_status ties_to_odd(const ng_call *call)
{
    const ng_status status = fault_reference(call);
    const ng_tensor *x = ng_call_input(call, "x");
    const ng_tensor *y = ng_call_output(call, "y");
    const ng_format *e2m1 = &ng_formats[NG_FORMAT_E2M1];

    for (int64_t i = 0; status == NG_OK && i < x->shape[0]; i++) {
        unsigned events = 0;
        const float v = ((const float *)x->data)[i];
        const uint32_t even =
            ng_ref_encode(e2m1, v, &ng_default_rules, 0, &events);

        if ((events & 1u << NG_EVENT_TIE) != 0 && fabsf(v) < 6)
            ((uint8_t *)y->data)[i] =
                (uint8_t)(fabsf(v) < fabsf(fault_value(NG_E2M1, even))
                              ? even - 1
                              : even + 1);
    }
    return status;
}

/* The low 16 bits thrown away. */
static ng_status upper_half(const ng_call *call)
{
    const ng_status status = fault_reference(call);
    const ng_tensor *x = ng_call_input(call, "x");
    uint16_t *y = ng_call_output(call, "y")->data;

    for (int64_t i = 0; status == NG_OK && i < x->shape[0]; i++) {
        const float v = ((const float *)x->data)[i];

        if (isfinite(v))
            y[i] = (uint16_t)(ng_fp32_bits(v) >> 16);
    }
    return status;
}

/* The exponent field alone. */
static ng_status exponent_field(const ng_call *call)
{
    const ng_status status = fault_reference(call);
    const ng_tensor *x = ng_call_input(call, "x");
    uint8_t *y = ng_call_output(call, "y")->data;

    for (int64_t i = 0; status == NG_OK && i < x->shape[0]; i++) {
        const float v = ((const float *)x->data)[i];

        if (isfinite(v))
            y[i] = (uint8_t)(ng_fp32_bits(v) >> 23);
    }
    return status;
}

/* The encoder given a number that was rounded to another format before. */
static ng_status by_way_of(const ng_call *call, ng_format_id way)
{
    const ng_tensor *x = ng_call_input(call, "x");
    const ng_tensor *y = ng_call_output(call, "y");
    const ng_dtype dtype = way == NG_FORMAT_BF16 ? NG_BF16 : NG_FP16;
    const ng_format *to =
        &ng_formats[y->dtype == NG_E4M3 ? NG_FORMAT_E4M3 : NG_FORMAT_E2M1];

    for (int64_t i = 0; i < x->shape[0]; i++) {
        const float v = ((const float *)x->data)[i];
        const uint32_t code =
            ng_ref_encode(&ng_formats[way], v, &ng_default_rules, 0, NULL);

        ((uint8_t *)y->data)[i] = (uint8_t)ng_ref_encode(
            to, isfinite(v) ? fault_value(dtype, code) : v, &call->rules, 0,
            NULL);
    }
    return NG_OK;
}

static ng_status by_fp16(const ng_call *call)
{
    return by_way_of(call, NG_FORMAT_FP16);
}

static ng_status by_bf16(const ng_call *call)
{
    return by_way_of(call, NG_FORMAT_BF16);
}

/* Divides in FP32, which rounds, and then rounds to the code. */
static void divide_block(const ng_call *call, const ng_elements *x,
                         const ng_elements *y, const ng_block *b)
{
    const float s = ng_fp32_from_bits(ng_elements_scale(y, b));

    (void)call;
    for (int64_t r = b->row; isfinite(s) && r < b->row_end; r++)
        for (int64_t c = b->col; c < b->col_end; c++) {
            const float v =
                fault_value(x->codes->dtype, ng_elements_get(x, r, c));

            ng_elements_put(y, r, c, fault_nearest(NG_E4M3, (double)(v / s)));
        }
}

static ng_status divides(const ng_call *call)
{
    return fault_blocks(call, divide_block);
}

static void multiply_block(const ng_call *call, const ng_elements *x,
                           const ng_elements *y, const ng_block *b)
{
    const float s = ng_fp32_from_bits(ng_elements_scale(y, b));
    const float inverse = 1.0f / s;

    (void)call;
    for (int64_t r = b->row; isfinite(s) && r < b->row_end; r++)
        for (int64_t c = b->col; c < b->col_end; c++) {
            const float v =
                fault_value(x->codes->dtype, ng_elements_get(x, r, c));

            ng_elements_put(y, r, c,
                            fault_nearest(NG_E4M3, (double)(v * inverse)));
        }
}

static ng_status multiplies(const ng_call *call)
{
    return fault_blocks(call, multiply_block);
}

/* Noise of the lower half of the word, not of its upper one. */
static ng_status other_noise(const ng_call *call)
{
    const ng_tensor *x = ng_call_input(call, "x");
    const uint32_t *word = ng_call_input(call, "random")->data;
    uint16_t *y = ng_call_output(call, "y")->data;

    for (int64_t i = 0; i < x->shape[0]; i++)
        y[i] = (uint16_t)ng_ref_encode(&ng_formats[NG_FORMAT_BF16],
                                       ((const float *)x->data)[i],
                                       &call->rules, word[i] << 16, NULL);
    return NG_OK;
}

/* One stream for all tensors. */
static ng_status one_stream(const ng_call *call)
{
    ng_call other = *call;

    other.random.stream = 12345;
    return fault_reference(&other);
}

/* Noise added to the bits and the low half masked: right for finite numbers. */
static ng_status adds_and_masks(const ng_call *call)
{
    const ng_tensor *x = ng_call_input(call, "x");
    const uint32_t *word = ng_call_input(call, "random")->data;
    uint16_t *y = ng_call_output(call, "y")->data;

    for (int64_t i = 0; i < x->shape[0]; i++)
        y[i] = (uint16_t)((((const uint32_t *)x->data)[i] + (word[i] >> 16))
                          >> 16);
    return NG_OK;
}

#define EVEN "rounding=nearest-even"
#define POW2 EVEN, "fp8.scale=pow2", "x=bf16", "y.scales=ue8m0"

const fault faults_rounding[] = {
    {"e2m1-ties-away",
     "tie direction",
     "L-01",
     {"encode_e2m1"},
     {EVEN},
     ties_away},
    {"mxfp4-ties-away",
     "tie direction",
     "L-01",
     {"quantize_mxfp4"},
     {EVEN, "mxfp4.scale=floor", "x=bf16", "y.scales=ue8m0"},
     ties_away},
    {"mxfp4-adds-half-and-cuts",
     "tie direction",
     "L-01",
     {"quantize_mxfp4"},
     {EVEN, "mxfp4.scale=floor", "x=bf16", "y.scales=ue8m0"},
     adds_half},
    {"e2m1-ties-to-odd",
     "tie direction",
     "L-01",
     {"encode_e2m1"},
     {EVEN},
     ties_to_odd},
    {"e4m3-rounds-by-the-half-bit-alone",
     "tie direction",
     "L-02",
     {"encode_e4m3"},
     {EVEN},
     ties_away},
    {"fp8-row-cuts", "truncation", "L-02", {"quantize_fp8_row"}, {POW2}, cuts},
    {"ue8m0-ties-up",
     "tie direction",
     "L-06",
     {"encode_ue8m0"},
     {EVEN},
     ties_away},
    {"ue8m0-is-the-exponent-field",
     "truncation",
     "L-06",
     {"encode_ue8m0"},
     {EVEN},
     exponent_field},
    {"bf16-is-the-upper-half",
     "truncation",
     "L-20",
     {"encode_bf16"},
     {EVEN},
     upper_half},
    {"fp16-cuts", "truncation", "L-20", {"encode_fp16"}, {EVEN}, cuts},
    {"fp8-tile-rounds-up",
     "rounding direction",
     "",
     {"quantize_fp8_tile"},
     {POW2},
     rounds_up},
    {"mxfp4-always-stochastic",
     "rounding direction",
     "",
     {"quantize_mxfp4"},
     {EVEN, "mxfp4.scale=floor", "x=bf16", "y.scales=ue8m0"},
     always_noise},
    {"fp8-row-divides-in-fp32",
     "double rounding",
     "",
     {"quantize_fp8_row"},
     {EVEN, "fp8.scale=fp32", "x=fp32"},
     divides},
    {"fp8-col-multiplies-by-the-reciprocal",
     "double rounding",
     "",
     {"quantize_fp8_col"},
     {EVEN, "fp8.scale=fp32", "x=fp32"},
     multiplies},
    {"e4m3-by-way-of-fp16",
     "double rounding",
     "",
     {"encode_e4m3"},
     {EVEN, "overflow=saturate"},
     by_fp16},
    {"e2m1-by-way-of-bf16",
     "double rounding",
     "",
     {"encode_e2m1"},
     {EVEN},
     by_bf16},
    {"bf16-noise-of-the-lower-half",
     "stochastic noise",
     "L-19",
     {"encode_bf16"},
     {"rounding=stochastic"},
     other_noise},
    {"mxfp4-one-random-stream",
     "stochastic noise",
     "L-19",
     {"quantize_mxfp4"},
     {"rounding=stochastic", "mxfp4.scale=floor", "x=bf16", "y.scales=ue8m0"},
     one_stream},
    {"bf16-noise-added-to-nan",
     "NaN rule",
     "L-19",
     {"encode_bf16"},
     {"rounding=stochastic", "overflow=ieee"},
     adds_and_masks},
    {.name = NULL},
};
