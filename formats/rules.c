/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/rules.h"

#include <stddef.h>
#include <string.h>

static const char *const rounding_names[] = {
    "nearest-even", "nearest-away", "toward-zero", "up", "down", "stochastic",
    "nearest-zero"};
static const char *const overflow_names[] = {"saturate", "ieee"};
static const char *const e2m1_nan_names[] = {"zero", "max", "minus-zero",
                                             "three"};
static const char *const e2m1_zero_names[] = {"signed", "plus",
                                              "kept-if-rounded"};
static const char *const e2m1_half_names[] = {"exact", "added"};
static const char *const nan_names[] = {"canonical", "bf16-widened", "quiet"};
static const char *const ue8m0_names[] = {"magnitude", "ml-dtypes"};
static const char *const mx_scale_names[] = {
    "floor", "ceil", "even", "rceil", "even-fp32", "rceil-fp32", "rceil-log2",
    "floor-log2"};
static const char *const mxfp4_byte_0_names[] = {"2^-127", "2^-126", "1"};
static const char *const fp8_scale_names[] = {
    "fp32", "pow2", "fp32-product", "fp32-inverse", "pow2-inverse"};
static const char *const fp8_multiplier_names[] = {"none", "of-scale",
                                                   "of-amax", "of-reciprocal"};
static const char *const fp8_align_names[] = {"rounded", "exponent-field"};
static const char *const block_least_names[] = {"none", "1e-4", "1e-12"};
static const char *const block_nan_names[] = {
    "propagate", "coded", "infinity-largest", "largest",
    "arithmetic", "nan-unseen", "infinity-one", "unseen-largest"};
static const char *const headroom_names[] = {"0", "1", "2", "3", "4",
                                             "5", "6", "7", "8"};
static const char *const split_names[] = {"ulp", "flashoptim"};
static const char *const compand_names[] = {"ng", "flashoptim"};
static const char *const step_names[] = {"ng", "flashoptim"};
static const char *const gemm_names[] = {"exact", "hopper-wgmma"};

/* A rule's values, the last n of which only peers have. */
#define N_VALUES(names) ((int)(sizeof(names) / sizeof *(names)))
#define OF_PEERS(names, n) names, N_VALUES(names), N_VALUES(names) - (n)
#define VALUES(names) OF_PEERS(names, 0)

static const struct {
    const char *name;
    size_t offset;
    const char *const *values;
    int n_values, n_own;
    const char *meaning;
} rule_table[NG_N_RULES] = {
    [NG_RULE_ROUNDING] = {"rounding", offsetof(ng_rules, rounding),
        OF_PEERS(rounding_names, 1),
        "which neighbour a value between two codes goes to"},
    [NG_RULE_OVERFLOW] = {"overflow", offsetof(ng_rules, overflow),
        VALUES(overflow_names),
        "what becomes of a value beyond the largest finite one"},
    [NG_RULE_E2M1_NAN] = {"e2m1.nan", offsetof(ng_rules, e2m1_nan),
        OF_PEERS(e2m1_nan_names, 2),
        "the E2M1 code of a NaN, which the format cannot hold"},
    [NG_RULE_E2M1_ZERO] = {"e2m1.zero", offsetof(ng_rules, e2m1_zero),
        OF_PEERS(e2m1_zero_names, 2), "the sign of an E2M1 zero"},
    [NG_RULE_E2M1_HALF] = {"e2m1.half", offsetof(ng_rules, e2m1_half),
        OF_PEERS(e2m1_half_names, 1),
        "how a number just below half of E2M1's least step is rounded"},
    [NG_RULE_NAN] = {"nan", offsetof(ng_rules, nan),
        OF_PEERS(nan_names, 1), "the NaN that a change of format writes"},
    [NG_RULE_UE8M0] = {"ue8m0", offsetof(ng_rules, ue8m0),
        OF_PEERS(ue8m0_names, 1), "what UE8M0 makes of a number"},
    [NG_RULE_MXFP4_SCALE] = {"mxfp4.scale", offsetof(ng_rules, mxfp4_scale),
        OF_PEERS(mx_scale_names, 4),
        "the scale of an MXFP4 block from its largest magnitude"},
    [NG_RULE_MXFP8_SCALE] = {"mxfp8.scale", offsetof(ng_rules, mxfp8_scale),
        OF_PEERS(mx_scale_names, 4),
        "the scale of an MXFP8 block from its largest magnitude"},
    [NG_RULE_MXFP4_BYTE_0] = {"mxfp4.byte-0", offsetof(ng_rules, mxfp4_byte_0),
        OF_PEERS(mxfp4_byte_0_names, 2),
        "what the elements under scale byte 0 are divided by"},
    [NG_RULE_FP8_SCALE] = {"fp8.scale", offsetof(ng_rules, fp8_scale),
        OF_PEERS(fp8_scale_names, 3),
        "the scale of an FP8 block from its largest magnitude"},
    [NG_RULE_FP8_MULTIPLIER] = {"fp8.multiplier",
        offsetof(ng_rules, fp8_multiplier), OF_PEERS(fp8_multiplier_names, 3),
        "what the elements of an FP8 block are multiplied by"},
    [NG_RULE_FP8_ALIGN] = {"fp8.align", offsetof(ng_rules, fp8_align),
        OF_PEERS(fp8_align_names, 1),
        "how an FP8 code meets the larger scale of its new block"},
    [NG_RULE_BLOCK_LEAST] = {"block.least", offsetof(ng_rules, block_least),
        OF_PEERS(block_least_names, 2),
        "the least amax that a block is taken to have"},
    [NG_RULE_BLOCK_NAN] = {"block.nan", offsetof(ng_rules, block_nan),
        OF_PEERS(block_nan_names, 7), "a NaN or an infinity in a block"},
    [NG_RULE_HEADROOM] = {"headroom", offsetof(ng_rules, headroom),
        VALUES(headroom_names),
        "binades between the largest MXFP4 scale and the FP8 scale"},
    [NG_RULE_SPLIT] = {"weight.split", offsetof(ng_rules, split),
        VALUES(split_names), "how a weight and its correction make up theta"},
    [NG_RULE_COMPAND] = {"state.compand", offsetof(ng_rules, compand),
        VALUES(compand_names),
        "how an optimizer state becomes codes and a scale"},
    [NG_RULE_STEP] = {"optim.step", offsetof(ng_rules, step),
        VALUES(step_names), "the order of operations of an optimizer step"},
    [NG_RULE_GEMM] = {"gemm.accumulate", offsetof(ng_rules, gemm),
        VALUES(gemm_names), "how a GEMM adds the products of a block"},
};

