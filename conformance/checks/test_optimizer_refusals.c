/* SPDX-License-Identifier: Apache-2.0
 *
 * What the optimizer's calls refuse: each gives a status and one line that names
 * the field, and changes nothing.
 */
#include <check.h>
#include <math.h>

#include "conformance/checks/optimizer_fixture.h"
#include "conformance/checks/scratch.h"

static ng_error error;
static ng_optimizer *optimizer, *twin;  /* the same; only one is called */

static void set_up(void)
{
    scratch_make();
    optimizer = fixture_make(NG_ADAMW, flash, false);
    twin = fixture_make(NG_ADAMW, flash, false);
}

static void tear_down(void)
{
    ng_optimizer_free(optimizer);
    ng_optimizer_free(twin);
    scratch_remove();
}

/* A call gives this status and this line, and its optimizer is as it was. */
#define REFUSES(call, status, line)                                          \
    do {                                                                     \
        const int64_t allocated = ng_optimizer_allocated(optimizer);         \
        strcpy(error.text, "untouched");                                     \
        ck_assert_int_eq(call, status);                                      \
        ck_assert_str_eq(error.text, line);                                  \
        ck_assert_int_eq(ng_optimizer_allocated(optimizer), allocated);      \
        ck_assert_int_eq(ng_optimizer_n_parameters(optimizer), 4);           \
        ck_assert_int_eq(ng_optimizer_n_groups(optimizer), 3);               \
    } while (0)

#define NULL_POINTER ": a required pointer is null"

START_TEST(creation)
{
    ng_optimizer *made = twin;
    ng_rules rules = ng_default_rules;

    REFUSES(ng_optimizer_create(NULL, NG_SGD, NULL, &error), NG_BAD_POINTER,
            "optimizer" NULL_POINTER);
    REFUSES(ng_optimizer_create(&made, NG_N_OPTIMIZERS, NULL, &error),
            NG_BAD_VALUE, "optimizer: kind: no such one");
    rules.split = -1;
    REFUSES(ng_optimizer_create(&made, NG_SGD, &rules, &error), NG_BAD_RULES,
            "optimizer: rules: rules that this operation does not offer");
    ck_assert_ptr_eq(made, twin);
    ck_assert_int_eq(ng_optimizer_create(&made, NG_SGD, NULL, &error), NG_OK);
    ck_assert_mem_eq(ng_optimizer_rules(made), &ng_default_rules,
                     sizeof ng_default_rules);
    ck_assert_int_eq(ng_optimizer_kind_of(made), NG_SGD);
    ng_optimizer_free(made);
}
END_TEST

static ng_group_settings good_settings(void)
{
    return (ng_group_settings){fixture_hyper, NG_BF16, 8, NG_STATE_COMPANDED,
                               NG_STATE_LINEAR, NG_BF16};
}

#define REFUSES_SETTING(change, status, line)                               \
    do {                                                                    \
        ng_group_settings s = good_settings();                              \
        int64_t group = 77;                                                 \
        change;                                                             \
        REFUSES(ng_optimizer_add_group(&group, optimizer, &s, &error),      \
                status, line);                                              \
        ck_assert_int_eq(group, 77);                                        \
    } while (0)

START_TEST(groups)
{
    const ng_group_settings good = good_settings();

    REFUSES(ng_optimizer_add_group(NULL, NULL, &good, &error), NG_BAD_POINTER,
            "optimizer" NULL_POINTER);
    REFUSES(ng_optimizer_add_group(NULL, optimizer, NULL, &error),
            NG_BAD_POINTER, "optimizer" NULL_POINTER);
    REFUSES_SETTING(s.weights = NG_U8, NG_BAD_DTYPE,
                    "group: weights: bad element type");
    REFUSES_SETTING(s.correction_bits = 4, NG_BAD_LAYOUT,
                    "group: correction_bits: bad layout");
    REFUSES_SETTING(s.momentum = (ng_state_coding)9, NG_BAD_LAYOUT,
                    "group: momentum: bad layout");
    REFUSES_SETTING(s.variance = (ng_state_coding)9, NG_BAD_LAYOUT,
                    "group: variance: bad layout");
    REFUSES_SETTING(s.gradients = NG_E4M3, NG_BAD_DTYPE,
                    "group: gradients: bad element type");
    REFUSES_SETTING(s.hyper.eps = 0.0, NG_BAD_VALUE,
                    "group: eps: 0 is not positive in FP32");
    REFUSES_SETTING(s.hyper.beta1 = 1.0, NG_BAD_VALUE,
                    "group: beta1: 1 is outside [0, 1)");
    ck_assert_int_eq(ng_optimizer_begin_release(optimizer, &error), NG_OK);
    REFUSES_SETTING((void)s, NG_BAD_VALUE, "group: a release is under way");
}
END_TEST

