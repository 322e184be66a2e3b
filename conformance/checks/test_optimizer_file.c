/* SPDX-License-Identifier: Apache-2.0
 *
 * An optimizer's file that is forged: one pair or tensor of a good one is
 * changed at a time. Each is refused with a line that names file and field, and
 * the optimizer stays as it was, in every bit.
 */
#include <check.h>

#include "conformance/checks/optimizer_fixture.h"
#include "conformance/checks/scratch.h"

static ng_error error;
static ng_optimizer *target, *twin;
static ng_tensor_file file;             /* a good one, of another's numbers */

static void set_up_as(ng_optimizer_kind kind, const storage *how)
{
    ng_optimizer *source = fixture_make(kind, how, false);

    target = fixture_make(kind, how, true);
    twin = fixture_make(kind, how, true);
    for (int64_t step = 0; step < 2; step++)
        fixture_step(source, step);
    file = (ng_tensor_file){0};
    ck_assert_int_eq(ng_optimizer_to_tensors(&file, source, &error), NG_OK);
    ng_optimizer_free(source);
}

static void set_up(void)
{
    set_up_as(NG_ADAMW, flash);
}

static void tear_down(void)
{
    ng_tensor_file_free(&file);
    ng_optimizer_free(target);
    ng_optimizer_free(twin);
}

static void expect_refused(const char *line)
{
    error.text[0] = '\0';
    ck_assert_int_eq(ng_optimizer_from_tensors(target, &file, "FILE", &error),
                     NG_BAD_FILE);
    ck_assert_str_eq(error.text, line);
    fixture_expect_equal(target, twin);
}

/* Whole again, the file is taken: what was refused was the change. */
static void expect_taken(void)
{
    ck_assert_int_eq(ng_optimizer_from_tensors(target, &file, "FILE", &error),
                     NG_OK);
    ck_assert_uint_eq(ng_optimizer_steps(target, 1), 2);
    ck_assert_int_eq(ng_optimizer_from_tensors(twin, &file, "FILE", &error),
                     NG_OK);
}

static ng_metadata *pair(const char *name)
{
    for (size_t i = 0; i < file.n_metadata; i++)
        if (strcmp(file.metadata[i].name, name) == 0)
            return &file.metadata[i];
    ck_abort_msg("no pair %s", name);
    return NULL;
}

/* A pair's value, and its name, replaced for one load. */
static void expect_value(const char *name, const char *value, const char *line)
{
    ng_metadata *p = pair(name), kept = *p;
    char text[128];

    snprintf(text, sizeof text, "%s", value);
    p->value = text;
    expect_refused(line);
    *p = kept;
}

static void expect_missing(const char *name)
{
    ng_metadata *p = pair(name), kept = *p;
    char other[] = "another", line[256];

    p->name = other;
    snprintf(line, sizeof line, "FILE: %s: missing", name);
    expect_refused(line);
    *p = kept;
}

START_TEST(every_pair_is_needed)
{
    for (size_t i = 0; i < file.n_metadata; i++)
        expect_missing(file.metadata[i].name);
    ck_assert_uint_ge(file.n_metadata, 8 + 3 * 13 + 4);
    expect_taken();
}
END_TEST

