/* SPDX-License-Identifier: Apache-2.0
 *
 * A case taken apart and put together again is the same case, for every
 * operation and variant: so the table of shapes knows them all. Cut, it is what
 * one works out by hand. Written, it is read back; a file that is no such case
 * is refused with one line.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance/checks/block_case.h"
#include "conformance/checks/scratch.h"
#include "conformance/checks/small_file.h"
#include "formats/files/safetensors.h"

static ng_profile profile;
static ng_error error;

static void setup(void)
{
    ck_assert_int_eq(ng_profile_load(&profile, "ng", &error), NG_OK);
}

static void begin(ng_case *c, const ng_case_id *id, const ng_variant *variant)
{
    ng_case_begin(c, id->operation->name, variant, id->stratum->name, id->index,
                  id->seed);
    id->stratum->fill(c, id->index);
}

static bool same_tensors(const ng_tensor *a, const ng_tensor *b, int n)
{
    for (int i = 0; i < n; i++) {
        if (strcmp(a[i].name, b[i].name) != 0 || a[i].dtype != b[i].dtype
            || a[i].rank != b[i].rank)
            return false;
        for (int axis = 0; axis < a[i].rank; axis++)
            if (a[i].shape[axis] != b[i].shape[axis])
                return false;
    }
    return true;
}

/* Names, types, shapes, attributes; of inputs the elements, by taking the copy
 * apart too. */
static void check_same(const ng_case *c, const ng_small *s,
                       const ng_case *again)
{
    ng_small other;

    ck_assert_int_eq(c->call.n_inputs, again->call.n_inputs);
    ck_assert_int_eq(c->call.n_outputs, again->call.n_outputs);
    ck_assert_int_eq(c->call.n_attributes, again->call.n_attributes);
    ck_assert(same_tensors(c->call.input, again->call.input, c->call.n_inputs));
    ck_assert(
        same_tensors(c->call.output, again->call.output, c->call.n_outputs));
    for (int i = 0; i < c->call.n_attributes; i++) {
        ck_assert_str_eq(c->call.attribute[i].name,
                         again->call.attribute[i].name);
        ck_assert_int_eq(c->call.attribute[i].value,
                         again->call.attribute[i].value);
    }
    ck_assert_uint_eq(c->call.random.seed, again->call.random.seed);
    ck_assert_uint_eq(c->call.random.stream, again->call.random.stream);
    ck_assert(ng_small_of(&other, again));
    ck_assert_int_eq(other.n_groups, s->n_groups);
    for (int i = 0; i < s->n_inputs; i++)
        if (s->input[i].element != NULL)
            ck_assert_mem_eq(s->input[i].element, other.input[i].element,
                             (size_t)ng_small_count(&s->input[i])
                                 * sizeof *s->input[i].element);
    ng_small_free(&other);
}

static bool groups_are_right(const ng_case *c)
{
    const ng_tensor *t = ng_call_input(&c->call, "offsets");
    const int64_t *at = t != NULL ? t->data : NULL;

    for (int64_t g = 0; at != NULL && g + 1 < t->shape[0]; g++)
        if (at[g + 1] < at[g])
            return false;
    return at == NULL || at[0] == 0;
}

static void check_case(const ng_case_id *id, const ng_variant *variant)
{
    ng_case c, again;
    ng_small s;

    begin(&c, id, variant);
    if (!groups_are_right(&c)) { /* a case of what must be refused */
        ck_assert(!ng_small_of(&s, &c));
        ng_case_end(&c);
        return;
    }
    if (!ng_small_of(&s, &c))
        ck_abort_msg("%s, %s %d: does not follow from sizes",
                     id->operation->name, id->stratum->name, (int)id->index);
    s.odd_layout = false;
    ck_assert(ng_small_make(&again, &s, id, variant));
    check_same(&c, &s, &again);
    ng_case_end(&again);
    ng_small_free(&s);
    ng_case_end(&c);
}

/* The first case of every stratum in every fifth variant; in the first one a few
 * more: dense and ragged, one form of the optimizer's states and another. */
START_TEST(every_operation)
{
    const ng_operation *operation;
    int64_t n = 0;

    for (int i = 0; (operation = ng_operation_at(i)) != NULL; i++) {
        ng_case_id id = {.operation = operation, .seed = 1};
        ng_variant variant;

        for (id.variant = 0;
             ng_variant_at(&variant, operation->axes, operation->n_axes,
                           &profile, id.variant);
             id.variant++) {
            if (id.variant % 5 != 0
                || (operation->offers != NULL && !operation->offers(&variant)))
                continue;
            for (id.stratum = operation->strata; id.stratum->name != NULL;
                 id.stratum++) {
                const int64_t cases = id.stratum->count(&variant, 0);

                const int64_t few = id.variant == 0 ? 4 : 1;

                for (id.index = 0; id.index < few && id.index < cases;
                     id.index++, n++)
                    check_case(&id, &variant);
            }
        }
    }
    ck_assert_int_gt(n, 500);
}
END_TEST