#define REFUSES_PARAMETER(group, name, rank, shape, status, line)           \
    do {                                                                    \
        int64_t parameter = 77;                                             \
        REFUSES(ng_optimizer_add_parameter(&parameter, optimizer, group,    \
                                           name, rank, shape, NULL,         \
                                           &error), status, line);          \
        ck_assert_int_eq(parameter, 77);                                    \
    } while (0)

START_TEST(parameters)
{
    static const int64_t shape[5] = {2, 2, 2, 2, 2}, negative[1] = {-1};
    static const int64_t huge[2] = {INT64_C(1) << 40, INT64_C(1) << 40};
    char longest[NG_OPTIMIZER_MAX_NAME + 2];

    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    REFUSES(ng_optimizer_add_parameter(NULL, NULL, 0, "x", 1, shape, NULL,
                                       &error), NG_BAD_POINTER,
            "optimizer" NULL_POINTER);
    REFUSES_PARAMETER(0, NULL, 1, shape, NG_BAD_POINTER,
                      "optimizer" NULL_POINTER);
    REFUSES_PARAMETER(0, "x", 1, NULL, NG_BAD_POINTER,
                      "optimizer" NULL_POINTER);
    REFUSES_PARAMETER(3, "x", 1, shape, NG_BAD_SHAPE,
                      "parameter: group: no such one");
    REFUSES_PARAMETER(-1, "x", 1, shape, NG_BAD_SHAPE,
                      "parameter: group: no such one");
    REFUSES_PARAMETER(0, "", 1, shape, NG_BAD_VALUE,
                      "parameter: name: is empty");
    REFUSES_PARAMETER(0, longest, 1, shape, NG_BAD_VALUE,
                      "parameter: name: longer than 110 bytes");
    REFUSES_PARAMETER(0, "a::b", 1, shape, NG_BAD_VALUE,
                      "parameter: name: a::b: has \"::\"");
    REFUSES_PARAMETER(0, "vector", 1, shape, NG_BAD_VALUE,
                      "parameter: name: vector: given twice");
    REFUSES_PARAMETER(0, "x", 5, shape, NG_BAD_SHAPE,
                      "parameter: shape: x: bad");
    REFUSES_PARAMETER(0, "x", -1, shape, NG_BAD_SHAPE,
                      "parameter: shape: x: bad");
    REFUSES_PARAMETER(0, "x", 1, negative, NG_BAD_SHAPE,
                      "parameter: shape: x: bad");
    REFUSES_PARAMETER(0, "x", 2, huge, NG_BAD_SHAPE,
                      "parameter: shape: x: bad");
    ck_assert_int_eq(ng_optimizer_begin_release(optimizer, &error), NG_OK);
    REFUSES_PARAMETER(0, "x", 1, shape, NG_BAD_VALUE,
                      "parameter: a release is under way");
    ck_assert_int_eq(ng_optimizer_end_release(NULL, optimizer, false, &error),
                     NG_OK);

    /* The longest name is good, and its tensors have names of their own. */
    longest[NG_OPTIMIZER_MAX_NAME] = '\0';
    ck_assert_int_eq(ng_optimizer_add_parameter(NULL, optimizer, 0, longest, 1,
                                                shape, NULL, &error), NG_OK);
    ck_assert_int_eq(ng_optimizer_save(scratch_path("o"), optimizer, &error),
                     NG_OK);
    ck_assert_int_eq(ng_optimizer_load(optimizer, scratch_path("o"), &error),
                     NG_OK);
}
END_TEST

START_TEST(numbers_that_do_not_exist)
{
    static const int64_t none[] = {-1, 4};
    float x[105];
    void *data = x;

    for (int i = 0; i < 2; i++) {
        char line[64];

        snprintf(line, sizeof line, "parameter: there is no number %d",
                 (int)none[i]);
        REFUSES(ng_optimizer_gradient(&data, optimizer, none[i], &error),
                NG_BAD_SHAPE, line);
        REFUSES(ng_optimizer_drop_gradient(optimizer, none[i], &error),
                NG_BAD_SHAPE, line);
        REFUSES(ng_optimizer_export(x, optimizer, none[i], &error),
                NG_BAD_SHAPE, line);
        REFUSES(ng_optimizer_import(optimizer, none[i], x, &error),
                NG_BAD_SHAPE, line);
        REFUSES(ng_optimizer_release(NULL, optimizer, none[i], NULL, &error),
                NG_BAD_SHAPE, line);
        ck_assert_ptr_null(ng_optimizer_parameter(optimizer, none[i]));
        ck_assert_ptr_null(ng_optimizer_hyper(optimizer, none[i]));
        ck_assert_uint_eq(ng_optimizer_steps(optimizer, none[i]), 0);
    }
    ck_assert_ptr_eq(data, x);
    fixture_expect_equal(optimizer, twin);
}
END_TEST

