/* SPDX-License-Identifier: Apache-2.0
 *
 * SwiGLU: values that are bounded, and what a quantiser makes of them, which is
 * exact.
 */
#include <string.h>

#include "conformance/checks/inputs_swiglu.h"

#define N(array) ((int)(sizeof(array) / sizeof *(array)))

/* clang-format off */
#define EVERY_ROUNDING                                                         \
    {"rounding", NG_AXIS_RULE, NG_RULE_ROUNDING, NG_N_ROUNDINGS,               \
     {NG_NEAREST_EVEN, NG_NEAREST_AWAY, NG_TOWARD_ZERO, NG_UP, NG_DOWN,        \
      NG_STOCHASTIC}}
#define MXFP4_SCALE                                                            \
    {"mxfp4.scale", NG_AXIS_RULE, NG_RULE_MXFP4_SCALE, NG_N_MX_SCALES,         \
     {NG_MX_FLOOR, NG_MX_CEIL, NG_MX_EVEN, NG_MX_RCEIL}}
#define FP8_SCALE                                                              \
    {"fp8.scale", NG_AXIS_RULE, NG_RULE_FP8_SCALE, NG_N_FP8_SCALES,            \
     {NG_FP8_FP32, NG_FP8_POW2}}
#define PLAIN {"y", NG_AXIS_DTYPE, 0, 2, {NG_FP32, NG_BF16}}
#define MXFP4_SCALES {"scales", NG_AXIS_DTYPE, 0, 2, {NG_UE8M0, NG_UE8M0X4}}
#define FP8_SCALES                                                             \
    {"scales", NG_AXIS_DTYPE, 0, 3, {NG_FP32, NG_UE8M0, NG_UE8M0X4}}
/* clang-format on */

static const ng_axis plain_axes[] = {PLAIN};
static const ng_axis mxfp4_axes[] = {EVERY_ROUNDING, MXFP4_SCALE, MXFP4_SCALES};
static const ng_axis fp8_axes[] = {EVERY_ROUNDING, FP8_SCALE, FP8_SCALES};

/* UE8M0 scales want powers of two; roundings are the quantiser's business and
 * tried with one kind of scale. */
static bool offers_fp8(const ng_variant *variant)
{
    const bool fp32 = ng_variant_get(variant, "scales", 0) == NG_FP32;
    const bool pow2 = ng_fp8_scale_is_pow2(variant->rules.fp8_scale);

    if (variant->rules.rounding != NG_NEAREST_EVEN)
        return pow2 && fp32;
    return pow2 || fp32;
}

/* The quantiser's rules are tried with one storage of scales, the scale rules
 * under one rounding. */
static bool offers_mxfp4(const ng_variant *variant)
{
    return variant->rules.rounding == NG_NEAREST_EVEN
           || (variant->rules.mxfp4_scale == NG_MX_FLOOR
               && ng_variant_get(variant, "scales", 0) == NG_UE8M0);
}

/* What is quantised, and outputs that nothing quantises. */
static bool is_bounded(const ng_variant *variant, const char *output)
{
    (void)variant;
    return strchr(output, '.') == NULL;
}

#define EVENT(e) (1u << NG_EVENT_##e)
#define EVENTS (EVENT(INEXACT) | EVENT(SUBNORMAL) | EVENT(FLUSHED) | EVENT(NAN))

#define AXES(array) .axes = array, .n_axes = N(array)

const ng_operation ng_swiglu_operations[] = {
    {.name = "swiglu",
     .summary = "silu(gate) * up",
     .signature = "y[T, F] = gate, up bf16 [T, F] (offsets[G+1])",
     .bounded = is_bounded,
     AXES(plain_axes),
     .strata = ng_swiglu_strata},
    {.name = "swiglu_mxfp4",
     .summary = "silu(gate) * up, to MXFP4 in one pass",
     .signature = "values fp32 [T, F], y.codes e2m1x2 [T, F/2], y.scales"
                  " [T, F/32] = gate, up bf16 [T, F] (offsets[G+1])",
     .bounded = is_bounded,
     AXES(mxfp4_axes),
     .offers = offers_mxfp4,
     .strata = ng_swiglu_strata,
     .claims = EVENTS},
    {.name = "swiglu_fp8_row",
     .summary = "silu(gate) * up, to FP8 along rows in one pass",
     .signature = "values fp32 [T, F], y.codes e4m3 [T, F], y.scales"
                  " [T, F/128] = gate, up bf16 [T, F] (offsets[G+1])",
     .bounded = is_bounded,
     AXES(fp8_axes),
     .offers = offers_fp8,
     .strata = ng_swiglu_strata,
     .claims = EVENTS},
    {.name = "swiglu_fp8_row_col",
     .summary = "silu(gate) * up, to FP8 along rows and along columns",
     .signature = "values fp32 [T, F], y.codes e4m3 [T, F], y.scales"
                  " [T, F/128], z.codes e4m3 [F, T], z.scales [F, B] = gate, up"
                  " bf16 [T, F] (offsets[G+1])",
     .bounded = is_bounded,
     AXES(fp8_axes),
     .offers = offers_fp8,
     .strata = ng_swiglu_strata,
     .claims = EVENTS},
    {.name = "swiglu_backward",
     .summary = "the gradients of gate and up",
     .signature = "grad_gate, grad_up [T, F] = grad_y, gate, up bf16 [T, F]"
                  " (offsets[G+1])",
     .bounded = is_bounded,
     AXES(plain_axes),
     .strata = ng_swiglu_strata},
    {.name = "swiglu_backward_fp8_row",
     .summary = "the gradients of gate and up, to FP8 along rows",
     .signature = "grad_gate, grad_up fp32 [T, F], .codes e4m3 [T, F], .scales"
                  " [T, F/128] of both = grad_y, gate, up bf16 [T, F]"
                  " (offsets[G+1])",
     .bounded = is_bounded,
     AXES(fp8_axes),
     .offers = offers_fp8,
     .strata = ng_swiglu_strata,
     .claims = EVENTS},
};
const int ng_n_swiglu_operations = N(ng_swiglu_operations);