/* ---- one case, cut ------------------------------------------------------------ */

static ng_case_id id;
static ng_variant variant;

static void choose(const char *name)
{
    id = (ng_case_id){.operation = ng_operation_find(name), .seed = 1};
    id.stratum = id.operation->strata;
    ck_assert(ng_variant_at(&variant, id.operation->axes, id.operation->n_axes,
                            &profile, 0));
    while (id.stratum->count(&variant, 0) == 0)
        id.stratum++;
}

/* FP8 rows of 200 columns in groups of 2, 0, 130 and 1 rows, one row of none;
 * code and scale tell where they were. */
static void make_rows(ng_small *s)
{
    static const int64_t sizes[] = {2, 0, 130, 1};
    ng_case c;
    ng_block_case b;

    choose("fp8_row_to_fp8_col");
    ng_case_begin(&c, "fp8_row_to_fp8_col", &variant, id.stratum->name, 0, 1);
    ck_assert(ng_block_begin(&b, &c, 134, 200, 4, sizes));
    for (int64_t row = 0; row < 134; row++) {
        for (int64_t col = 0; col < 200; col++)
            ng_block_put(&b, row, col, (uint32_t)(row + 3 * col) & 0xFF);
        for (int64_t j = 0; j < 2; j++)
            ng_block_put_scale(&b, row, j, (uint32_t)(1000 * row + j));
    }
    ck_assert(ng_small_of(s, &c));
    ng_case_end(&c);
}

static const ng_small_tensor *input_of(const ng_small *s, const char *name)
{
    for (int i = 0; i < s->n_inputs; i++)
        if (strcmp(s->input[i].like.name, name) == 0)
            return &s->input[i];
    ck_abort_msg("no input %s", name);
}

static const ng_small_tensor *output_of(const ng_small *s, const char *name)
{
    for (int i = 0; i < s->n_outputs; i++)
        if (strcmp(s->output[i].like.name, name) == 0)
            return &s->output[i];
    ck_abort_msg("no output %s", name);
}

START_TEST(without_rows)
{
    ng_small s, cut;

    make_rows(&s);
    ck_assert_int_eq(output_of(&s, "y.scales")->extent[1], 4); /* 1 0 2 1 */

    /* Rows 1 to 129: one of the first group, 128 of the third. */
    ck_assert(ng_small_without(&cut, &s, NG_ROWS, 1, 129));
    ck_assert_int_eq(cut.size[NG_ROWS], 5);
    ck_assert_int_eq(cut.group[0], 1);
    ck_assert_int_eq(cut.group[1], 0);
    ck_assert_int_eq(cut.group[2], 2);
    ck_assert_int_eq(cut.group[3], 1);
    ck_assert_int_eq(output_of(&cut, "y.scales")->extent[1], 3);
    ck_assert_uint_eq(input_of(&cut, "x.codes")->element[200 + 7],
                      (130 + 21) & 0xFF);
    ck_assert_uint_eq(input_of(&cut, "x.scales")->element[2 * 4 + 1], 133001);
    ng_small_free(&cut);
    ck_assert(!ng_small_without(&cut, &s, NG_ROWS, 130, 5));
    ng_small_free(&s);
}
END_TEST

START_TEST(without_columns)
{
    ng_small s, cut;

    make_rows(&s);
    /* The whole first block: the second's scale comes forward. */
    ck_assert(ng_small_without(&cut, &s, NG_COLS, 0, 128));
    ck_assert_int_eq(input_of(&cut, "x.scales")->extent[1], 1);
    ck_assert_uint_eq(input_of(&cut, "x.scales")->element[3], 3001);
    ck_assert_uint_eq(input_of(&cut, "x.codes")->element[2], (3 * 130) & 0xFF);
    ck_assert_int_eq(output_of(&cut, "y.codes")->extent[0], 72);
    ng_small_free(&cut);
    ng_small_free(&s);
}
END_TEST

START_TEST(without_groups)
{
    ng_small s, a, b;

    make_rows(&s);
    ck_assert(!ng_small_dense(&a, &s));
    ck_assert(ng_small_without_groups(&a, &s, 2, 1));
    ck_assert_int_eq(a.n_groups, 3);
    ck_assert_int_eq(a.group[2], 1);
    ck_assert_int_eq(a.size[NG_ROWS], 4);
    ck_assert_uint_eq(input_of(&a, "x.scales")->element[4], 132000);
    ck_assert(ng_small_without_groups(&b, &a, 0, 1));
    ng_small_free(&a);
    ck_assert(ng_small_without_groups(&a, &b, 0, 1)); /* the empty one */
    ng_small_free(&b);
    ck_assert(!ng_small_dense(&b, &a)); /* a row of none is left */
    ck_assert(ng_small_without(&b, &a, NG_ROWS, 1, 1));
    ng_small_free(&a);
    ck_assert(ng_small_dense(&a, &b));
    ck_assert_int_eq(a.n_groups, -1);
    ck_assert_uint_eq(input_of(&a, "x.scales")->element[1], 132001);
    ng_small_free(&a);
    ng_small_free(&b);
    ng_small_free(&s);
}
END_TEST

