/* SPDX-License-Identifier: Apache-2.0
 *
 * What verify measures: errors and scales worked out by hand, digests that
 * change with one bit, and with nothing else.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/checks/suite_runner.h"
#include "conformance/checks/verify.h"
#include "formats/fp32.h"

static ng_profile profile;
static ng_operation_result result;

static void setup(void)
{
    ng_error error;

    ck_assert_int_eq(ng_profile_load(&profile, "ng", &error), NG_OK);
}

static int64_t once(const ng_variant *variant, int level)
{
    (void)variant, (void)level;
    return 1;
}

static int64_t twice(const ng_variant *variant, int level)
{
    (void)variant, (void)level;
    return 2;
}

/* Run one operation with other strata, in the variants that the axes name. */
static void run(const char *name, const ng_stratum *strata,
                const ng_subject *subject, const char *const *axes, int n_axes)
{
    static ng_operation operation;
    const ng_operation *list[] = {&operation};
    ng_error error;

    operation = *ng_operation_find(name);
    operation.strata = strata;

    const ng_verify_plan plan = {.subject = subject,
                                 .expected = &ng_subject_reference,
                                 .profile = &profile,
                                 .seed = 1,
                                 .n_shards = 1,
                                 .axes = axes,
                                 .n_axes = n_axes};

    ck_assert_int_eq(ng_verify(&result, list, 1, &plan, &error), NG_OK);
    result.operation = ng_operation_find(name);
}

static const ng_binade_error *error_at(int binade)
{
    return &result.measured.error[binade - NG_LOWEST_BINADE];
}

/* ---- an encoder: E4M3 ---- */

static void fill_scalar(ng_case *c, int64_t index)
{
    static const float x[] = {1,        1.03125f, -1.25f,   1000,
                              0x1p-12f, 0.0f,     INFINITY, NAN};
    const int64_t n = sizeof x / sizeof *x;
    float *input = ng_case_input(c, "x", NG_FP32, 1, &n);

    ck_assert_ptr_nonnull(input);
    memcpy(input, x, sizeof x);
    input[0] += (float)index;
    ng_case_output(c, "y", NG_E4M3, 1, &n, false);
}

static const ng_stratum scalar_strata[] = {{"one", "", 0, once, fill_scalar},
                                           {"two", "", 0, twice, fill_scalar},
                                           {NULL, NULL, 0, NULL, NULL}};
static const char *const nearest[] = {"rounding=nearest-even",
                                      "overflow=saturate"};

START_TEST(errors_of_an_encoder)
{
    static const ng_stratum first[] = {{"one", "", 0, once, fill_scalar},
                                       {NULL, NULL, 0, NULL, NULL}};

    run("encode_e4m3", first, &ng_subject_reference, nearest, 2);
    /* 1 and -1.25 are codes; 1.03125 goes to 1: 1/33 of it. */
    ck_assert_uint_eq(error_at(0)->n, 3);
    ck_assert_uint_eq(error_at(0)->sum, 31775); /* 2^20 / 33 = 31775.03 */
    ck_assert_uint_eq(error_at(0)->most, 31775);
    /* 1000 stops at 448: 0.552; 2^-12 falls to 0: 1. */
    ck_assert_uint_eq(error_at(9)->n, 1);
    ck_assert_uint_eq(error_at(9)->sum, 578814); /* 0.552 * 2^20 = ....0 */
    ck_assert_uint_eq(error_at(-12)->n, 1);
    ck_assert_uint_eq(error_at(-12)->most, 1 << 20);
    /* 0, infinity and NaN have no relative error. */
    uint64_t n = 0;
    for (int i = 0; i < NG_N_BINADES; i++)
        n += result.measured.error[i].n;
    ck_assert_uint_eq(n, 5);
    ck_assert_uint_eq(result.measured.zero_scales, 0);
}
END_TEST

/* Directed roundings have other errors, and do not count. */
START_TEST(directed_roundings_do_not_count)
{
    static const char *const up[] = {"rounding=up", "overflow=saturate"};

    run("encode_e4m3", scalar_strata, &ng_subject_reference, up, 2);
    for (int i = 0; i < NG_N_BINADES; i++)
        ck_assert_uint_eq(result.measured.error[i].n, 0);
    ck_assert_uint_ne(result.measured.outputs, 0);
}
END_TEST

