/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/format.h"

#include <stddef.h>
#include <string.h>

#include "formats/bf16.h"
#include "formats/e2m1.h"
#include "formats/e4m3.h"
#include "formats/fp16.h"
#include "formats/fp32.h"
#include "formats/ue6m10.h"
#include "formats/ue8m0.h"

const ng_format ng_formats[NG_N_FORMATS] = {
    [NG_FORMAT_E2M1] = {
        .name = "e2m1", .bits = 4, .exponent_bits = 2, .fraction_bits = 1,
        .bias = 1, .is_signed = true, .has_subnormals = true,
        .max_finite = NG_E2M1_MAX_CODE,
        .infinity = NG_NO_CODE, .nan = NG_NO_CODE,
    },
    [NG_FORMAT_E4M3] = {
        .name = "e4m3", .bits = 8, .exponent_bits = 4, .fraction_bits = 3,
        .bias = NG_E4M3_BIAS, .is_signed = true, .has_subnormals = true,
        .max_finite = NG_E4M3_MAX_CODE,
        .infinity = NG_NO_CODE, .nan = NG_E4M3_NAN,
    },
    [NG_FORMAT_UE8M0] = {
        .name = "ue8m0", .bits = 8, .exponent_bits = 8, .fraction_bits = 0,
        .bias = NG_UE8M0_BIAS, .is_signed = false, .has_subnormals = false,
        .max_finite = NG_UE8M0_MAX_CODE,
        .infinity = NG_NO_CODE, .nan = NG_UE8M0_NAN,
    },
    [NG_FORMAT_UE6M10] = {
        .name = "ue6m10", .bits = 16, .exponent_bits = 6, .fraction_bits = 10,
        .bias = NG_UE6M10_BIAS, .is_signed = false, .has_subnormals = true,
        .max_finite = NG_UE6M10_MAX_CODE,
        .infinity = NG_NO_CODE, .nan = NG_UE6M10_NAN,
    },
    [NG_FORMAT_BF16] = {
        .name = "bf16", .bits = 16, .exponent_bits = 8, .fraction_bits = 7,
        .bias = 127, .is_signed = true, .has_subnormals = true,
        .max_finite = NG_BF16_MAX_CODE,
        .infinity = NG_BF16_INFINITY, .nan = NG_BF16_NAN,
    },
    [NG_FORMAT_FP16] = {
        .name = "fp16", .bits = 16, .exponent_bits = 5, .fraction_bits = 10,
        .bias = 15, .is_signed = true, .has_subnormals = true,
        .max_finite = NG_FP16_MAX_CODE,
        .infinity = NG_FP16_INFINITY, .nan = NG_FP16_NAN,
    },
    [NG_FORMAT_FP32] = {
        .name = "fp32", .bits = 32, .exponent_bits = 8, .fraction_bits = 23,
        .bias = 127, .is_signed = true, .has_subnormals = true,
        .max_finite = NG_FP32_MAX_CODE,
        .infinity = NG_FP32_INFINITY, .nan = NG_FP32_NAN,
    },
};

const ng_format *ng_format_find(const char *name)
{
    for (int i = 0; i < NG_N_FORMATS; i++)
        if (strcmp(name, ng_formats[i].name) == 0)
            return &ng_formats[i];
    return NULL;
}
