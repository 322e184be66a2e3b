/* SPDX-License-Identifier: Apache-2.0
 *
 * The optimizer: weight splitting, companded states, steps.
 */
#include "conformance/checks/inputs_optim.h"

#define N(array) ((int)(sizeof(array) / sizeof *(array)))

/* A rule that an operation leaves unread in some variants (the split of FP32
 * weights) stays an axis there, for a profile may pin either value. */
#define SPLIT                                                                  \
    {"weight.split", NG_AXIS_RULE, NG_RULE_SPLIT, NG_N_SPLITS,                 \
     {NG_SPLIT_ULP, NG_SPLIT_FLASHOPTIM}}
#define COMPAND                                                                \
    {"state.compand", NG_AXIS_RULE, NG_RULE_COMPAND, NG_N_COMPANDS,            \
     {NG_COMPAND_NG, NG_COMPAND_FLASHOPTIM}}
#define STEP                                                                   \
    {"optim.step", NG_AXIS_RULE, NG_RULE_STEP, NG_N_STEPS,                     \
     {NG_STEP_NG, NG_STEP_FLASHOPTIM}}
#define NUMBERS(name)                                                          \
    {name, NG_AXIS_DTYPE, 0, 3, {NG_FP32, NG_BF16, NG_FP16}}

static const ng_axis split_axes[] = {
    SPLIT,
    {"low", NG_AXIS_DTYPE, 0, 2, {NG_BF16, NG_FP16}},
    {"correction", NG_AXIS_DTYPE, 0, 2, {NG_I8, NG_I16}}};
static const ng_axis compand_axes[] = {
    COMPAND, {"linear", NG_AXIS_FLAG, 0, 2, {0, 1}}};
static const ng_axis constants_axes[] = {STEP};
static const ng_axis step_axes[] = {
    STEP, SPLIT, COMPAND, NUMBERS("theta"), NUMBERS("grad"),
    {"coded", NG_AXIS_FLAG, 0, 2, {0, 1}}};

/* Narrow gradients are tried with what they are used with. */
static bool offers_step(const ng_variant *variant)
{
    return ng_variant_get(variant, "grad", NG_FP32) == NG_FP32
           || (ng_variant_get(variant, "theta", NG_FP32) == NG_BF16
               && ng_variant_get(variant, "coded", 0) != 0);
}

#define EVENT(e) (1u << NG_EVENT_##e)
/* A group of a NaN, one past the scales, one under them. */
#define GROUP_EVENTS (EVENT(NAN) | EVENT(SATURATED) | EVENT(FLUSHED))

#define AXES(array) .axes = array, .n_axes = N(array)

#define COMPAND_STATE(kind, codes)                                             \
    {.name = "compand_" kind,                                                  \
     .summary = "FP32 " kind " to 8-bit codes, a scale for 32",                \
     .signature = "y.codes[n] " codes ", y.scales[n/32], y.counts[7]"          \
                  " = x[n] fp32",                                              \
     .exact = true, AXES(compand_axes), .strata = ng_compand_strata,           \
     .claims = GROUP_EVENTS}

#define EXPAND_STATE(kind, codes)                                              \
    {.name = "expand_" kind,                                                   \
     .summary = "coded " kind " to FP32",                                      \
     .signature = "y[n] fp32 = x.codes[n] " codes ", x.scales[n/32]",          \
     .exact = true, AXES(compand_axes), .strata = ng_expand_strata}

#define THETA "theta[n] | low[n], correction[n]"
#define MOMENTUM "momentum[n] | momentum.codes[n], momentum.scales[n/32]"
#define VARIANCE "variance[n] | variance.codes[n], variance.scales[n/32]"
#define STEP_OF(kind, title, states)                                           \
    {.name = "step_" kind,                                                     \
     .summary = "one step of " title ", weights and states in any form",       \
     .signature = "y.*, y.counts[7] = x.*, grad[n] (grad.scale[1]); *: "       \
                  THETA "; " states,                                           \
     .exact = true, AXES(step_axes), .offers = offers_step,                    \
     .strata = ng_step_strata, .claims = GROUP_EVENTS}

const ng_operation ng_optim_operations[] = {
    {.name = "split_weights",
     .summary = "FP32 weights to BF16 or FP16 and a correction",
     .signature = "y.low[n], y.correction[n] i8 or i16, y.counts[7]"
                  " = x[n] fp32",
     .exact = true, AXES(split_axes), .strata = ng_split_strata,
     .claims = EVENT(SATURATED)},
    {.name = "merge_weights",
     .summary = "BF16 or FP16 and a correction to FP32 weights",
     .signature = "y[n] fp32 = x.low[n], x.correction[n] i8 or i16",
     .exact = true, AXES(split_axes), .strata = ng_merge_strata},
    COMPAND_STATE("momentum", "i8"),
    COMPAND_STATE("variance", "u8"),
    EXPAND_STATE("momentum", "i8"),
    EXPAND_STATE("variance", "u8"),
    {.name = "step_constants",
     .summary = "the numbers of an optimizer step, from its settings",
     .signature = "y[14] fp32 = lr, lr0, beta1, beta2, momentum, dampening,"
                  " eps, weight_decay, nesterov, lr_decoupled, t, kind",
     .exact = true, AXES(constants_axes), .strata = ng_step_constants_strata},
    STEP_OF("sgd", "SGD (L2)", MOMENTUM),
    STEP_OF("sgdw", "SGDW", MOMENTUM),
    STEP_OF("adam", "Adam (L2)", MOMENTUM "; " VARIANCE),
    STEP_OF("adamw", "AdamW", MOMENTUM "; " VARIANCE),
    STEP_OF("lion", "Lion", MOMENTUM),
};
const int ng_n_optim_operations = N(ng_optim_operations);