/* Weights of two groups of 130 lines: their scales are of lines and columns. */
START_TEST(without_lines)
{
    ng_small s, big, cut;
    ng_case c;
    const int64_t size[] = {2, 3, 130}, group[] = {1, 1};

    choose("grouped_gemm_fprop");
    begin(&c, &id, &variant);
    ck_assert(ng_small_of(&s, &c));
    ng_case_end(&c);
    ck_assert(ng_small_resized(&big, &s, size, 2, group));
    const ng_small_tensor *b = input_of(&big, "b.codes");
    const ng_small_tensor *scales = input_of(&big, "b.scales");

    ck_assert_int_eq(b->extent[0], 260);
    ck_assert_int_eq(scales->extent[0], 4);
    for (int64_t i = 0; i < 260 * 3; i++)
        b->element[i] = (uint64_t)(i / 3);
    for (int64_t i = 0; i < 4; i++)
        scales->element[i] = (uint64_t)(10 + i);
    ck_assert(ng_small_without(&cut, &big, NG_LINES, 0, 129));
    ck_assert_int_eq(input_of(&cut, "b.codes")->extent[0], 2);
    ck_assert_uint_eq(input_of(&cut, "b.codes")->element[0], 129);
    ck_assert_uint_eq(input_of(&cut, "b.codes")->element[3], 259);
    ck_assert_uint_eq(input_of(&cut, "b.scales")->element[0], 11);
    ck_assert_uint_eq(input_of(&cut, "b.scales")->element[1], 13);
    ng_small_free(&cut);
    ck_assert(ng_small_without_groups(&cut, &big, 0, 1));
    ck_assert_uint_eq(input_of(&cut, "b.codes")->element[0], 130);
    ck_assert_uint_eq(input_of(&cut, "b.scales")->element[0], 12);
    ng_small_free(&cut);
    ng_small_free(&big);
    ng_small_free(&s);
}
END_TEST

/* ---- as a file ------------------------------------------------------------------ */

static ng_failure failure;

static void write_rows(const char *name)
{
    ng_small s;

    make_rows(&s);
    s.odd_layout = true;
    s.padding = 0xFF;
    failure = (ng_failure){.id = id, .kind = NG_FAILURE_BITS, .rank = 1};
    strcpy(failure.tensor, "y.codes");
    ck_assert_int_eq(ng_small_write(scratch_path(name), scratch, &s, &failure,
                                    &variant, &profile, &error),
                     NG_OK);
    ng_small_free(&s);
}

static ng_status read_back(ng_small *s, const char *name)
{
    ng_case_id read_id;
    ng_variant read_variant;
    ng_profile read_profile;
    const ng_status status = ng_small_read(
        s, &read_id, &read_variant, &read_profile, scratch_path(name), &error);

    if (status == NG_OK) {
        ck_assert_ptr_eq(read_id.operation, id.operation);
        ck_assert_ptr_eq(read_id.stratum, id.stratum);
        ck_assert_mem_eq(&read_variant.rules, &variant.rules,
                         sizeof variant.rules);
    }
    return status;
}

START_TEST(written_and_read)
{
    ng_small s, again;

    make_rows(&s);
    write_rows("rows");
    ck_assert_msg(read_back(&again, "rows") == NG_OK, "%s", error.text);
    ck_assert(again.odd_layout);
    ck_assert_uint_eq(again.padding, 0xFF);
    ck_assert_uint_eq(again.random.seed, s.random.seed);
    ck_assert_int_eq(again.n_groups, 4);
    ck_assert_mem_eq(again.group, s.group, 4 * sizeof *s.group);
    for (int i = 0; i < s.n_inputs; i++)
        if (s.input[i].element != NULL)
            ck_assert_mem_eq(again.input[i].element, s.input[i].element,
                             (size_t)ng_small_count(&s.input[i])
                                 * sizeof *s.input[i].element);
    ng_small_free(&again);
    ng_small_free(&s);
}
END_TEST

