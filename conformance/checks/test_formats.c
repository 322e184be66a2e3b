/* SPDX-License-Identifier: Apache-2.0
 *
 * The facts and descriptions of formats/: ragged groups, dense tensors, names
 * that are not found, one-line errors, event and state counts.
 */
#include <check.h>
#include <stdint.h>
#include <string.h>

#include "conformance/checks/suite_runner.h"
#include "formats/dtype.h"
#include "formats/events.h"
#include "formats/format.h"
#include "formats/layout.h"
#include "formats/optim.h"
#include "formats/rules.h"
#include "formats/status.h"
#include "formats/tensor.h"

START_TEST(groups)
{
    const int64_t offsets[] = {0, 3, 3, 260, 300};
    const ng_groups four = {.n_groups = 4, .offsets = offsets};
    const ng_groups none = {.n_groups = 0, .offsets = offsets};

    ck_assert_int_eq(ng_groups_check(&four, 300), NG_OK);
    ck_assert_int_eq(ng_groups_check(&four, 301), NG_OK);
    ck_assert_int_eq(ng_groups_check(&four, 299), NG_BAD_GROUPS);
    ck_assert_int_eq(ng_groups_check(&none, 0), NG_OK);
    ck_assert_int_eq(ng_groups_check(NULL, 7), NG_OK);

    ck_assert_int_eq(ng_groups_rows(&four, 400), 300);
    ck_assert_int_eq(ng_groups_rows(&none, 400), 0);
    ck_assert_int_eq(ng_groups_rows(NULL, 400), 400);

    /* ceil(3/128) + 0 + ceil(257/128) + ceil(40/128) */
    ck_assert_int_eq(ng_groups_blocks(&four, 400, 128), 1 + 0 + 3 + 1);
    ck_assert_int_eq(ng_groups_blocks(&none, 400, 128), 0);
    ck_assert_int_eq(ng_groups_blocks(NULL, 256, 128), 2);
    ck_assert_int_eq(ng_groups_blocks(NULL, 257, 128), 3);
    ck_assert_int_eq(ng_ceil_div(INT64_MAX, 2), INT64_MAX / 2 + 1);
}
END_TEST

START_TEST(bad_groups)
{
    const int64_t late[] = {1, 3}, negative[] = {0, -1, 4}, back[] = {0, 4, 3};
    ng_groups bad = {.n_groups = 1, .offsets = late};

    ck_assert_int_eq(ng_groups_check(&bad, 9), NG_BAD_GROUPS);
    bad = (ng_groups){.n_groups = 2, .offsets = negative};
    ck_assert_int_eq(ng_groups_check(&bad, 9), NG_BAD_GROUPS);
    bad.offsets = back;
    ck_assert_int_eq(ng_groups_check(&bad, 9), NG_BAD_GROUPS);
    bad.n_groups = -1;
    ck_assert_int_eq(ng_groups_check(&bad, 9), NG_BAD_GROUPS);
    bad = (ng_groups){.n_groups = 0, .offsets = NULL};
    ck_assert_int_eq(ng_groups_check(&bad, 9), NG_BAD_POINTER);
}
END_TEST

START_TEST(dense_tensors)
{
    const int64_t shape[NG_MAX_RANK] = {2, 0, 3, 5};
    char name[2 * NG_MAX_NAME];
    int64_t units = -7, bytes = -7;

    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    ng_tensor t = ng_tensor_dense(name, NG_BF16, 4, shape, &units);
    ck_assert_uint_eq(strlen(t.name), NG_MAX_NAME - 1);
    ck_assert_int_eq(memcmp(t.name, name, NG_MAX_NAME - 1), 0);
    ck_assert_int_eq((int)t.dtype, NG_BF16);
    ck_assert_int_eq(t.rank, 4);
    ck_assert_ptr_eq(t.data, &units);
    ck_assert_int_eq(memcmp(t.shape, shape, sizeof shape), 0);
    ck_assert_int_eq(t.stride[3], 1);
    ck_assert_int_eq(t.stride[2], 5);
    ck_assert_int_eq(t.stride[1], 15);
    ck_assert_int_eq(ng_tensor_extent(&units, &bytes, &t), NG_OK);
    ck_assert(units == 0 && bytes == 0);

    t = ng_tensor_dense("s", NG_FP64, 0, NULL, NULL);   /* a scalar */
    ck_assert_int_eq(ng_tensor_extent(&units, &bytes, &t), NG_OK);
    ck_assert(units == 1 && bytes == 8);
    t = ng_tensor_dense("w", NG_UE8M0X4, 2, &shape[2], NULL);
    ck_assert_int_eq(ng_tensor_extent(&units, &bytes, &t), NG_OK);
    ck_assert(units == 15 && bytes == 60);
}
END_TEST

START_TEST(impossible_tensors)
{
    static const struct {
        int rank;
        int64_t shape[NG_MAX_RANK];
        ng_dtype dtype;
    } bad[] = {
        {-1, {1}, NG_U8},
        {NG_MAX_RANK + 1, {1, 1, 1, 1}, NG_U8},
        {2, {3, -1}, NG_U8},
        {2, {-1, 0}, NG_U8},
        {2, {INT64_C(1) << 32, INT64_C(1) << 31}, NG_U8},   /* 2^63 units */
        {1, {INT64_C(1) << 62}, NG_BF16},                   /* 2^63 bytes */
        {4, {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX}, NG_U8},
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ng_tensor t = {.rank = bad[i].rank, .dtype = bad[i].dtype};
        int64_t units = -7, bytes = -7;

        memcpy(t.shape, bad[i].shape, sizeof t.shape);
        ck_assert_int_eq(ng_tensor_extent(&units, &bytes, &t), NG_BAD_SHAPE);
        ck_assert(units == -7 && bytes == -7);
    }
}
END_TEST