START_TEST(values_of_pairs)
{
#define COUNT(name, value) \
    expect_value(name, value, "FILE: " name ": \"" value "\" is not a count")
#define NUMBER(name, value)           \
    expect_value(name, value,         \
                 "FILE: " name ": \"" value "\" is not a hexadecimal number")
    expect_value("optimizer.version", "2", "FILE: optimizer.version: \"2\", "
                 "where this optimizer has 1");
    expect_value("optimizer.kind", "lion", "FILE: optimizer.kind: \"lion\", "
                 "where this optimizer has adamw");
    expect_value("weight.split", "flashoptim", "FILE: weight.split: "
                 "\"flashoptim\", where this optimizer has ulp");
    expect_value("state.compand", "flashoptim", "FILE: state.compand: "
                 "\"flashoptim\", where this optimizer has ng");
    expect_value("optim.step", "", "FILE: optim.step: \"\", where this "
                 "optimizer has ng");
    expect_value("optimizer.groups", "2", "FILE: optimizer.groups: 2, where "
                 "this optimizer has 3");
    COUNT("optimizer.groups", "three");
    COUNT("optimizer.skipped", "-1");
    COUNT("optimizer.partial", "1.5");
    COUNT("group.1.steps", "");
    COUNT("group.1.steps", " 2");
    COUNT("group.1.steps", "2 ");
    COUNT("group.1.steps", "18446744073709551616");
    expect_value("group.1.steps", "18446744073709551615",
                 "FILE: group.1.steps: no step could follow");
    expect_value("group.2.momentum_coding", "fp32", "FILE: "
                 "group.2.momentum_coding: \"fp32\", where this optimizer has "
                 "companded");
    expect_value("group.2.variance_coding", "linear", "FILE: "
                 "group.2.variance_coding: \"linear\", where this optimizer "
                 "has companded");
    NUMBER("group.0.lr", "0.01");
    NUMBER("group.0.lr", "0x");
    NUMBER("group.0.lr", "0x1p-3 ");
    NUMBER("group.0.beta1", "nan");
    NUMBER("group.0.beta1", "0x1p9999");
    NUMBER("group.0.eps", "+0x1p-9");
    expect_value("group.0.nesterov", "true", "FILE: group.0.nesterov: \"true\" "
                 "is neither 0 nor 1");
    expect_value("group.0.lr_decoupled", "01", "FILE: group.0.lr_decoupled: "
                 "\"01\" is neither 0 nor 1");
    /* Numbers that are written well and that no step takes. */
    expect_value("group.0.beta2", "0x1p0", "FILE: group.0.beta2: 1 is outside "
                 "[0, 1)");
    expect_value("group.2.eps", "-0x1p-9", "FILE: group.2.eps: -0.00195312 is "
                 "not positive in FP32");
    expect_value("vector::group", "0", "FILE: vector::group: 0, where this "
                 "optimizer has 2");
    COUNT("vector::group", "0x2");
    expect_taken();
}
END_TEST

static ng_tensor *tensor(const char *name)
{
    ng_tensor *t = ng_tensor_file_find(&file, name);

    ck_assert_ptr_nonnull(t);
    return t;
}

/* Change a tensor for one load. */
#define EXPECT_TENSOR(name, change, line)           \
    do {                                            \
        ng_tensor *t = tensor(name), kept = *t;     \
        change;                                     \
        expect_refused("FILE: " line);              \
        *t = kept;                                  \
    } while (0)

START_TEST(every_tensor_is_needed)
{
    for (size_t i = 0; i < file.n_tensors; i++) {
        ng_tensor *t = &file.tensors[i], kept = *t;
        char line[256];

        snprintf(line, sizeof line, "FILE: tensor \"%s\": tensor: missing",
                 kept.name);
        strcpy(t->name, "another");
        expect_refused(line);
        *t = kept;
    }
    ck_assert_uint_eq(file.n_tensors, 4 * 6);
    expect_taken();
}
END_TEST

START_TEST(types_and_shapes)
{
    static const int64_t shape[1] = {2};

    EXPECT_TENSOR("matrix", t->dtype = NG_FP16, "tensor \"matrix\": dtype: "
                  "fp16, where this optimizer has bf16");
    EXPECT_TENSOR("matrix::momentum_scales", t->dtype = NG_FP16,
                  "tensor \"matrix::momentum_scales\": dtype: fp16, where this "
                  "optimizer has ue6m10");
    EXPECT_TENSOR("vector::correction", t->rank = 2, "tensor "
                  "\"vector::correction\": shape: 2 axes, where this optimizer "
                  "has 1");
    EXPECT_TENSOR("matrix::variance", t->shape[1] = 20, "tensor "
                  "\"matrix::variance\": shape: axis 1 is 20, where this "
                  "optimizer has 21");
    EXPECT_TENSOR("matrix::variance", t->data = NULL, "tensor "
                  "\"matrix::variance\": data: is null");

    /* What is left over. */
    ck_assert_int_eq(ng_tensor_file_add_tensor(NULL, &file, "stray", NG_FP32, 1,
                                               shape), NG_OK);
    expect_refused("FILE: tensor \"stray\": tensor: no parameter of this "
                   "optimizer has it");
    strcpy(file.tensors[file.n_tensors - 1].name, "vector::momentum");
    expect_refused("FILE: tensors: one is there twice");
}
END_TEST


