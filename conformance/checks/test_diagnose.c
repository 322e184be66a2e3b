/* SPDX-License-Identifier: Apache-2.0
 *
 * The diagnosis: a subject that is right but for one rule, in which it follows
 * another value, is told which.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "conformance/checks/suite_runner.h"
#include "conformance/checks/verify.h"

/* The reference under one other rule, whatever the call asks for. */
static const struct other {
    const char *rule, *value, *operation, *stratum;
    const char *axes[3];
} others[] = {
    {"rounding", "nearest-away", "encode_e4m3", "ties", {NULL}},
    {"rounding", "toward-zero", "encode_bf16", "random", {NULL}},
    {"overflow", "ieee", "encode_e4m3", "random", {NULL}},
    {"e2m1.nan", "max", "encode_e2m1", "special", {NULL}},
    {"nan", "bf16-widened", "decode_bf16", "codes", {NULL}},
    {"mxfp4.scale", "rceil", "quantize_mxfp4", "edges",
     {"rounding=nearest-even", "x=bf16", "scales=ue8m0"}},
    {"fp8.scale", "pow2", "quantize_fp8_col", "special",
     {"rounding=nearest-even", "x=fp32", "scales=fp32"}},
    {"headroom", "0", "mxfp4_to_fp8_row", "windows",
     {"headroom=6", "overflow=saturate", "to=fp32"}},
};
enum { N_OTHERS = sizeof others / sizeof *others };

static ng_profile profile;
static ng_rule other_rule;
static int other_value;

static void setup(void)
{
    ng_error error;

    ck_assert_int_eq(ng_profile_load(&profile, "ng", &error), NG_OK);
}

static bool covers(const ng_call *call)
{
    return ng_subject_reference.covers(call);
}

static ng_status run_other(const ng_call *call)
{
    ng_call changed = *call;

    ng_rules_set(&changed.rules, other_rule, other_value);
    return ng_subject_reference.run(&changed);
}

START_TEST(diagnosis)
{
    const struct other *other = &others[_i];
    const ng_operation *operation = ng_operation_find(other->operation);
    const ng_subject stranger = {.name = "other", .covers = covers,
                                 .run = run_other};
    ng_verify_plan narrow = {.subject = &stranger, .profile = &profile,
                             .expected = &ng_subject_reference, .seed = 1,
                             .n_shards = 1, .stratum = other->stratum,
                             .axes = other->axes};
    static ng_operation_result result;
    char opens[128], ends[128];
    ng_error error;

    while (narrow.n_axes < 3 && other->axes[narrow.n_axes] != NULL)
        narrow.n_axes++;
    ck_assert(ng_rule_find(other->rule, &other_rule));
    ck_assert(ng_rule_value_find(other_rule, other->value, &other_value));
    ck_assert_int_eq(ng_verify(&result, &operation, 1, &narrow, &error), NG_OK);
    ck_assert_int_gt(result.n_failures, 0);
    snprintf(opens, sizeof opens, ": rule %s (", other->rule);
    snprintf(ends, sizeof ends,
             "acts like \"%s\", which explains %d of the %d failures kept",
             other->value, result.n_failures, result.n_failures);
    ck_assert_msg(strstr(result.diagnosis, opens) != NULL
                      && strstr(result.diagnosis, ends) != NULL,
                  "%s", result.diagnosis);
}
END_TEST

START_TEST(nothing_to_diagnose)
{
    const ng_operation *operation = ng_operation_find("decode_e4m3");
    const ng_verify_plan whole = {.subject = &ng_subject_reference,
                                  .expected = &ng_subject_reference,
                                  .profile = &profile, .seed = 1,
                                  .n_shards = 1};
    static ng_operation_result result;
    ng_error error;

    ck_assert_int_eq(ng_verify(&result, &operation, 1, &whole, &error), NG_OK);
    ck_assert_int_eq(result.n_failures, 0);
    ck_assert_str_eq(result.diagnosis, "");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("diagnosis");
    TCase *tcase = tcase_create("diagnosis");

    tcase_set_timeout(tcase, 120);
    tcase_add_checked_fixture(tcase, setup, NULL);
    tcase_add_loop_test(tcase, diagnosis, 0, N_OTHERS);
    tcase_add_test(tcase, nothing_to_diagnose);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