const ng_rules ng_default_rules = {
    .rounding = NG_NEAREST_EVEN,
    .overflow = NG_SATURATE,
    .e2m1_nan = NG_E2M1_NAN_ZERO,
    .nan = NG_NAN_CANONICAL,
    .ue8m0 = NG_UE8M0_MAGNITUDE,
    .mxfp4_scale = NG_MX_FLOOR,
    .mxfp8_scale = NG_MX_FLOOR,
    .fp8_scale = NG_FP8_FP32,
    .block_nan = NG_BLOCK_NAN_PROPAGATE,
    .headroom = NG_DEFAULT_HEADROOM,
    .split = NG_SPLIT_ULP,
    .compand = NG_COMPAND_NG,
    .step = NG_STEP_NG,
    .gemm = NG_GEMM_EXACT,
};

const char *ng_rule_name(ng_rule rule)
{
    return rule_table[rule].name;
}

int ng_rule_n_values(ng_rule rule)
{
    return rule_table[rule].n_values;
}

int ng_rule_n_own(ng_rule rule)
{
    return rule_table[rule].n_own;
}

const char *ng_rule_value_name(ng_rule rule, int value)
{
    return rule_table[rule].values[value];
}

const char *ng_rule_meaning(ng_rule rule)
{
    return rule_table[rule].meaning;
}

int ng_rules_get(const ng_rules *rules, ng_rule rule)
{
    int value;

    memcpy(&value, (const char *)rules + rule_table[rule].offset, sizeof value);
    return value;
}

void ng_rules_set(ng_rules *rules, ng_rule rule, int value)
{
    memcpy((char *)rules + rule_table[rule].offset, &value, sizeof value);
}

bool ng_rule_find(const char *name, ng_rule *rule)
{
    for (int i = 0; i < NG_N_RULES; i++)
        if (strcmp(name, rule_table[i].name) == 0) {
            *rule = (ng_rule)i;
            return true;
        }
    return false;
}

bool ng_rule_value_find(ng_rule rule, const char *name, int *value)
{
    for (int i = 0; i < rule_table[rule].n_values; i++)
        if (strcmp(name, rule_table[rule].values[i]) == 0) {
            *value = i;
            return true;
        }
    return false;
}

bool ng_rules_valid(const ng_rules *rules)
{
    for (int i = 0; i < NG_N_RULES; i++) {
        const int value = ng_rules_get(rules, (ng_rule)i);

        if (value < 0 || value >= rule_table[i].n_values)
            return false;
    }
    return true;
}

bool ng_rules_for_kernels(const ng_rules *rules)
{
    for (int i = 0; i < NG_N_RULES; i++)
        if (ng_rules_get(rules, (ng_rule)i) >= rule_table[i].n_own)
            return false;
    return ng_rules_valid(rules);
}

bool ng_fp8_scale_is_pow2(int fp8_scale)
{
    return fp8_scale == NG_FP8_POW2 || fp8_scale == NG_FP8_POW2_INVERSE;
}