START_TEST(null_pointers)
{
    ng_optimizer_bytes bytes;
    ng_lr_report report;
    ng_tensor_file file = {0};
    bool finite;
    float x[1];

#define REFUSES_NULL(call, what) \
    REFUSES(call, NG_BAD_POINTER, what NULL_POINTER)
    REFUSES_NULL(ng_optimizer_gradient(NULL, optimizer, 0, &error), "gradient");
    REFUSES_NULL(ng_optimizer_gradient(NULL, NULL, 0, &error), "optimizer");
    REFUSES_NULL(ng_optimizer_drop_gradient(NULL, 0, &error), "optimizer");
    REFUSES_NULL(ng_optimizer_export(x, NULL, 0, &error), "optimizer");
    REFUSES_NULL(ng_optimizer_export(NULL, optimizer, 0, &error),
                 "parameter: matrix");
    REFUSES_NULL(ng_optimizer_import(optimizer, 0, NULL, &error),
                 "parameter: matrix");
    REFUSES_NULL(ng_optimizer_step(NULL, NULL, NULL, &error), "step");
    REFUSES_NULL(ng_optimizer_skip(NULL, &error), "step");
    REFUSES_NULL(ng_optimizer_begin_release(NULL, &error), "step");
    REFUSES_NULL(ng_optimizer_release(NULL, NULL, 0, NULL, &error),
                 "optimizer");
    REFUSES_NULL(ng_optimizer_end_release(NULL, NULL, false, &error),
                 "release");
    REFUSES_NULL(ng_optimizer_is_finite(NULL, optimizer, NULL, &error),
                 "gradients");
    REFUSES_NULL(ng_optimizer_is_finite(&finite, NULL, NULL, &error),
                 "gradients");
    REFUSES_NULL(ng_optimizer_check_lr(NULL, optimizer, &error),
                 "learning rate");
    REFUSES_NULL(ng_optimizer_check_lr(&report, NULL, &error),
                 "learning rate");
    REFUSES_NULL(ng_optimizer_to_tensors(NULL, optimizer, &error), "optimizer");
    REFUSES_NULL(ng_optimizer_to_tensors(&file, NULL, &error), "optimizer");
    REFUSES_NULL(ng_optimizer_from_tensors(NULL, &file, "f", &error),
                 "optimizer");
    REFUSES_NULL(ng_optimizer_from_tensors(optimizer, NULL, "f", &error),
                 "optimizer");
    REFUSES_NULL(ng_optimizer_from_tensors(optimizer, &file, NULL, &error),
                 "optimizer");
    REFUSES_NULL(ng_optimizer_save(NULL, optimizer, &error), "safetensors");
    ck_assert_int_eq(ng_optimizer_bytes_of(NULL, optimizer), NG_BAD_POINTER);
    ck_assert_int_eq(ng_optimizer_bytes_of(&bytes, NULL), NG_BAD_POINTER);
    ck_assert_ptr_null(file.tensors);
    fixture_expect_equal(optimizer, twin);
}
END_TEST

/* A step with numbers that will not do leaves all as it is, in every group: the
 * first group's were good. */
START_TEST(hyper_parameters)
{
    for (int64_t i = 0; i < 3; i++)
        fixture_gradient(optimizer, i, 0);
    ng_optimizer_hyper(optimizer, 2)->lr = NAN;
    REFUSES(ng_optimizer_step(NULL, optimizer, NULL, &error), NG_BAD_VALUE,
            "group 2: lr: nan is not finite in FP32");
    REFUSES(ng_optimizer_begin_release(optimizer, &error), NG_BAD_VALUE,
            "group 2: lr: nan is not finite in FP32");
    REFUSES(ng_optimizer_release(NULL, optimizer, 0, NULL, &error),
            NG_BAD_VALUE, "release: matrix: before it began");
    ng_optimizer_hyper(optimizer, 2)->lr = 5e-3 * 0.5;
    fixture_expect_equal(optimizer, twin);
}
END_TEST

