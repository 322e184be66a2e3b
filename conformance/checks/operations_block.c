/* SPDX-License-Identifier: Apache-2.0
 *
 * Block formats: quantisers, dequantisers, and the conversions between them.
 */
#include "conformance/checks/inputs_block.h"

#define N(array) ((int)(sizeof(array) / sizeof *(array)))

/* Axes. A rule that an operation leaves unread in some variants stays an axis
 * there, for a profile may pin either value. */
#define EVERY_ROUNDING                                                         \
    {"rounding", NG_AXIS_RULE, NG_RULE_ROUNDING, NG_N_ROUNDINGS,               \
     {NG_NEAREST_EVEN, NG_NEAREST_AWAY, NG_TOWARD_ZERO, NG_UP, NG_DOWN,        \
      NG_STOCHASTIC}}
#define NEAREST_EVEN                                                           \
    {"rounding", NG_AXIS_RULE, NG_RULE_ROUNDING, 1, {NG_NEAREST_EVEN}}
#define OVERFLOWS                                                              \
    {"overflow", NG_AXIS_RULE, NG_RULE_OVERFLOW, NG_N_OVERFLOWS,               \
     {NG_SATURATE, NG_IEEE}}
#define MXFP4_SCALE                                                            \
    {"mxfp4.scale", NG_AXIS_RULE, NG_RULE_MXFP4_SCALE, NG_N_MX_SCALES,         \
     {NG_MX_FLOOR, NG_MX_CEIL, NG_MX_EVEN, NG_MX_RCEIL}}
#define MXFP8_SCALE                                                            \
    {"mxfp8.scale", NG_AXIS_RULE, NG_RULE_MXFP8_SCALE, NG_N_MX_SCALES,         \
     {NG_MX_FLOOR, NG_MX_CEIL, NG_MX_EVEN, NG_MX_RCEIL}}
#define FP8_SCALE                                                              \
    {"fp8.scale", NG_AXIS_RULE, NG_RULE_FP8_SCALE, NG_N_FP8_SCALES,            \
     {NG_FP8_FP32, NG_FP8_POW2}}
#define HEADROOM                                                               \
    {"headroom", NG_AXIS_RULE, NG_RULE_HEADROOM, NG_MAX_HEADROOM + 1,          \
     {0, 1, 2, 3, 4, 5, 6, 7, 8}}
#define NUMBERS(name)                                                          \
    {name, NG_AXIS_DTYPE, 0, 3, {NG_FP32, NG_BF16, NG_FP16}}
#define MX_SCALES(name)                                                     \
    {name, NG_AXIS_DTYPE, 0, 2, {NG_UE8M0, NG_UE8M0X4}}
#define FP8_SCALES(name)                                                       \
    {name, NG_AXIS_DTYPE, 0, 3, {NG_FP32, NG_UE8M0, NG_UE8M0X4}}
#define POW2 {"pow2", NG_AXIS_FLAG, 0, 2, {0, 1}}

static const ng_axis convert_scales_axes[] = {FP8_SCALES("from"),
                                              FP8_SCALES("to")};
static const ng_axis quantize_mxfp4_axes[] = {
    EVERY_ROUNDING, MXFP4_SCALE, NUMBERS("x"), MX_SCALES("scales")};
static const ng_axis dequantize_mx_axes[] = {
    OVERFLOWS, MX_SCALES("scales"), NUMBERS("y")};
static const ng_axis quantize_mxfp8_axes[] = {
    EVERY_ROUNDING, OVERFLOWS, MXFP8_SCALE, NUMBERS("x"), MX_SCALES("scales")};
static const ng_axis quantize_fp8_axes[] = {
    EVERY_ROUNDING, OVERFLOWS, FP8_SCALE, NUMBERS("x"), FP8_SCALES("scales")};
static const ng_axis quantize_fp8_other_axes[] = {
    EVERY_ROUNDING, FP8_SCALE, NUMBERS("x"), FP8_SCALES("scales")};
static const ng_axis dequantize_fp8_axes[] = {
    OVERFLOWS, FP8_SCALES("scales"), NUMBERS("y")};
static const ng_axis transpose_axes[] = {FP8_SCALES("scales")};
static const ng_axis mxfp4_to_fp8_axes[] = {
    NEAREST_EVEN, OVERFLOWS, HEADROOM, MX_SCALES("from"), FP8_SCALES("to")};
static const ng_axis fp8_row_to_col_axes[] = {
    NEAREST_EVEN, FP8_SCALE, FP8_SCALES("from"), POW2, FP8_SCALES("to")};
static const ng_axis fp8_to_mxfp4_axes[] = {
    EVERY_ROUNDING, MXFP4_SCALE, FP8_SCALES("from"), MX_SCALES("to")};

/* UE8M0 scales and stochastic rounding want powers of two (section 1, 4). */
static bool offers_quantize_fp8(const ng_variant *variant)
{
    return ng_fp8_scale_is_pow2(variant->rules.fp8_scale)
           || (ng_variant_get(variant, "scales", 0) == NG_FP32
               && variant->rules.rounding != NG_STOCHASTIC);
}