/* ---- a quantiser: MXFP4 ---- */

static void fill_block(ng_case *c, int64_t index)
{
    const int64_t shape[2] = {2, 32}, codes[2] = {2, 16}, scales[2] = {2, 1};
    float *x = ng_case_input(c, "x", NG_FP32, 2, shape);

    (void)index;
    ck_assert_ptr_nonnull(x);
    x[0] = 28; /* scale 2^2: 7 goes to 6, 1/7 too small */
    x[1] = 5;  /* 1.25 goes to 1: 1/5 */
    x[33] = NAN;
    ng_case_output(c, "y.codes", NG_E2M1X2, 2, codes, false);
    ng_case_output(c, "y.scales", NG_UE8M0, 2, scales, false);
    ng_case_attribute(c, "cols", 32);
}

START_TEST(errors_and_scales_of_a_quantiser)
{
    static const ng_stratum strata[] = {{"block", "", 0, once, fill_block},
                                        {NULL, NULL, 0, NULL, NULL}};
    static const char *const axes[] = {"rounding=nearest-even", "x=fp32",
                                       "scales=ue8m0", "mxfp4.scale=floor"};

    run("quantize_mxfp4", strata, &ng_subject_reference, axes, 4);
    ck_assert_int_gt(result.variants, 0);

    const uint64_t v = (uint64_t)result.variants;

    ck_assert_uint_eq(error_at(2)->n, v);
    ck_assert_uint_eq(error_at(2)->sum, v * 149797); /* 2^20 / 7 */
    ck_assert_uint_eq(error_at(0)->n, v);
    ck_assert_uint_eq(error_at(0)->sum, v * 209715); /* 2^20 / 5 */
    ck_assert_uint_eq(result.measured.scale[2 - NG_LOWEST_BINADE], v);
    ck_assert_uint_eq(result.measured.nan_scales, v);
}
END_TEST

/* ---- bounded outputs ---- */

START_TEST(errors_of_bounded_outputs)
{
    static const double exact[] = {
        1, 1, 1, 1 + 0x1p-24, 1 + 0x1p-26, 1, 0x1p-149, INFINITY, 1, 1, 1};
    static const double bound[] = {1,        1, 1, 1, 1, 1, 1, 1, NG_UNWRITTEN,
                                   INFINITY, 1};
    static const float value[] = {
        1, 1 + 0x1p-23f, 1 + 0x1.8p-22f, 1, 1, 2, 0, 3, 4, 5, INFINITY};
    enum { N = sizeof value / sizeof *value };
    const int64_t n = N;
    double exact_copy[N], bound_copy[N];
    ng_bounds bounds[NG_MAX_TENSORS] = {{exact_copy, bound_copy}};
    const ng_variant variant = {.n_axes = 0};
    ng_measurement m = {0};
    ng_outputs outputs;
    ng_call call;
    ng_case c;

    memcpy(exact_copy, exact, sizeof exact);
    memcpy(bound_copy, bound, sizeof bound);
    ng_case_begin(&c, "swiglu", &variant, "s", 0, 1);
    ng_case_output(&c, "y", NG_FP32, 1, &n, false);
    ck_assert(ng_outputs_make(&outputs, &call, &c, 0));
    memcpy(call.output[0].data, value, sizeof value);
    ng_measure(&m, &c, &call, &outputs, NG_OK, bounds, true);

    ck_assert_uint_eq(m.ulp[0], 1);               /* the same */
    ck_assert_uint_eq(m.ulp[1], 1);               /* 1/8 */
    ck_assert_uint_eq(m.ulp[4], 1);               /* 1/2 */
    ck_assert_uint_eq(m.ulp[8], 2);               /* 1; a subnormal's too */
    ck_assert_uint_eq(m.ulp[9], 1);               /* 3 */
    ck_assert_uint_eq(m.ulp[NG_ULP_BINS - 1], 1); /* 2^23 */
    uint64_t sum = 0;
    for (int i = 0; i < NG_ULP_BINS; i++)
        sum += m.ulp[i];
    ck_assert_uint_eq(sum, 7);
    ng_outputs_free(&outputs);
    ng_case_end(&c);
}
END_TEST