/* One beyond each of the limits above. */
START_TEST(largest_tensors)
{
    const int64_t shape[2] = {INT64_C(1) << 32, (INT64_C(1) << 31) - 1};
    ng_tensor t = ng_tensor_dense("t", NG_E4M3, 2, shape, NULL);
    int64_t units, bytes;

    ck_assert_int_eq(ng_tensor_extent(&units, &bytes, &t), NG_OK);
    ck_assert(units == INT64_MAX - (INT64_C(1) << 32) + 1 && bytes == units);
    ck_assert_int_eq(t.stride[0], shape[1]);
    t.shape[0] = INT64_C(1) << 62;
    t.rank = 1;
    ck_assert_int_eq(ng_tensor_extent(&units, &bytes, &t), NG_OK);
    t.dtype = NG_FP16;
    ck_assert_int_eq(ng_tensor_extent(&units, &bytes, &t), NG_BAD_SHAPE);
}
END_TEST

START_TEST(names_not_found)
{
    static const char *const names[] = {"", "e4m", "e4m30", "E4M3", " e4m3",
                                        "ng"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        ng_dtype dtype = NG_I64;
        ng_rule rule = NG_RULE_STEP;
        ng_optimizer_kind kind = NG_LION;
        int value = -7;

        ck_assert(!ng_dtype_find(names[i], &dtype) && dtype == NG_I64);
        ck_assert(!ng_rule_find(names[i], &rule) && rule == NG_RULE_STEP);
        ck_assert(!ng_rule_value_find(NG_RULE_ROUNDING, names[i], &value));
        ck_assert_int_eq(value, -7);
        ck_assert(!ng_optimizer_find(names[i], &kind) && kind == NG_LION);
        ck_assert_ptr_null(ng_format_find(names[i]));
    }
}
END_TEST

START_TEST(errors)
{
    ng_error error;
    char longer[2 * sizeof error.text];

    ck_assert_int_eq(ng_fail(NULL, NG_BAD_FILE, "%d", 1), NG_BAD_FILE);
    ck_assert_int_eq(ng_fail(&error, NG_NO_MEMORY, "%s:%d", "file", 3),
                     NG_NO_MEMORY);
    ck_assert_str_eq(error.text, "file:3");
    /* A file's bytes cannot start a second line, or steer a terminal. */
    ng_fail(&error, NG_BAD_FILE, "a%cb%cc%cd%ce\xC3\xA9", '\n', 0x1B, 0x7F, 1);
    ck_assert_str_eq(error.text, "a?b?c?d?e\xC3\xA9");
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    ng_fail(&error, NG_BAD_FILE, "%s", longer);
    ck_assert_uint_eq(strlen(error.text), sizeof error.text - 1);
}
END_TEST

START_TEST(event_counts)
{
    ng_events one = {0}, sum = {0};

    ng_events_count(&one, 0);
    ng_events_count(&one, 1u << NG_EVENT_INEXACT | 1u << NG_EVENT_TIE);
    ng_events_count(&one, 1u << NG_EVENT_INEXACT | 1u << NG_EVENT_NAN);
    ng_events_add(&sum, &one);
    ng_events_add(&sum, &one);
    for (int e = 0; e < NG_N_EVENTS; e++) {
        const uint64_t n = e == NG_EVENT_INEXACT                     ? 2
                           : e == NG_EVENT_TIE || e == NG_EVENT_NAN ? 1
                                                                    : 0;

        ck_assert_uint_eq(one.count[e], n);
        ck_assert_uint_eq(sum.count[e], 2 * n);
    }
}
END_TEST

START_TEST(optimizer_counts)
{
    const ng_optim_counts one = {1, {{2, 3, 4}, {5, 6, 7}}};
    ng_optim_counts sum = {10, {{20, 30, 40}, {50, 60, 70}}};

    ng_optim_counts_add(&sum, &one);
    ck_assert_uint_eq(sum.weights_saturated, 11);
    ck_assert_uint_eq(sum.groups[NG_MOMENTUM].nan, 22);
    ck_assert_uint_eq(sum.groups[NG_MOMENTUM].saturated, 33);
    ck_assert_uint_eq(sum.groups[NG_MOMENTUM].lost, 44);
    ck_assert_uint_eq(sum.groups[NG_VARIANCE].nan, 55);
    ck_assert_uint_eq(sum.groups[NG_VARIANCE].saturated, 66);
    ck_assert_uint_eq(sum.groups[NG_VARIANCE].lost, 77);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("formats");
    TCase *tcase = tcase_create("formats");

    tcase_add_test(tcase, groups);
    tcase_add_test(tcase, bad_groups);
    tcase_add_test(tcase, dense_tensors);
    tcase_add_test(tcase, impossible_tensors);
    tcase_add_test(tcase, largest_tensors);
    tcase_add_test(tcase, names_not_found);
    tcase_add_test(tcase, errors);
    tcase_add_test(tcase, event_counts);
    tcase_add_test(tcase, optimizer_counts);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
