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
#include "conformance/subject/elements.h"

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
    if (result.n_failures == 1)
        snprintf(ends, sizeof ends,
                 "acts like \"%s\", which explains the one failure kept",
                 other->value);
    else
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

/* A strange subject's operation under one stratum; the result. */
static ng_status (*strange)(const ng_call *);

static ng_status run_strange(const ng_call *call)
{
    return strange(call);
}

static const ng_operation_result *hold(const char *name, const char *stratum,
                                       const char *const *axes, int n_axes)
{
    const ng_operation *operation = ng_operation_find(name);
    const ng_subject stranger = {.name = "strange", .covers = covers,
                                 .run = run_strange};
    const ng_verify_plan plan = {.subject = &stranger, .profile = &profile,
                                 .expected = &ng_subject_reference, .seed = 1,
                                 .n_shards = 1, .stratum = stratum,
                                 .axes = axes, .n_axes = n_axes};
    static ng_operation_result result;
    ng_error error;

    ck_assert_int_eq(ng_verify(&result, &operation, 1, &plan, &error), NG_OK);
    ck_assert_int_gt(result.n_failures, 0);
    return &result;
}

/* 2 comes out as code 0: of UE8M0, which has no sign, 0x80 is no zero. */
static ng_status two_lost(const ng_call *call)
{
    const ng_status status = ng_subject_reference.run(call);
    const ng_tensor *y = ng_call_output(call, "y");

    for (int64_t i = 0; status == NG_OK && i < y->shape[0]; i++)
        if (((uint8_t *)y->data)[i] == 0x80)
            ((uint8_t *)y->data)[i] = 0;
    return status;
}

START_TEST(trap_no_sign_to_lose)
{
    strange = two_lost;
    const ng_operation_result *result = hold("encode_ue8m0", NULL, NULL, 0);

    ck_assert_msg(strstr(result->diagnosis, "sign") == NULL, "%s",
                  result->diagnosis);
}
END_TEST

/* L-29's codes cut, not rounded, by the values of E4M3 below: m 2^-9 with field
 * 0, else (8 + m) 2^(field - 10). NaN is kept, as 0x7F. */
static ng_status aligned_by_cutting(const ng_call *call)
{
    const ng_status status = ng_subject_reference.run(call);
    const ng_tensor *x = ng_call_input(call, "x.codes");
    const ng_tensor *y = ng_call_output(call, "y.codes");
    const ng_tensor *from = ng_call_input(call, "x.scales");
    const ng_tensor *to = ng_call_output(call, "y.scales");

    if (status != NG_OK || ng_call_input(call, "offsets") != NULL)
        return status;
    for (int64_t r = 0; r < x->shape[0]; r++)
        for (int64_t c = 0; c < x->shape[1]; c++) {
            const int64_t at[2] = {r, c}, turned[2] = {c, r};
            const int64_t in[2] = {r, c / 128}, out[2] = {c, r / 128};
            const uint32_t code = (uint32_t)ng_unit_get(x, at);
            const uint32_t e = (uint32_t)ng_unit_get(from, in) >> 23;
            const uint32_t s = (uint32_t)ng_unit_get(to, out) >> 23;
            const uint32_t field = code >> 3 & 15;
            uint32_t m = field > 0 ? 8 | (code & 7) : code & 7;
            int64_t place = (field > 0 ? field : 1) - (int64_t)(s - e);

            if ((code & 0x7F) == 0x7F || e == 0 || s == 0 || e > 254 || s > 254)
                continue;
            for (; place < 1 && m > 0; place++)
                m >>= 1;
            ng_unit_put(y, turned,
                        (code & 0x80)
                            | (m < 8 ? m : (uint32_t)place << 3 | (m & 7)));
        }
    return NG_OK;
}

START_TEST(cut_alignment)
{
    static const char *const axes[] = {"fp8.scale=pow2", "from=fp32", "pow2=yes",
                                       "to=fp32"};
    char whole[64];

    strange = aligned_by_cutting;
    const ng_operation_result *result = hold("fp8_row_to_fp8_col", NULL, axes, 4);

    snprintf(whole, sizeof whole, "%d of the %d", result->n_failures,
             result->n_failures);
    ck_assert_msg(strstr(result->diagnosis, "truncation: cuts off") != NULL
                      && strstr(result->diagnosis, whole) != NULL,
                  "%s", result->diagnosis);
}
END_TEST

/* Rows after the last group are cleared, of codes and of scales. */
static ng_status rest_cleared(const ng_call *call)
{
    const ng_status status = ng_subject_reference.run(call);
    const ng_tensor *offsets = ng_call_input(call, "offsets");

    if (status != NG_OK || offsets == NULL)
        return status;
    for (int i = 0; i < call->n_outputs; i++) {
        const ng_tensor *t = &call->output[i];

        if (t->rank != 2)
            continue;
        for (int64_t r = ((const int64_t *)offsets->data)[offsets->shape[0] - 1];
             r < t->shape[0]; r++)
            for (int64_t c = 0; c < t->shape[1]; c++)
                ng_unit_put(t, (const int64_t[2]){r, c}, 0);
    }
    return NG_OK;
}

START_TEST(trap_scales_past_the_groups)
{
    static const char *const axes[] = {"rounding=nearest-even",
                                       "mxfp4.scale=floor", "x=bf16",
                                       "scales=ue8m0"};

    strange = rest_cleared;
    const ng_operation_result *result = hold("quantize_mxfp4", NULL, axes, 4);

    ck_assert_msg(strncmp(result->diagnosis, "rows past the groups", 20) == 0,
                  "%s", result->diagnosis);
}
END_TEST

/* The code of 2^-9 read as 0: one case has it. */
static ng_status least_lost(const ng_call *call)
{
    const ng_status status = ng_subject_reference.run(call);
    const ng_tensor *x = ng_call_input(call, "x");

    for (int64_t i = 0; status == NG_OK && i < x->shape[0]; i++)
        if (((const uint8_t *)x->data)[i] == 1)
            ((float *)ng_call_output(call, "y")->data)[i] = 0;
    return status;
}

START_TEST(one_failure)
{
    strange = least_lost;
    const ng_operation_result *result = hold("decode_e4m3", NULL, NULL, 0);
    const char *end = ", which explains the one failure kept";
    const size_t n = strlen(result->diagnosis), m = strlen(end);

    ck_assert_int_eq(result->n_failures, 1);
    ck_assert_msg(n > m && strcmp(result->diagnosis + n - m, end) == 0, "%s",
                  result->diagnosis);
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
    tcase_add_test(tcase, trap_no_sign_to_lose);
    tcase_add_test(tcase, cut_alignment);
    tcase_add_test(tcase, trap_scales_past_the_groups);
    tcase_add_test(tcase, one_failure);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
