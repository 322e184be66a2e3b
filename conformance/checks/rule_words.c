/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/checks/rule_words.h"

#include <stdio.h>

static const char *rounding_words(int asked, int value)
{
    const bool nearest = asked == NG_NEAREST_EVEN || asked == NG_NEAREST_AWAY
                         || asked == NG_NEAREST_ZERO;

    switch (value) {
    case NG_NEAREST_EVEN:
        return nearest ? "ties go to the even code" : "rounds to the nearest";
    case NG_NEAREST_AWAY:
        return nearest ? "ties go away from zero"
                       : "rounds to the nearest, ties away from zero";
    case NG_NEAREST_ZERO:
        return nearest ? "ties go toward zero"
                       : "rounds to the nearest, ties toward zero";
    case NG_TOWARD_ZERO:
        return "cuts off instead of rounding";
    case NG_UP:
        return "rounds up";
    case NG_DOWN:
        return "rounds down";
    default:
        return "rounds stochastically";
    }
}

static const char *const overflow_words[] = {
    [NG_SATURATE] = "overflow saturates",
    [NG_IEEE] = "overflow gives infinity or NaN where it should saturate"};
static const char *const e2m1_nan_words[] = {
    [NG_E2M1_NAN_ZERO] = "a NaN becomes 0",
    [NG_E2M1_NAN_MAX] = "a NaN becomes 6",
    [NG_E2M1_NAN_MINUS_ZERO] = "a NaN becomes a zero of the other sign",
    [NG_E2M1_NAN_THREE] = "a NaN becomes 1.5, its sign kept"};
static const char *const e2m1_zero_words[] = {
    [NG_E2M1_ZERO_SIGNED] = "a zero keeps its sign",
    [NG_E2M1_ZERO_PLUS] = "a zero loses its sign",
    [NG_E2M1_ZERO_KEPT_IF_ROUNDED] =
        "-0 becomes 0, what rounds to zero keeps its sign"};
static const char *const e2m1_half_words[] = {
    [NG_E2M1_HALF_EXACT] = "rounds the number itself",
    [NG_E2M1_HALF_ADDED] =
        "adds one half and cuts: the sum is rounded first"};
static const char *const nan_words[] = {
    [NG_NAN_CANONICAL] = "a NaN becomes the canonical one",
    [NG_NAN_BF16_WIDENED] = "a NaN is BF16's, widened",
    [NG_NAN_QUIET] = "a NaN keeps its sign"};
static const char *const ue8m0_words[] = {
    [NG_UE8M0_MAGNITUDE] = "UE8M0 takes the magnitude",
    [NG_UE8M0_ML_DTYPES] =
        "UE8M0 takes only what is above zero, and its ties go up"};
static const char *const mxfp4_scale_words[] = {
    [NG_MX_FLOOR] = "the scale is floor(log2 amax) - 2",
    [NG_MX_CEIL] = "the scale is ceil(log2 amax) - 2",
    [NG_MX_EVEN] = "amax is rounded before the scale is taken from it",
    [NG_MX_RCEIL] =
        "the scale is the smallest under which nothing saturates",
    [NG_MX_EVEN_FP32] =
        "amax is rounded in FP32 before the scale is taken from it",
    [NG_MX_RCEIL_FP32] =
        "the scale comes from amax times 1/6, rounded to FP32",
    [NG_MX_RCEIL_LOG2] =
        "the exponent comes from a rounded logarithm of amax / 6",
    [NG_MX_FLOOR_LOG2] = "the exponent comes from a rounded logarithm"};
static const char *const mxfp8_scale_words[] = {
    [NG_MX_FLOOR] = "the scale is floor(log2 amax) - 8",
    [NG_MX_CEIL] = "the scale is ceil(log2 amax) - 8",
    [NG_MX_EVEN] = "amax is rounded before the scale is taken from it",
    [NG_MX_RCEIL] =
        "the scale is the smallest under which nothing saturates",
    [NG_MX_EVEN_FP32] =
        "amax is rounded in FP32 before the scale is taken from it",
    [NG_MX_RCEIL_FP32] =
        "the scale comes from amax times 1/448, rounded to FP32",
    [NG_MX_RCEIL_LOG2] =
        "the exponent comes from a rounded logarithm of amax / 448",
    [NG_MX_FLOOR_LOG2] = "the exponent comes from a rounded logarithm"};
static const char *const fp8_align_words[] = {
    [NG_FP8_ALIGN_ROUNDED] = "codes are rounded under the larger scale",
    [NG_FP8_ALIGN_FIELD] =
        "scales are aligned in the exponent field, without rounding"};