/* ---- digests ---- */

static bool covers(const ng_call *call)
{
    return ng_subject_reference.covers(call);
}

static uint8_t flip;

static ng_status run_flipped(const ng_call *call)
{
    const ng_status status = ng_subject_reference.run(call);
    const ng_tensor *x = ng_call_input(call, "x");

    if (*(const float *)x->data != 1) /* the second case of "two" */
        *(uint8_t *)ng_call_output(call, "y")->data ^= flip;
    return status;
}

static const ng_subject flipped = {
    .name = "flipped", .covers = covers, .run = run_flipped};

START_TEST(one_bit_changes_one_digest)
{
    run("encode_e4m3", scalar_strata, &flipped, nearest, 2);

    const ng_operation_result before = result;

    ck_assert_int_eq(before.failed_cases, 0);
    ck_assert_int_eq(before.stratum[0].cases, 1);
    ck_assert_int_eq(before.stratum[1].cases, 2);
    ck_assert_uint_eq(before.measured.outputs,
                      before.stratum[0].outputs + before.stratum[1].outputs);
    ck_assert_uint_eq(before.measured.inputs,
                      before.stratum[0].inputs + before.stratum[1].inputs);
    flip = 1;
    run("encode_e4m3", scalar_strata, &flipped, nearest, 2);
    ck_assert_int_eq(result.failed_cases, 1);
    ck_assert_uint_eq(result.measured.inputs, before.measured.inputs);
    ck_assert_uint_ne(result.measured.outputs, before.measured.outputs);
    ck_assert_uint_eq(result.stratum[0].outputs, before.stratum[0].outputs);
    ck_assert_uint_ne(result.stratum[1].outputs, before.stratum[1].outputs);
    ck_assert_int_eq(result.stratum[0].failed_cases, 0);
    ck_assert_int_eq(result.stratum[1].failed_cases, 1);
    ck_assert_int_eq(result.value[0][0].failed_cases, 1);
    ck_assert_int_eq(result.value[0][1].cases, 0);
    flip = 0;
    run("encode_e4m3", scalar_strata, &flipped, nearest, 2);
    ck_assert_uint_eq(result.measured.outputs, before.measured.outputs);
}
END_TEST

/* ---- JSON ---- */

START_TEST(json_and_back)
{
    static ng_measurement m, back;

    m.inputs = UINT64_C(0xFEDCBA9876543210);
    m.outputs = 7;
    m.ulp[0] = 5;
    m.ulp[NG_ULP_BINS - 1] = 6;
    m.error[0] = (ng_binade_error){1, 2, 3};
    m.error[NG_N_BINADES - 1] = (ng_binade_error){4, 5, 6};
    m.scale[3] = 8;
    m.zero_scales = 9;
    m.nan_scales = 10;

    json_t *object = ng_measurement_json(&m);

    ng_measurement_of_json(&back, object);
    ck_assert_mem_eq(&back, &m, sizeof m);
    json_decref(object);

    /* A file of another hand: what is no binade is left out. */
    object =
        json_loads("{\"inputs\": 3, \"ulp\": \"x\", \"error\": [[-161,1,1,1],"
                   " [160,1,1,1], [\"0\",1,1,1], 7],"
                   " \"scales\": {\"binades\": [[999, 1]]}}",
                   0, NULL);
    memset(&m, 0, sizeof m);
    ng_measurement_of_json(&back, object);
    ck_assert_mem_eq(&back, &m, sizeof m);
    json_decref(object);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("measure");
    TCase *tcase = tcase_create("measure");

    tcase_add_checked_fixture(tcase, setup, NULL);
    tcase_add_test(tcase, errors_of_an_encoder);
    tcase_add_test(tcase, directed_roundings_do_not_count);
    tcase_add_test(tcase, errors_and_scales_of_a_quantiser);
    tcase_add_test(tcase, errors_of_bounded_outputs);
    tcase_add_test(tcase, one_bit_changes_one_digest);
    tcase_add_test(tcase, json_and_back);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
