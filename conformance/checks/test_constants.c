/* SPDX-License-Identifier: Apache-2.0
 *
 * Every constant, restated from docs/semantics.md sections 1, 2 and 9 and from
 * IEEE 754, and the tables of names, against formats/.
 */
#include <math.h>

#include "conformance/checks/writings.h"
#include "formats/bf16.h"
#include "formats/e2m1.h"
#include "formats/e4m3.h"
#include "formats/fp16.h"
#include "formats/optim.h"
#include "formats/profile.h"
#include "formats/ue6m10.h"
#include "formats/ue8m0.h"

#define N(array) ((int)(sizeof(array) / sizeof *(array)))

static const struct restated {
    ng_format_id id;
    const char *name;
    int bits, exponent_bits, fraction_bits, bias;
    bool is_signed, has_subnormals;
    uint32_t max_code;
    int64_t infinity, nan;
    double max, min_normal, min;    /* values; min is the least above zero */
} restated[] = {
    {NG_FORMAT_E2M1, "e2m1", 4, 2, 1, 1, true, true, 0x7, -1, -1,
     6, 1, 0.5},
    {NG_FORMAT_E4M3, "e4m3", 8, 4, 3, 7, true, true, 0x7E, -1, 0x7F,
     448, 0x1p-6, 0x1p-9},
    {NG_FORMAT_UE8M0, "ue8m0", 8, 8, 0, 127, false, false, 0xFE, -1, 0xFF,
     0x1p127, 0x1p-127, 0x1p-127},
    {NG_FORMAT_UE6M10, "ue6m10", 16, 6, 10, 46, false, true, 0xFFFE, -1, 0xFFFF,
     261888, 0x1p-45, 0x1p-55},
    {NG_FORMAT_BF16, "bf16", 16, 8, 7, 127, true, true, 0x7F7F, 0x7F80, 0x7FFF,
     0x1.FEp127, 0x1p-126, 0x1p-133},
    {NG_FORMAT_FP16, "fp16", 16, 5, 10, 15, true, true, 0x7BFF, 0x7C00, 0x7FFF,
     65504, 0x1p-14, 0x1p-24},
    {NG_FORMAT_FP32, "fp32", 32, 8, 23, 127, true, true, 0x7F7FFFFF, 0x7F800000,
     0x7FFFFFFF, 0x1.FFFFFEp127, 0x1p-126, 0x1p-149},
};

_Static_assert(sizeof restated / sizeof *restated == NG_N_FORMATS, "all");

START_TEST(formats)
{
    const struct restated *want = &restated[_i];
    const ng_format *got = &ng_formats[want->id];

    ck_assert_int_eq((int)want->id, _i);
    ck_assert_str_eq(got->name, want->name);
    ck_assert_ptr_eq(ng_format_find(want->name), got);
    ck_assert_int_eq(got->bits, want->bits);
    ck_assert_int_eq(got->exponent_bits, want->exponent_bits);
    ck_assert_int_eq(got->fraction_bits, want->fraction_bits);
    ck_assert_int_eq(got->is_signed + got->exponent_bits + got->fraction_bits,
                     got->bits);
    ck_assert_int_eq(got->bias, want->bias);
    ck_assert_int_eq(got->is_signed, want->is_signed);
    ck_assert_int_eq(got->has_subnormals, want->has_subnormals);
    ck_assert_uint_eq(got->max_finite, want->max_code);
    ck_assert_int_eq(got->infinity, want->infinity);
    ck_assert_int_eq(got->nan, want->nan);
    ck_assert_uint_eq(ng_format_sign(got),
                      want->is_signed ? 1u << (want->bits - 1) : 0);
}
END_TEST

/* What the writings make of the ends of each format. */
START_TEST(ends)
{
    for (int i = 0; i < N(restated); i++) {
        const struct restated *f = &restated[i];
        const uint32_t least = f->has_subnormals ? 1 : 0;
        const uint32_t normal = f->has_subnormals ? 1u << f->fraction_bits : 0;

#define VALUE(code)                                                            \
    ((double)writings[_i].decode(f->id, code, &ng_default_rules))
        ck_assert(VALUE(f->max_code) == f->max);
        ck_assert(VALUE(normal) == f->min_normal);
        ck_assert(VALUE(least) == f->min);
        if (f->has_subnormals)
            ck_assert(VALUE(0) == 0.0);
        if (f->is_signed) {
            const uint32_t sign = 1u << (f->bits - 1);

            ck_assert(VALUE(sign | f->max_code) == -f->max);
            ck_assert(VALUE(sign) == 0.0 && signbit(VALUE(sign)) != 0);
        }
        if (f->infinity >= 0)
            ck_assert(isinf(VALUE((uint32_t)f->infinity)));
        if (f->nan >= 0)
            ck_assert(isnan(VALUE((uint32_t)f->nan)));
#undef VALUE
    }
}
END_TEST

