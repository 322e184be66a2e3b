/* SPDX-License-Identifier: Apache-2.0
 *
 * The bound of a grouped GEMM under the default profile, tried from both sides:
 * Hopper's tensor core and other orders lie within it; a lost block, a lost
 * product or a scale that is off by 1 % do not.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/checks/inputs_gemm.h"
#include "conformance/checks/suite_runner.h"
#include "conformance/checks/verify.h"
#include "conformance/subject/gemm_functions.h"
#include "formats/fp32.h"

/* ---- strangers ---- */

static bool covers(const ng_call *call)
{
    (void)call;
    return true;
}

/* Under other rules than it was asked to keep. */
static ng_status run_hopper(const ng_call *call)
{
    ng_call other = *call;

    other.rules.gemm = NG_GEMM_HOPPER_WGMMA;
    return ng_subject_reference.run(&other);
}

static double code_value(uint8_t code)
{
    const int field = code >> 3 & 15, fraction = code & 7;
    const double magnitude = field == 15 && fraction == 7 ? (double)NAN
                             : field == 0                 ? ldexp(fraction, -9)
                                          : ldexp(8 + fraction, field - 10);

    return (code & 0x80) != 0 ? -magnitude : magnitude;
}

/* A plain FP32 GEMM, dense: K downward, product by product, each scaled first.
 * `lose` products of the start, and in `off` a factor on the result. */
static int64_t lose;
static float off;

static ng_status run_plain(const ng_call *call)
{
    const ng_gemm_views v = ng_gemm_views_of(call);
    ng_groups groups;

    if (ng_call_groups(&groups, call) != NULL)
        return ng_subject_reference.run(call);
    for (int64_t t = 0; t < v.d.rows; t++)
        for (int64_t n = 0; n < v.d.cols; n++) {
            const float *s_a =
                (const float *)v.a.scales.data + t * v.a.scales.ld;
            const float *s_b =
                (const float *)v.b.scales.data + n / 128 * v.b.scales.ld;
            float sum = 0;

            for (int64_t k = v.a.cols - 1; k >= lose; k--) {
                const float scale = s_a[k / 128 * v.a.scales.step]
                                    * s_b[k / 128 * v.b.scales.step];
                const double p = code_value(v.a.codes[t * v.a.ld + k])
                                 * code_value(v.b.codes[n * v.b.ld + k]);
                const float product = scale * (float)p;

                sum = sum + product;
            }
            sum = sum * off;
            ((uint32_t *)v.d.data)[t * v.d.ld + n] =
                sum != sum ? (uint32_t)NG_FP32_NAN : ng_fp32_bits(sum);
        }
    return NG_OK;
}

/* ---- all cases of some strata ---- */

static ng_subject subject = {.name = "stranger", .covers = covers};
static ng_judgement judged;
static int64_t failures;

static void try(const char *operation_name, const char *only, int level,
                ng_status (*run)(const ng_call *))
{
    ng_profile profile;
    ng_error error;
    const ng_operation *operation = ng_operation_find(operation_name);
    ng_variant variant;
    const ng_verify_plan plan = {.subject = &subject,
                                 .expected = &ng_subject_reference,
                                 .oracle = &ng_subject_oracle,
                                 .profile = &profile,
                                 .n_shards = 1};

    ck_assert_int_eq(ng_profile_load(&profile, "ng", &error), NG_OK);
    subject.run = run;
    judged = (ng_judgement){0, 0, 0};
    failures = 0;
    for (int64_t v = 0; ng_variant_at(&variant, operation->axes,
                                      operation->n_axes, &profile, v);
         v++) {
        if (variant.rules.gemm != NG_GEMM_EXACT
            || ng_variant_get(&variant, "d", 0) != NG_FP32
            || ng_variant_get(&variant, "scales", 0) != NG_FP32)
            continue;
        for (const ng_stratum *s = operation->strata; s->name != NULL; s++) {
            const int64_t n = s->count(&variant, level);

            if (strcmp(s->name, "products") == 0
                || (only != NULL && strcmp(s->name, only) != 0))
                continue;
            for (int64_t i = 0; i < n; i++) {
                const ng_case_id id = {.operation = operation,
                                       .variant = v,
                                       .stratum = s,
                                       .index = i,
                                       .seed = 5};
                ng_failure failure;
                ng_events events = {{0}};
                int64_t elements;

                failures += !ng_verify_case(&failure, &events, &elements, &id,
                                            &variant, &plan);
                ng_judgement_add(&judged, &failure.judged);
            }
        }
    }
    ck_assert_int_gt(judged.bounded, 2000);
}

/* The tensor core stays within the bound and comes near enough to it for the
 * bound to mean something. */
START_TEST(hopper_is_within)
{
    try("grouped_gemm_fprop", NULL, 0, run_hopper);
    ck_assert_int_eq(failures, 0);
    ck_assert_msg(judged.share <= 1 && judged.share > 0.3, "%g", judged.share);
    try("grouped_gemm_wgrad", NULL, 0, run_hopper);
    ck_assert_int_eq(failures, 0);
    ck_assert_msg(judged.share <= 1 && judged.share > 0.3, "%g", judged.share);
}
END_TEST

/* FP32 sums backwards, of products scaled one by one. */
START_TEST(other_order_is_within)
{
    lose = 0;
    off = 1;
    try("grouped_gemm_fprop", "sums", 1, run_plain);
    ck_assert_int_eq(failures, 0);
    try("grouped_gemm_fprop", "random", 0, run_plain);
    ck_assert_int_eq(failures, 0);
}
END_TEST

START_TEST(wrong_is_outside)
{
    lose = 128;
    off = 1;
    try("grouped_gemm_fprop", "sums", 1, run_plain);
    ck_assert_int_gt(failures, 40);
    lose = 1;
    try("grouped_gemm_fprop", "sums", 1, run_plain);
    ck_assert_int_gt(failures, 20);
    lose = 0;
    off = 1.01f;
    try("grouped_gemm_fprop", "sums", 1, run_plain);
    ck_assert_int_gt(failures, 20);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("bound of the GEMM");
    TCase *all = tcase_create("all");

    tcase_set_timeout(all, 120);
    tcase_add_test(all, hopper_is_within);
    tcase_add_test(all, other_order_is_within);
    tcase_add_test(all, wrong_is_outside);
    suite_add_tcase(suite, all);
    return run_suite(suite);
}