/* Each with one thing that no file of verify's has: what is wrong, and where. */
static const struct {
    const char *key, *value, *says;
} wrong[] = {
    {"format", "narrowgauge-vectors-1", "no case that verify has written"},
    {"operation", "fp8_row", "op: missing or unknown"},
    {"operation", "fp8 row", "metadata operation: missing or bad"},
    {"operation", "\xC3\xA4", "metadata operation: missing or bad"},
    {"operation", "quantize_mxfp4", "stratum"},
    {"variant", "-", "variant"},
    {"stratum", "none", "stratum"},
    {"case", "999999999", "case"},
    {"seed", "-1", "case, seed"},
    {"rule.rounding", "sideways", "metadata rule.rounding"},
    {"size.rows", "133", "x.codes: missing, or of another"},
    {"size.rows", "-1", "metadata size.rows"},
    {"size.cols", "201", "x.codes: missing, or of another type or shape"},
    {"size.cols", "99999999999", "metadata size.cols: too large"},
    {"size.lines", "1048576", "too large"},
    {"layout", "odd", "metadata layout"},
    {"padding", "256", "metadata padding"},
    {"padding", "x", "metadata padding"},
    {"random.seed", "18446744073709551616", "metadata random.seed"},
};

static void change(ng_tensor_file *file, const char *key, const char *value)
{
    for (size_t i = 0; i < file->n_metadata; i++)
        if (strcmp(file->metadata[i].name, key) == 0) {
            free(file->metadata[i].value);
            file->metadata[i].value = strdup(value);
            return;
        }
    ck_abort_msg("no metadata %s", key);
}

static void check_refused(const ng_tensor_file *file, const char *says)
{
    ng_small s;

    ck_assert_int_eq(ng_safetensors_write(scratch_path("wrong"), file, &error),
                     NG_OK);
    ck_assert_msg(read_back(&s, "wrong") == NG_BAD_FILE, "taken: %s", says);
    ck_assert_msg(strstr(error.text, says) != NULL
                      && strchr(error.text, '\n') == NULL,
                  "%s: %s", says, error.text);
}

START_TEST(wrong_metadata)
{
    ng_tensor_file file;

    write_rows("rows");
    ck_assert_int_eq(ng_safetensors_read(&file, scratch_path("rows"), &error),
                     NG_OK);
    change(&file, wrong[_i].key, wrong[_i].value);
    check_refused(&file, wrong[_i].says);
    ng_tensor_file_free(&file);
}
END_TEST

START_TEST(wrong_tensors)
{
    static const int64_t one[] = {1};
    ng_tensor_file file;
    int64_t *at;
    void *data;

    write_rows("rows");
    ck_assert_int_eq(ng_safetensors_read(&file, scratch_path("rows"), &error),
                     NG_OK);
    at = ng_tensor_file_find(&file, "offsets")->data;
    at[1] = 3, at[2] = 2;
    check_refused(&file, "offsets: not from 0 up");
    at[1] = at[2] = 2, at[4] = 135;
    check_refused(&file, "offsets: not from 0 up");
    at[0] = -1, at[4] = 133;
    check_refused(&file, "offsets: not from 0 up");
    at[0] = 0;
    strcpy(ng_tensor_file_find(&file, "x.scales")->name, "x.scale");
    check_refused(&file, "x.scale: no input of fp8_row_to_fp8_col");
    strcpy(ng_tensor_file_find(&file, "x.scale")->name, "x.scales");
    ck_assert_int_eq(
        ng_tensor_file_add_tensor(&data, &file, "y\xC3\xA4", NG_U8, 1, one),
        NG_OK);
    check_refused(&file, "y\\xc3\\xa4: no input of fp8_row_to_fp8_col");
    ng_tensor_file_free(&file);
}
END_TEST

START_TEST(cut_short)
{
    ng_small s;
    size_t size;
    unsigned char *bytes;

    write_rows("rows");
    bytes = scratch_read(&size, scratch_path("rows"));
    scratch_write("rows", bytes, size - 1);
    ck_assert_int_eq(read_back(&s, "rows"), NG_BAD_FILE);
    scratch_write("rows", bytes, 3);
    ck_assert_int_eq(read_back(&s, "rows"), NG_BAD_FILE);
    free(bytes);
    ck_assert_int_eq(read_back(&s, "none"), NG_BAD_FILE);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("small cases");
    TCase *tcase = tcase_create("small cases");

    tcase_set_timeout(tcase, 120);
    tcase_add_checked_fixture(tcase, setup, NULL);
    tcase_add_checked_fixture(tcase, scratch_make, scratch_remove);
    tcase_add_test(tcase, every_operation);
    tcase_add_test(tcase, without_rows);
    tcase_add_test(tcase, without_columns);
    tcase_add_test(tcase, without_groups);
    tcase_add_test(tcase, without_lines);
    tcase_add_test(tcase, written_and_read);
    tcase_add_loop_test(tcase, wrong_metadata, 0, sizeof wrong / sizeof *wrong);
    tcase_add_test(tcase, wrong_tensors);
    tcase_add_test(tcase, cut_short);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