START_TEST(headers)
{
    static const float e2m1[8] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};

    for (int i = 0; i < 8; i++)
        ck_assert(ng_e2m1_magnitude[i] == e2m1[i]);
    ck_assert_int_eq(NG_E2M1_SIGN, 0x8);
    ck_assert_int_eq(NG_E2M1_MAX_CODE, 0x7);
    ck_assert_int_eq(NG_E2M1_EMAX, 2);
    ck_assert_int_eq(NG_E4M3_SIGN, 0x80);
    ck_assert_int_eq(NG_E4M3_BIAS, 7);
    ck_assert_int_eq(NG_E4M3_MAX_CODE, 0x7E);
    ck_assert_int_eq(NG_E4M3_NAN, 0x7F);
    ck_assert_int_eq(NG_E4M3_MAX, 448);
    ck_assert_int_eq(NG_E4M3_EMAX, 8);
    ck_assert_int_eq(NG_UE8M0_BIAS, 127);
    ck_assert_int_eq(NG_UE8M0_MAX_CODE, 0xFE);
    ck_assert_int_eq(NG_UE8M0_NAN, 0xFF);
    ck_assert_int_eq(NG_UE6M10_BIAS, 46);
    ck_assert_int_eq(NG_UE6M10_MAX_CODE, 0xFFFE);
    ck_assert_int_eq(NG_UE6M10_NAN, 0xFFFF);
    ck_assert_int_eq(NG_BF16_SIGN, 0x8000);
    ck_assert_int_eq(NG_BF16_MAX_CODE, 0x7F7F);
    ck_assert_int_eq(NG_BF16_INFINITY, 0x7F80);
    ck_assert_int_eq(NG_BF16_NAN, 0x7FFF);
    ck_assert_int_eq(NG_FP16_SIGN, 0x8000);
    ck_assert_int_eq(NG_FP16_MAX_CODE, 0x7BFF);
    ck_assert_int_eq(NG_FP16_INFINITY, 0x7C00);
    ck_assert_int_eq(NG_FP16_NAN, 0x7FFF);
    ck_assert_uint_eq(NG_FP32_SIGN, 0x80000000);
    ck_assert_int_eq(NG_FP32_MAX_CODE, 0x7F7FFFFF);
    ck_assert_int_eq(NG_FP32_INFINITY, 0x7F800000);
    ck_assert_int_eq(NG_FP32_NAN, 0x7FFFFFFF);
    ck_assert_uint_eq(ng_fp32_bits(1.0f), 0x3F800000);
    ck_assert(ng_fp32_from_bits(0xC0490FDB) == -0x1.921FB6p1f);
    ck_assert_int_eq(NG_MXFP4_BLOCK, 32);
    ck_assert_int_eq(NG_FP8_BLOCK, 128);
    ck_assert_int_eq(NG_STATE_GROUP, 32);
    ck_assert_int_eq(NG_MOMENTUM_MAX_CODE, 127);
    ck_assert_int_eq(NG_VARIANCE_MAX_CODE, 255);
    ck_assert_int_eq(NG_MAX_HEADROOM, 8);
    ck_assert_int_eq(NG_DEFAULT_HEADROOM, 6);       /* 6 * 2^6 <= 448 */
}
END_TEST