/* A momentum that comes up where no state was made for it. */
START_TEST(trap_momentum_without_a_state)
{
    ng_group_settings settings = good_settings();
    const int64_t shape[1] = {3};
    ng_optimizer *sgd, *read = NULL;
    float before[3] = {1.0f, 2.0f, 3.0f}, after[3];

    settings.hyper.momentum = 0.0;
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(ng_optimizer_create(&sgd, NG_SGD, NULL, &error),
                         NG_OK);
        ck_assert_int_eq(ng_optimizer_add_group(NULL, sgd, &settings, &error),
                         NG_OK);
        ck_assert_int_eq(ng_optimizer_add_parameter(NULL, sgd, 0, "w", 1, shape,
                                                    before, &error), NG_OK);
        if (i == 0)
            read = sgd;
    }
    ck_assert(!ng_optimizer_parameter(sgd, 0)->has_momentum);
    ng_optimizer_hyper(sgd, 0)->momentum = 0.5;
    REFUSES(ng_optimizer_step(NULL, sgd, NULL, &error), NG_BAD_VALUE,
            "group 0: momentum: was 0 when \"w\" was added, which has no state "
            "for it");
    /* Nor from a file. */
    ck_assert_int_eq(ng_optimizer_save(scratch_path("o"), sgd, &error), NG_OK);

    char line[600];

    snprintf(line, sizeof line,
             "%s: group.0.momentum: is not 0, where this optimizer's \"w\" has "
             "no state for it", scratch_path("o"));
    REFUSES(ng_optimizer_load(read, scratch_path("o"), &error), NG_BAD_FILE,
            line);
    ck_assert(ng_optimizer_hyper(read, 0)->momentum == 0.0);
    ck_assert_int_eq(ng_optimizer_export(after, read, 0, &error), NG_OK);
    ck_assert_mem_eq(before, after, sizeof before);
    ng_optimizer_free(sgd);
    ng_optimizer_free(read);
}
END_TEST

START_TEST(while_releasing)
{
    ng_tensor_file file = {0};

    ck_assert_int_eq(ng_optimizer_begin_release(optimizer, &error), NG_OK);
    REFUSES(ng_optimizer_step(NULL, optimizer, NULL, &error), NG_BAD_VALUE,
            "step: a release is under way");
    REFUSES(ng_optimizer_skip(optimizer, &error), NG_BAD_VALUE,
            "step: a release is under way");
    REFUSES(ng_optimizer_begin_release(optimizer, &error), NG_BAD_VALUE,
            "step: a release is under way");
    REFUSES(ng_optimizer_release(NULL, optimizer, 0, NULL, &error),
            NG_BAD_VALUE, "release: matrix: has no gradient");
    REFUSES(ng_optimizer_save(scratch_path("o"), optimizer, &error),
            NG_BAD_VALUE, "optimizer: a release is under way");
    ck_assert_int_eq(scratch_count(), 0);
    REFUSES(ng_optimizer_to_tensors(&file, optimizer, &error), NG_BAD_VALUE,
            "optimizer: a release is under way");
    ck_assert_uint_eq(file.n_tensors + file.n_metadata, 0);
    REFUSES(ng_optimizer_from_tensors(optimizer, &file, "f", &error),
            NG_BAD_VALUE, "optimizer: a release is under way");
    ck_assert_int_eq(ng_optimizer_release(NULL, optimizer, 3, NULL, &error),
                     NG_OK);
    REFUSES(ng_optimizer_release(NULL, optimizer, 3, NULL, &error),
            NG_BAD_VALUE, "release: empty: for a second time");
    ck_assert_int_eq(ng_optimizer_end_release(NULL, optimizer, false, &error),
                     NG_OK);
    REFUSES(ng_optimizer_end_release(NULL, optimizer, false, &error),
            NG_BAD_VALUE, "release: none is under way");
}
END_TEST

/* Numbers that a load would refuse are not written, and no file begun. */
START_TEST(trap_saved_but_not_loadable)
{
    REFUSES((ng_optimizer_hyper(optimizer, 1)->lr = 1e39,
             ng_optimizer_save(scratch_path("o"), optimizer, &error)),
            NG_BAD_VALUE,
            "optimizer: group.1.lr: 1e+39 is not finite in FP32");
    ng_optimizer_hyper(optimizer, 1)->lr = 1.0;
    REFUSES((ng_optimizer_hyper(optimizer, 0)->dampening = INFINITY,
             ng_optimizer_save(scratch_path("o"), optimizer, &error)),
            NG_BAD_VALUE, "optimizer: group.0.dampening: is not finite");
    ck_assert_int_eq(scratch_count(), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("optimizer_refusals");
    TCase *tcase = tcase_create("optimizer_refusals");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, creation);
    tcase_add_test(tcase, groups);
    tcase_add_test(tcase, parameters);
    tcase_add_test(tcase, numbers_that_do_not_exist);
    tcase_add_test(tcase, null_pointers);
    tcase_add_test(tcase, hyper_parameters);
    tcase_add_test(tcase, trap_momentum_without_a_state);
    tcase_add_test(tcase, while_releasing);
    tcase_add_test(tcase, trap_saved_but_not_loadable);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