/* How scales are packed has nothing to do with how elements are rounded, nor has
 * the type of the numbers with what becomes of one past 448: packed scales are
 * tried with the default alone, and ieee in every rounding of FP32. */
static bool offers_quantize_mxfp8(const ng_variant *variant)
{
    const bool nearest = variant->rules.rounding == NG_NEAREST_EVEN;
    const bool saturates = variant->rules.overflow == NG_SATURATE;

    return (ng_variant_get(variant, "scales", 0) == NG_UE8M0
            || (nearest && saturates))
           && (saturates || nearest
               || ng_variant_get(variant, "x", 0) == NG_FP32);
}

/* UE8M0 scales of x are powers of two by themselves; general ones give general
 * ones. */
static bool offers_fp8_row_to_col(const ng_variant *variant)
{
    const bool pow2 = ng_variant_get(variant, "pow2", 0) != 0;

    if (ng_variant_get(variant, "from", 0) != NG_FP32)
        return pow2;
    return pow2 || ng_fp8_scale_is_pow2(variant->rules.fp8_scale)
           || ng_variant_get(variant, "to", 0) == NG_FP32;
}

/* Section 3's rule has every rounding, but section 7 asks for the nearest; the
 * others are tried with one storage of scales. */
static bool offers_fp8_to_mxfp4(const ng_variant *variant)
{
    return variant->rules.rounding == NG_NEAREST_EVEN
           || (ng_variant_get(variant, "from", 0) == NG_FP32
               && ng_variant_get(variant, "to", 0) == NG_UE8M0);
}

#define EVENT(e) (1u << NG_EVENT_##e)
/* An infinity among numbers makes a NaN block; only the FP32 product of a
 * dequantiser is one. Without it, what quantisers meet; an FP8 scale that is
 * chosen leaves nothing to saturate under nearest-even. */
#define ALL_EVENTS (NUMBER_EVENTS | EVENT(INFINITE))
#define NUMBER_EVENTS (NEAREST_EVENTS | EVENT(SATURATED))
#define NEAREST_EVENTS                                                         \
    (EVENT(INEXACT) | EVENT(TIE) | EVENT(SUBNORMAL) | EVENT(FLUSHED)           \
     | EVENT(NAN))

#define AXES(array) .axes = array, .n_axes = N(array)

#define QUANTIZE_FP8(form, where, codes, scales, axes_)                        \
    {.name = "quantize_fp8_" form,                                             \
     .summary = "numbers to FP8, one scale for " where,                        \
     .signature = "y.codes e4m3 " codes ", y.scales " scales                   \
                  " = x[R, C] (offsets[G+1])",                                 \
     .exact = true, AXES(axes_), .offers = offers_quantize_fp8,                \
     .strata = ng_quantize_strata, .claims = NUMBER_EVENTS}

#define DEQUANTIZE_FP8(form, where, codes, scales, strata_)                    \
    {.name = "dequantize_fp8_" form,                                           \
     .summary = "FP8 with one scale for " where ", to numbers",                \
     .signature = "y[R, C] = x.codes e4m3 " codes ", x.scales " scales         \
                  " (offsets[G+1])",                                           \
     .exact = true, AXES(dequantize_fp8_axes), .strata = strata_,              \
     .claims = ALL_EVENTS}

#define ROW_WHERE "128 elements of a row"
#define COL_WHERE "128 of a column, transposed"
#define TILE_WHERE "128 x 128 elements"