START_TEST(dtypes)
{
    static const struct {
        ng_dtype dtype;
        const char *name;
        size_t size;
    } want[] = {
        {NG_U8, "u8", 1},        {NG_I8, "i8", 1},
        {NG_U16, "u16", 2},      {NG_I16, "i16", 2},
        {NG_U32, "u32", 4},      {NG_I32, "i32", 4},
        {NG_U64, "u64", 8},      {NG_I64, "i64", 8},
        {NG_FP16, "fp16", 2},    {NG_BF16, "bf16", 2},
        {NG_FP32, "fp32", 4},    {NG_FP64, "fp64", 8},
        {NG_E2M1, "e2m1", 1},    {NG_E2M1X2, "e2m1x2", 1},
        {NG_E4M3, "e4m3", 1},    {NG_UE8M0, "ue8m0", 1},
        {NG_UE8M0X4, "ue8m0x4", 4}, {NG_UE6M10, "ue6m10", 2},
    };
    ng_dtype found = NG_N_DTYPES;

    ck_assert_int_eq(N(want), NG_N_DTYPES);
    for (int i = 0; i < N(want); i++) {
        ck_assert_int_eq((int)want[i].dtype, i);
        ck_assert_str_eq(ng_dtype_name(want[i].dtype), want[i].name);
        ck_assert_uint_eq(ng_dtype_size(want[i].dtype), want[i].size);
        ck_assert(ng_dtype_find(want[i].name, &found));
        ck_assert_int_eq((int)found, i);
    }
    ck_assert(!ng_dtype_find("e5m2", &found));
    ck_assert_int_eq((int)found, NG_UE6M10);        /* untouched */
    ck_assert_uint_eq(ng_dtype_size(NG_N_DTYPES), 0);
    ck_assert_str_eq(ng_dtype_name(NG_N_DTYPES), "unknown");
    ck_assert_ptr_null(ng_format_find("e5m2"));
}
END_TEST

/* Each rule's name and values; the first is the default, save the headroom. */
static const struct rule_names {
    ng_rule rule;
    const char *name;
    const char *value[10];
} rule_names[] = {
    {NG_RULE_ROUNDING, "rounding",
     {"nearest-even", "nearest-away", "toward-zero", "up", "down",
      "stochastic", "nearest-zero"}},
    {NG_RULE_OVERFLOW, "overflow", {"saturate", "ieee"}},
    {NG_RULE_E2M1_NAN, "e2m1.nan", {"zero", "max", "minus-zero", "three"}},
    {NG_RULE_E2M1_ZERO, "e2m1.zero", {"signed", "plus", "kept-if-rounded"}},
    {NG_RULE_E2M1_HALF, "e2m1.half", {"exact", "added"}},
    {NG_RULE_NAN, "nan", {"canonical", "bf16-widened", "quiet"}},
    {NG_RULE_UE8M0, "ue8m0", {"magnitude", "ml-dtypes"}},
    {NG_RULE_MXFP4_SCALE, "mxfp4.scale", {"floor", "ceil", "even", "rceil",
      "even-fp32", "rceil-fp32", "rceil-log2", "floor-log2"}},
    {NG_RULE_MXFP8_SCALE, "mxfp8.scale", {"floor", "ceil", "even", "rceil",
      "even-fp32", "rceil-fp32", "rceil-log2", "floor-log2"}},
    {NG_RULE_MXFP4_BYTE_0, "mxfp4.byte-0", {"2^-127", "2^-126", "1"}},
    {NG_RULE_FP8_SCALE, "fp8.scale", {"fp32", "pow2", "fp32-product",
      "fp32-inverse", "pow2-inverse"}},
    {NG_RULE_FP8_MULTIPLIER, "fp8.multiplier", {"none", "of-scale", "of-amax",
      "of-reciprocal"}},
    {NG_RULE_FP8_ALIGN, "fp8.align", {"rounded", "exponent-field"}},
    {NG_RULE_BLOCK_LEAST, "block.least", {"none", "1e-4", "1e-12"}},
    {NG_RULE_BLOCK_NAN, "block.nan", {"propagate", "coded", "infinity-largest", "largest",
      "arithmetic", "nan-unseen", "infinity-one", "unseen-largest"}},
    {NG_RULE_HEADROOM, "headroom",
     {"0", "1", "2", "3", "4", "5", "6", "7", "8"}},
    {NG_RULE_SPLIT, "weight.split", {"ulp", "flashoptim"}},
    {NG_RULE_COMPAND, "state.compand", {"ng", "flashoptim"}},
    {NG_RULE_STEP, "optim.step", {"ng", "flashoptim"}},
    {NG_RULE_GEMM, "gemm.accumulate", {"exact", "hopper-wgmma"}},
};

