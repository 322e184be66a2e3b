/* SPDX-License-Identifier: Apache-2.0
 *
 * Shrinking of subjects in this process: bounded operations too, mistakes that
 * no explanation covers, and how often the subject is asked. Those of plug-ins:
 * test_shrink_faults.sh; of programs: test_example_exec.sh.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/checks/scratch.h"
#include "conformance/checks/shrink.h"

static int runs;

static bool covers(const ng_call *call)
{
    return ng_subject_reference.covers(call);
}

/* The quantiser behind SwiGLU has another scale rule. */
static ng_status ceil_scales(const ng_call *call)
{
    ng_call other = *call;

    runs++;
    other.rules.mxfp4_scale = NG_MX_CEIL;
    return ng_subject_reference.run(&other);
}

/* Gradients that are four times what they should be in the third column. */
static ng_status third_column(const ng_call *call)
{
    const ng_status status = ng_subject_reference.run(call);
    const ng_tensor *y = ng_call_output(call, "grad_up");

    runs++;
    for (int64_t row = 0;
         status == NG_OK && y->shape[1] > 2 && row < y->shape[0]; row++)
        ((float *)y->data)[row * y->stride[0] + 2 * y->stride[1]] *= 4;
    return status;
}

/* One weight in a row is merged with the low half of its neighbour; no
 * explanation knows of it. */
static ng_status neighbour(const ng_call *call)
{
    const ng_status status = ng_subject_reference.run(call);
    const ng_tensor *y = ng_call_output(call, "y");
    uint32_t *bits = y->data;

    runs++;
    for (int64_t i = 0; status == NG_OK && i + 1 < y->shape[0]; i += 7)
        if ((bits[i] ^ bits[i + 1]) & 0x100)
            bits[i] ^= 0x100;
    return status;
}

static ng_subject subject = {
    .name = "wrong", .description = "for this test", .covers = covers};
static ng_profile profile;
static ng_operation_result result;
static ng_verify_plan plan = {.subject = &subject,
                              .expected = &ng_subject_reference,
                              .profile = &profile,
                              .seed = 1,
                              .n_shards = 1,
                              .stop_after = 8,
                              .unexplained = true};

/* Verify, diagnose where asked, shrink, and once more: the same words. */
static void shrink(const char *operation, ng_status (*run)(const ng_call *),
                   const char *axis, bool explained)
{
    const ng_operation *op = ng_operation_find(operation);
    char first[sizeof result.shrunk];
    ng_error error;

    ck_assert_int_eq(ng_profile_load(&profile, "ng", &error), NG_OK);
    subject.run = run;
    plan.oracle = ng_subject_find("oracle");
    plan.axes = &axis;
    plan.n_axes = 1;
    ck_assert_int_eq(ng_verify(&result, &op, 1, &plan, &error), NG_OK);
    ck_assert_int_gt(result.n_failures, 0);
    result.n_failures = 1; /* enough, and diagnosed in a second */
    if (explained)
        ng_diagnose(&result, &plan);
    for (int again = 0; again < 2; again++) {
        memcpy(first, result.shrunk, sizeof first);
        runs = 0;
        ck_assert_int_eq(ng_shrink(&result, &plan, &error), NG_OK);
        ck_assert_int_le(runs, 2 * NG_SHRINK_TRIES);
        ck_assert_str_ne(result.shrunk, "");
        if (again)
            ck_assert_str_eq(result.shrunk, first);
    }
}

/* One gate and one factor, whose product is no power of two. */
START_TEST(bounded_and_quantised)
{
    if (ng_subject_find("oracle") == NULL)
        return;
    shrink("swiglu_mxfp4", ceil_scales, "mxfp4.scale=floor", true);
    ck_assert(result.explanation.is_rule);
    ck_assert_int_eq(result.explanation.rule, NG_RULE_MXFP4_SCALE);
    ck_assert_msg(strncmp(result.shrunk, "gate[1,1] bf16 = ", 17) == 0
                      && strstr(result.shrunk, ", up[1,1] bf16 = ") != NULL
                      && strstr(result.shrunk, ": y.codes[0,0] want=") != NULL,
                  "%s", result.shrunk);
}
END_TEST

START_TEST(bounded)
{
    if (ng_subject_find("oracle") == NULL)
        return;
    shrink("swiglu_backward", third_column, "y=fp32", false);
    ck_assert_msg(
        strncmp(result.shrunk, "grad_y[1,3] bf16 = 0(0000) 0(0000) ", 35) == 0
            && strstr(result.shrunk, ": grad_up[0,2] exact=") != NULL,
        "%s", result.shrunk);
}
END_TEST

START_TEST(unexplained)
{
    shrink("merge_weights", neighbour, "correction=i16", true);
    ck_assert(!ng_explanation_is_some(&result.explanation));
    ck_assert_str_eq(result.shrunk,
                     "x.low[2] bf16 = 0(0000) 0(0000), x.correction[2] i16 = "
                     "0000 0100: y[0] want=0000 got=0100 (3.58732407e-43"
                     " instead of 0)");
}
END_TEST

/* What died or hung is not asked again. */
START_TEST(verdicts)
{
    ng_error error;

    shrink("merge_weights", neighbour, "correction=i16", true);
    for (int i = 0; i < result.n_failures; i++) {
        result.failure[i].kind = NG_FAILURE_SUBJECT;
        result.failure[i].verdict.kind = NG_VERDICT_CRASHED;
    }
    runs = 0;
    ck_assert_int_eq(ng_shrink(&result, &plan, &error), NG_OK);
    ck_assert_str_eq(result.shrunk, "");
    ck_assert_int_eq(runs, 0);
}
END_TEST

/* Nowhere to write to: said, and what was found is kept. */
START_TEST(no_folder)
{
    ng_error error;

    shrink("merge_weights", neighbour, "correction=i16", true);
    plan.small_cases = scratch_path("none/shrunk");
    ck_assert_int_eq(ng_shrink(&result, &plan, &error), NG_BAD_FILE);
    ck_assert_msg(strstr(error.text, "none/shrunk: ") != NULL, "%s",
                  error.text);
    ck_assert_str_ne(result.shrunk, "");
    plan.small_cases = scratch_path("shrunk");
    ck_assert_int_eq(ng_shrink(&result, &plan, &error), NG_OK);
    ck_assert_int_eq(remove(scratch_path("shrunk/merge_weights.safetensors")),
                     0);
    plan.small_cases = NULL;
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("shrinking");
    TCase *tcase = tcase_create("shrinking");

    tcase_set_timeout(tcase, 120);
    tcase_add_checked_fixture(tcase, scratch_make, scratch_remove);
    tcase_add_test(tcase, bounded_and_quantised);
    tcase_add_test(tcase, bounded);
    tcase_add_test(tcase, unexplained);
    tcase_add_test(tcase, verdicts);
    tcase_add_test(tcase, no_folder);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
