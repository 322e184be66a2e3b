/* SPDX-License-Identifier: Apache-2.0
 *
 * Grouped GEMMs over FP8 blocks, from FP8 or MXFP4, and over plain BF16.
 */
#include "conformance/checks/inputs_gemm.h"

#define N(array) ((int)(sizeof(array) / sizeof *(array)))

#define GEMM                                                       \
    {                                                              \
        "gemm.accumulate", NG_AXIS_RULE, NG_RULE_GEMM, NG_N_GEMMS, \
        {                                                          \
            NG_GEMM_EXACT, NG_GEMM_HOPPER_WGMMA                    \
        }                                                          \
    }
#define OUTPUT                    \
    {                             \
        "d", NG_AXIS_DTYPE, 0, 2, \
        {                         \
            NG_FP32, NG_BF16      \
        }                         \
    }
#define FP8_SCALES                        \
    {                                     \
        "scales", NG_AXIS_DTYPE, 0, 3,    \
        {                                 \
            NG_FP32, NG_UE8M0, NG_UE8M0X4 \
        }                                 \
    }
#define MXFP4_SCALES                   \
    {                                  \
        "scales", NG_AXIS_DTYPE, 0, 2, \
        {                              \
            NG_UE8M0, NG_UE8M0X4       \
        }                              \
    }
#define ACCUMULATE                        \
    {                                     \
        "accumulate", NG_AXIS_FLAG, 0, 2, \
        {                                 \
            0, 1                          \
        }                                 \
    }
/* Of the conversion inside. */
#define NEAREST_EVEN                                   \
    {                                                  \
        "rounding", NG_AXIS_RULE, NG_RULE_ROUNDING, 1, \
        {                                              \
            NG_NEAREST_EVEN                            \
        }                                              \
    }
#define HEADROOM                                                         \
    {                                                                    \
        "headroom", NG_AXIS_RULE, NG_RULE_HEADROOM, NG_MAX_HEADROOM + 1, \
        {                                                                \
            0, 1, 2, 3, 4, 5, 6, 7, 8                                    \
        }                                                                \
    }

static const ng_axis fprop_axes[] = {GEMM, OUTPUT, FP8_SCALES};
static const ng_axis wgrad_axes[] = {GEMM, OUTPUT, FP8_SCALES, ACCUMULATE};
static const ng_axis mxfp4_fprop_axes[] = {NEAREST_EVEN, GEMM, HEADROOM, OUTPUT,
                                           MXFP4_SCALES};
static const ng_axis mxfp4_wgrad_axes[] = {
    NEAREST_EVEN, GEMM, HEADROOM, OUTPUT, MXFP4_SCALES, ACCUMULATE};

static const ng_axis bf16_fprop_axes[] = {OUTPUT};
static const ng_axis bf16_wgrad_axes[] = {OUTPUT, ACCUMULATE};

/* The headroom is the conversion's business: it varies in one variant. */
static bool offers_mxfp4(const ng_variant *variant)
{
    return ng_variant_get(variant, "headroom", 0) == NG_DEFAULT_HEADROOM
           || (variant->rules.gemm == NG_GEMM_EXACT
               && ng_variant_get(variant, "d", NG_FP32) == NG_FP32
               && ng_variant_get(variant, "scales", NG_UE8M0) == NG_UE8M0
               && ng_variant_get(variant, "accumulate", 0) == 0);
}

/* The tensor core of one generation adds in one way; otherwise the order is
 * free. */
static bool is_bounded(const ng_variant *variant, const char *output)
{
    (void)output;
    return variant->rules.gemm == NG_GEMM_EXACT;
}

static bool is_always_bounded(const ng_variant *variant, const char *output)
{
    (void)variant, (void)output;
    return true;
}

#define EVENTS \
    (1u << NG_EVENT_NAN | 1u << NG_EVENT_INFINITE | 1u << NG_EVENT_SUBNORMAL)

#define AXES(array) .axes = array, .n_axes = N(array)
#define FPROP_WEIGHTS "b.codes e4m3 [G*N, K], b.scales [G*N/128, K/128]"
#define WGRAD_GRADIENTS "a.codes e4m3 [N, T], a.scales [N, B]"

const ng_operation ng_gemm_operations[] = {
    {.name = "grouped_gemm_fprop",
     .summary = "rows of each group times its weights, FP8 blocks of 128",
     .signature =
         "d[T, N] = a.codes e4m3 [T, K], a.scales [T, K/128], " FPROP_WEIGHTS
         " (offsets[G+1])",
     .bounded = is_bounded,
     .stated = true,
     AXES(fprop_axes),
     .strata = ng_gemm_strata,
     .claims = EVENTS},
    {.name = "grouped_gemm_wgrad",
     .summary = "weight gradients, contracted over the rows of each group",
     .signature = "d[G*N, K] = " WGRAD_GRADIENTS ", b.codes e4m3 [K, T],"
                  " b.scales [K, B] (c[G*N, K]) (offsets[G+1])",
     .bounded = is_bounded,
     .stated = true,
     AXES(wgrad_axes),
     .strata = ng_gemm_strata,
     .claims = EVENTS},
    {.name = "grouped_gemm_mxfp4_fprop",
     .summary = "the same product, activations in MXFP4",
     .signature =
         "d[T, N] = a.codes e2m1x2 [T, K/2], a.scales [T, K/32], " FPROP_WEIGHTS
         " (offsets[G+1])",
     .bounded = is_bounded,
     .stated = true,
     AXES(mxfp4_fprop_axes),
     .offers = offers_mxfp4,
     .strata = ng_gemm_strata,
     .claims = EVENTS},
    {.name = "grouped_gemm_mxfp4_wgrad",
     .summary = "the same gradients, activations in MXFP4",
     .signature = "d[G*N, K] = " WGRAD_GRADIENTS ", b.codes e2m1x2 [T, K/2],"
                  " b.scales [T, K/32] (c[G*N, K]) (offsets[G+1])",
     .bounded = is_bounded,
     .stated = true,
     AXES(mxfp4_wgrad_axes),
     .offers = offers_mxfp4,
     .strata = ng_gemm_strata,
     .claims = EVENTS},
    {.name = "grouped_gemm_bf16_fprop",
     .summary = "rows of each group times its weights, BF16",
     .signature = "d[T, N] = a bf16 [T, K], b bf16 [G*N, K] (offsets[G+1])",
     .bounded = is_always_bounded,
     .stated = true,
     AXES(bf16_fprop_axes),
     .strata = ng_gemm_bf16_strata},
    {.name = "grouped_gemm_bf16_wgrad",
     .summary = "weight gradients of each group's rows, BF16",
     .signature = "d[G*N, K] = a bf16 [T, N], b bf16 [T, K] (c[G*N, K])"
                  " (offsets[G+1])",
     .bounded = is_always_bounded,
     .stated = true,
     AXES(bf16_wgrad_axes),
     .strata = ng_gemm_bf16_strata},
};
const int ng_n_gemm_operations = N(ng_gemm_operations);