/* Change one element's bytes for one load. */
#define EXPECT_ELEMENT(name, type, i, value, line)  \
    do {                                            \
        ng_tensor *t = tensor(name);                \
        const type was = ((type *)t->data)[i];      \
        ((type *)t->data)[i] = (type)(value);       \
        expect_refused("FILE: " line);              \
        ((type *)t->data)[i] = was;                 \
    } while (0)

START_TEST(values_that_are_never_written)
{
    const ng_tensor *low = tensor("matrix"), *rho = tensor("matrix::correction");

    /* A NaN or a zero has no correction of that kind. */
    ((uint16_t *)low->data)[104] = 0x7FFF;
    ((int8_t *)rho->data)[104] = 1;
    expect_refused("FILE: tensor \"matrix::correction\": values: element 104: "
                   "no weight splits into low 0x7FFF and correction 1");
    ((uint16_t *)low->data)[104] = 0x8000;
    ((int8_t *)rho->data)[104] = -1;
    expect_refused("FILE: tensor \"matrix::correction\": values: element 104: "
                   "no weight splits into low 0x8000 and correction -1");
    ((int8_t *)rho->data)[104] = 0;

    ((uint16_t *)tensor("matrix::momentum_scales")->data)[3] = 0x4000;
    EXPECT_ELEMENT("matrix::momentum", uint8_t, 104, 0x80, "tensor "
                   "\"matrix::momentum\": values: element 104: code 0x80 is "
                   "not written under scale 0x4000");
    ((uint8_t *)tensor("vector::variance")->data)[32] = 9;
    EXPECT_ELEMENT("vector::variance_scales", uint16_t, 1, 0, "tensor "
                   "\"vector::variance\": values: element 32: code 0x09 is not "
                   "written under scale 0x0000");
    EXPECT_ELEMENT("vector::variance_scales", uint16_t, 1, 0xFFFF, "tensor "
                   "\"vector::variance\": values: element 32: code 0x09 is not "
                   "written under scale 0xFFFF");
    expect_taken();
}
END_TEST

/* Published scales are FP16: neither negative nor NaN. */
START_TEST(scales_of_flashoptim)
{
    tear_down();
    set_up_as(NG_ADAMW, &storages[2]);
    EXPECT_ELEMENT("vector::momentum_scales", uint16_t, 1, 0x8001, "tensor "
                   "\"vector::momentum_scales\": values: element 1: 0x8001 is "
                   "no scale");
    EXPECT_ELEMENT("matrix::variance_scales", uint16_t, 2, 0x7C01, "tensor "
                   "\"matrix::variance_scales\": values: element 2: 0x7C01 is "
                   "no scale");
    expect_taken();
}
END_TEST

/* A variance in FP32 below 0, -0 included: its root would be a NaN in every
 * weight from the next step on. */
START_TEST(trap_variance_with_a_sign)
{
    tear_down();
    set_up_as(NG_ADAM, &storages[0]);
    EXPECT_ELEMENT("vector::variance", float, 63, -1.0f, "tensor "
                   "\"vector::variance\": values: element 63: 0xBF800000 has a "
                   "sign");
    EXPECT_ELEMENT("matrix::variance", float, 0, -0.0f, "tensor "
                   "\"matrix::variance\": values: element 0: 0x80000000 has a "
                   "sign");
    expect_taken();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("optimizer_file");
    TCase *tcase = tcase_create("optimizer_file");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, every_pair_is_needed);
    tcase_add_test(tcase, values_of_pairs);
    tcase_add_test(tcase, every_tensor_is_needed);
    tcase_add_test(tcase, types_and_shapes);
    tcase_add_test(tcase, values_that_are_never_written);
    tcase_add_test(tcase, scales_of_flashoptim);
    tcase_add_test(tcase, trap_variance_with_a_sign);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