/* R rows, C cols, B blocks of 128 rows: in each group the last may be short. */
const ng_operation ng_block_operations[] = {
    {.name = "convert_scales",
     .summary = "power-of-two scales between FP32, UE8M0 and packed UE8M0",
     .signature = "y.scales[L, n] = x.scales[L, n]; refuses what is no power",
     .exact = true, AXES(convert_scales_axes),
     .strata = ng_convert_scales_strata},
    {.name = "pack_e2m1",
     .summary = "E2M1 codes to two a byte, the even element low",
     .signature = "y[R, C/2] e2m1x2 = x[R, C] e2m1 (offsets[G+1])",
     .exact = true, .strata = ng_pack_strata},
    {.name = "unpack_e2m1",
     .summary = "two E2M1 codes a byte to one",
     .signature = "y[R, C] e2m1 = x[R, C/2] e2m1x2 (offsets[G+1])",
     .exact = true, .strata = ng_pack_strata},
    {.name = "quantize_mxfp4",
     .summary = "numbers to MXFP4, one scale for 32 elements of a row",
     .signature = "y.codes e2m1x2 [R, C/2], y.scales [R, C/32] = x[R, C]"
                  " (offsets[G+1])",
     .exact = true, AXES(quantize_mxfp4_axes), .strata = ng_quantize_strata,
     .claims = NUMBER_EVENTS},
    {.name = "dequantize_mxfp4",
     .summary = "MXFP4 to numbers",
     .signature = "y[R, C] = x.codes e2m1x2 [R, C/2], x.scales [R, C/32]"
                  " (offsets[G+1])",
     .exact = true, AXES(dequantize_mx_axes),
     .strata = ng_dequantize_mxfp4_strata, .claims = ALL_EVENTS},
    {.name = "quantize_mxfp8",
     .summary = "numbers to MXFP8, one scale for 32 elements of a row",
     .signature = "y.codes e4m3 [R, C], y.scales [R, C/32] = x[R, C]"
                  " (offsets[G+1])",
     .exact = true, AXES(quantize_mxfp8_axes),
     .offers = offers_quantize_mxfp8, .strata = ng_quantize_strata,
     .claims = NUMBER_EVENTS},
    {.name = "dequantize_mxfp8",
     .summary = "MXFP8 to numbers",
     .signature = "y[R, C] = x.codes e4m3 [R, C], x.scales [R, C/32]"
                  " (offsets[G+1])",
     .exact = true, AXES(dequantize_mx_axes),
     .strata = ng_dequantize_fp8_strata, .claims = ALL_EVENTS},
    QUANTIZE_FP8("row", ROW_WHERE, "[R, C]", "[R, C/128]", quantize_fp8_axes),
    QUANTIZE_FP8("col", COL_WHERE, "[C, R]", "[C, B]",
                 quantize_fp8_other_axes),
    QUANTIZE_FP8("tile", TILE_WHERE, "[R, C]", "[B, C/128]",
                 quantize_fp8_other_axes),
    DEQUANTIZE_FP8("row", ROW_WHERE, "[R, C]", "[R, C/128]",
                   ng_dequantize_fp8_strata),
    DEQUANTIZE_FP8("col", COL_WHERE, "[C, R]", "[C, B]",
                   ng_dequantize_fp8_strata),
    DEQUANTIZE_FP8("tile", TILE_WHERE, "[R, C]", "[B, C/128]",
                   ng_dequantize_fp8_tile_strata),
    {.name = "transpose_fp8_tile",
     .summary = "FP8 in tiles, transposed: codes and scales move, no bit does",
     .signature = "y.codes e4m3 [C, R], y.scales [C/128, B] = x.codes [R, C],"
                  " x.scales [B, C/128] (offsets[G+1])",
     .exact = true, AXES(transpose_axes), .strata = ng_transpose_strata},
    {.name = "mxfp4_to_fp8_row",
     .summary = "MXFP4 to FP8: four blocks of a row under one scale",
     .signature = "y.codes e4m3 [R, C], y.scales [R, C/128] = x.codes e2m1x2"
                  " [R, C/2], x.scales [R, C/32] (offsets[G+1])",
     .exact = true, AXES(mxfp4_to_fp8_axes),
     .strata = ng_mxfp4_to_fp8_row_strata, .claims = NUMBER_EVENTS},
    {.name = "mxfp4_to_fp8_col",
     .summary = "MXFP4 to FP8, transposed: 128 tokens under one scale",
     .signature = "y.codes e4m3 [C, R], y.scales [C, B] = x.codes e2m1x2"
                  " [R, C/2], x.scales [R, C/32] (offsets[G+1])",
     .exact = true, AXES(mxfp4_to_fp8_axes),
     .strata = ng_mxfp4_to_fp8_col_strata, .claims = NUMBER_EVENTS},
    {.name = "fp8_row_to_fp8_col",
     .summary = "FP8 blocks along rows to blocks along columns, transposed",
     .signature = "y.codes e4m3 [C, R], y.scales [C, B] = x.codes e4m3 [R, C],"
                  " x.scales [R, C/128] (offsets[G+1])",
     .exact = true, AXES(fp8_row_to_col_axes), .offers = offers_fp8_row_to_col,
     .strata = ng_fp8_row_to_col_strata, .claims = NEAREST_EVENTS},
    {.name = "fp8_row_to_mxfp4",
     .summary = "FP8 with one scale for " ROW_WHERE ", to MXFP4",
     .signature = "y.codes e2m1x2 [R, C/2], y.scales [R, C/32] = x.codes e4m3"
                  " [R, C], x.scales [R, C/128] (offsets[G+1])",
     .exact = true, AXES(fp8_to_mxfp4_axes), .offers = offers_fp8_to_mxfp4,
     .strata = ng_fp8_to_mxfp4_strata, .claims = NUMBER_EVENTS},
    {.name = "fp8_tile_to_mxfp4",
     .summary = "FP8 with one scale for " TILE_WHERE ", to MXFP4",
     .signature = "y.codes e2m1x2 [R, C/2], y.scales [R, C/32] = x.codes e4m3"
                  " [R, C], x.scales [B, C/128] (offsets[G+1])",
     .exact = true, AXES(fp8_to_mxfp4_axes), .offers = offers_fp8_to_mxfp4,
     .strata = ng_fp8_tile_to_mxfp4_strata, .claims = NUMBER_EVENTS},
};
const int ng_n_block_operations = N(ng_block_operations);