static const char *const block_least_words[] = {
    [NG_BLOCK_LEAST_NONE] = "amax has no lower end",
    [NG_BLOCK_LEAST_1E_4] = "amax is never below 1e-4",
    [NG_BLOCK_LEAST_1E_12] = "amax is never below 1e-12"};
static const char *const mxfp4_byte_0_words[] = {
    [NG_MXFP4_BYTE_0_EXACT] = "scale byte 0 is 2^-127",
    [NG_MXFP4_BYTE_0_NORMAL] = "elements under scale byte 0 are over 2^-126",
    [NG_MXFP4_BYTE_0_ONE] = "elements under scale byte 0 are not scaled"};
static const char *const block_nan_words[] = {
    [NG_BLOCK_NAN_PROPAGATE] = "a NaN or an infinity makes the block NaN",
    [NG_BLOCK_NAN_CODED] = "codes under a NaN scale are not 0",
    [NG_BLOCK_NAN_INFINITY_LARGEST] =
        "an infinity takes the largest scale instead of NaN",
    [NG_BLOCK_NAN_LARGEST] =
        "a NaN or an infinity takes the largest scale instead of NaN",
    [NG_BLOCK_NAN_ARITHMETIC] =
        "an infinity makes the scale infinite and the numbers zeros",
    [NG_BLOCK_NAN_UNSEEN] = "a NaN takes no part in amax",
    [NG_BLOCK_NAN_INFINITY_ONE] =
        "a NaN takes no part in amax, and an infinity makes the scale 1",
    [NG_BLOCK_NAN_UNSEEN_LARGEST] =
        "a NaN takes no part in amax, and an infinity takes the largest scale"};
static const char *const fp8_scale_words[] = {
    [NG_FP8_FP32] = "the scale is amax / 448, no power of two",
    [NG_FP8_POW2] = "the scale is a power of two",
    [NG_FP8_FP32_PRODUCT] =
        "the scale is amax times 1/448, rounded to FP32 first",
    [NG_FP8_FP32_INVERSE] = "the scale is the inverse of 448 / amax, rounded",
    [NG_FP8_POW2_INVERSE] =
        "the scale is the inverse of 448 / amax, cut to a power of two"};
static const char *const fp8_multiplier_words[] = {
    [NG_FP8_MULTIPLIER_NONE] = "divides by the scale, rounding once",
    [NG_FP8_MULTIPLIER_OF_SCALE] =
        "multiplies by the rounded reciprocal of the scale",
    [NG_FP8_MULTIPLIER_OF_AMAX] = "multiplies by 448 / amax, rounded",
    [NG_FP8_MULTIPLIER_OF_RECIPROCAL] =
        "multiplies by 448 times the rounded 1 / amax"};
static const char *const flashoptim_words[] = {"follows this project's rules",
                                               "follows FlashOptim's rules"};

void ng_rule_words(char *text, size_t size, ng_rule rule, int asked, int value)
{
    const char *words = NULL;

    switch (rule) {
    case NG_RULE_ROUNDING:
        words = rounding_words(asked, value);
        break;
    case NG_RULE_OVERFLOW:
        words = overflow_words[value];
        break;
    case NG_RULE_E2M1_NAN:
        words = e2m1_nan_words[value];
        break;
    case NG_RULE_E2M1_ZERO:
        words = e2m1_zero_words[value];
        break;
    case NG_RULE_E2M1_HALF:
        words = e2m1_half_words[value];
        break;
    case NG_RULE_FP8_ALIGN:
        words = fp8_align_words[value];
        break;
    case NG_RULE_FP8_MULTIPLIER:
        words = fp8_multiplier_words[value];
        break;
    case NG_RULE_BLOCK_LEAST:
        words = block_least_words[value];
        break;
    case NG_RULE_MXFP4_BYTE_0:
        words = mxfp4_byte_0_words[value];
        break;
    case NG_RULE_BLOCK_NAN:
        words = block_nan_words[value];
        break;
    case NG_RULE_NAN:
        words = nan_words[value];
        break;
    case NG_RULE_UE8M0:
        words = ue8m0_words[value];
        break;
    case NG_RULE_MXFP4_SCALE:
        words = mxfp4_scale_words[value];
        break;
    case NG_RULE_MXFP8_SCALE:
        words = mxfp8_scale_words[value];
        break;
    case NG_RULE_FP8_SCALE:
        words = fp8_scale_words[value];
        break;
    case NG_RULE_SPLIT:
    case NG_RULE_COMPAND:
    case NG_RULE_STEP:
        words = flashoptim_words[value];
        break;
    default:
        break;
    }
    if (words != NULL)
        snprintf(text, size, "%s", words);
    else /* a new rule, or a number */
        snprintf(text, size, "%s is %s", ng_rule_name(rule),
                 ng_rule_value_name(rule, value));
}