START_TEST(rule_table)
{
    ng_rules rules = ng_default_rules;

    ck_assert_int_eq(N(rule_names), NG_N_RULES);
    ck_assert(ng_rules_valid(&ng_default_rules));
    for (int r = 0; r < NG_N_RULES; r++) {
        const struct rule_names *want = &rule_names[r];
        const ng_rule rule = want->rule;
        ng_rule found;
        int n = 0, value = -1;

        ck_assert_int_eq((int)rule, r);
        ck_assert_str_eq(ng_rule_name(rule), want->name);
        ck_assert(ng_rule_find(want->name, &found) && found == rule);
        ck_assert_uint_gt(strlen(ng_rule_meaning(rule)), 10);
        for (; want->value[n] != NULL; n++) {
            ck_assert_str_eq(ng_rule_value_name(rule, n), want->value[n]);
            ck_assert(ng_rule_value_find(rule, want->value[n], &value));
            ck_assert_int_eq(value, n);
            ng_rules_set(&rules, rule, n);
            ck_assert_int_eq(ng_rules_get(&rules, rule), n);
            ck_assert(ng_rules_valid(&rules));
        }
        ck_assert_int_eq(ng_rule_n_values(rule), n);
        ck_assert(!ng_rule_value_find(rule, "nonsense", &value));
        for (int other = 0; other < 2; other++) {
            ng_rules_set(&rules, rule, other == 0 ? -1 : n);
            ck_assert(!ng_rules_valid(&rules));
        }
        ng_rules_set(&rules, rule, ng_rules_get(&ng_default_rules, rule));
        ck_assert_mem_eq(&rules, &ng_default_rules, sizeof rules);
        ck_assert_int_eq(ng_rules_get(&ng_default_rules, rule),
                         rule == NG_RULE_HEADROOM ? 6 : 0);
        for (int other = 0; other < r; other++)
            ck_assert_str_ne(want->name, rule_names[other].name);
    }
    ng_rule found = NG_RULE_STEP;
    ck_assert(!ng_rule_find("nonsense", &found) && found == NG_RULE_STEP);
}
END_TEST

/* Profile ng is the default rules, and pins none of them. */
START_TEST(default_profile)
{
    ng_profile profile;
    ng_error error;

    ck_assert_int_eq(ng_profile_load(&profile, "ng", &error), NG_OK);
    ck_assert_mem_eq(&profile.rules, &ng_default_rules, sizeof profile.rules);
    for (int r = 0; r < NG_N_RULES; r++)
        ck_assert(!profile.pinned[r]);
}
END_TEST

START_TEST(names_of_numbers)
{
    static const char *const events[] = {"inexact", "tie", "subnormal",
                                         "flushed", "saturated", "infinite",
                                         "nan"};
    static const char *const optimizers[] = {"sgd", "sgdw", "adam", "adamw",
                                             "lion"};
    ng_optimizer_kind kind = NG_N_OPTIMIZERS;

    ck_assert_int_eq(N(events), NG_N_EVENTS);
    for (int e = 0; e < NG_N_EVENTS; e++)
        ck_assert_str_eq(ng_event_name((ng_event)e), events[e]);
    ck_assert_str_eq(ng_event_name(NG_N_EVENTS), "unknown");
    ck_assert_int_eq(N(optimizers), NG_N_OPTIMIZERS);
    for (int i = 0; i < NG_N_OPTIMIZERS; i++) {
        ck_assert_str_eq(ng_optimizer_name((ng_optimizer_kind)i),
                         optimizers[i]);
        ck_assert(ng_optimizer_find(optimizers[i], &kind));
        ck_assert_int_eq((int)kind, i);
    }
    ck_assert(!ng_optimizer_find("nonsense", &kind) && kind == NG_LION);
    for (int s = NG_OK; s <= NG_BAD_VALUE; s++) {
        const char *text = ng_status_text((ng_status)s);

        ck_assert_str_ne(text, "unknown status");
        for (int other = NG_OK; other < s; other++)
            ck_assert_str_ne(text, ng_status_text((ng_status)other));
    }
    ck_assert_int_eq(NG_OK, 0);
    ck_assert_str_eq(ng_status_text((ng_status)99), "unknown status");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("constants");
    TCase *tcase = tcase_create("constants");

    tcase_add_loop_test(tcase, formats, 0, N(restated));
    ADD_TRAP(tcase, ends);
    tcase_add_test(tcase, headers);
    tcase_add_test(tcase, dtypes);
    tcase_add_test(tcase, rule_table);
    tcase_add_test(tcase, default_profile);
    tcase_add_test(tcase, names_of_numbers);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
