/* SPDX-License-Identifier: Apache-2.0
 *
 * The optimizer as a training loop sees it: bytes, gradient release, steps that
 * are skipped, groups without parameters, learning rates that move nothing.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "conformance/checks/optimizer_fixture.h"
#include "conformance/checks/scratch.h"

static const ng_optimizer_kind kinds[] = {NG_SGD, NG_SGDW, NG_ADAM, NG_ADAMW,
                                          NG_LION};

static ng_error error;

static void expect_accounted(const ng_optimizer *optimizer)
{
    ng_optimizer_bytes bytes;

    ck_assert_int_eq(ng_optimizer_bytes_of(&bytes, optimizer), NG_OK);
    ck_assert_int_eq(bytes.total, ng_optimizer_allocated(optimizer));
    ck_assert_int_eq(bytes.weights + bytes.correction + bytes.momentum
                         + bytes.variance + bytes.scales + bytes.gradients,
                     bytes.total);
}

/* Bytes a parameter, in sixteenths of a byte, over 4096 of them. */
static void expect_bytes(ng_optimizer_kind kind, int with, int without)
{
    ng_optimizer *optimizer = fixture_empty(kind, flash);
    const int64_t n = 4096;

    fixture_add(optimizer, 0, "x", 2, 64, 48, false);
    fixture_add(optimizer, 2, "y", 1, 1024, 1, false);
    expect_accounted(optimizer);
    ck_assert_int_eq(16 * ng_optimizer_allocated(optimizer), without * n);
    for (int64_t i = 0; i < 2; i++)
        fixture_gradient(optimizer, i, 0);
    expect_accounted(optimizer);
    ck_assert_int_eq(16 * ng_optimizer_allocated(optimizer), with * n);
    ck_assert_int_eq(ng_optimizer_peak(optimizer),
                     ng_optimizer_allocated(optimizer));
    for (int64_t i = 0; i < 2; i++)
        ck_assert_int_eq(ng_optimizer_drop_gradient(optimizer, i, &error),
                         NG_OK);
    expect_accounted(optimizer);
    ck_assert_int_eq(16 * ng_optimizer_allocated(optimizer), without * n);
    ng_optimizer_free(optimizer);
}

START_TEST(bytes_a_parameter)
{
    expect_bytes(NG_ADAMW, 114, 82);    /* 7.125, 5.125 */
    expect_bytes(NG_ADAM, 114, 82);
    expect_bytes(NG_SGD, 97, 65);       /* 6.0625, 4.0625 */
    expect_bytes(NG_SGDW, 97, 65);
    expect_bytes(NG_LION, 97, 65);
}
END_TEST

/* A whole step by release, the last parameter first. */
static void release_all(ng_optimizer *optimizer, int64_t step)
{
    ng_release_report report;
    bool stepped = false;

    ck_assert_int_eq(ng_optimizer_begin_release(optimizer, &error), NG_OK);
    for (int64_t i = ng_optimizer_n_parameters(optimizer) - 1; i >= 0; i--) {
        fixture_gradient(optimizer, i, step);
        ck_assert_int_eq(ng_optimizer_release(&stepped, optimizer, i, NULL,
                                              &error), NG_OK);
        ck_assert(stepped);
        ck_assert_ptr_null(ng_optimizer_parameter(optimizer, i)->gradient);
    }
    ck_assert_int_eq(ng_optimizer_end_release(&report, optimizer, false,
                                              &error), NG_OK);
    ck_assert(report.advanced && !report.partial);
}

START_TEST(release_equals_step)
{
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int s = 0; s < N_STORAGES; s++) {
            ng_optimizer *a = fixture_make(kinds[k], &storages[s], false);
            ng_optimizer *b = fixture_make(kinds[k], &storages[s], false);

            for (int64_t step = 0; step < 3; step++) {
                fixture_step(a, step);
                release_all(b, step);
                fixture_expect_equal(a, b);
            }
            ng_optimizer_free(a);
            ng_optimizer_free(b);
        }
}
END_TEST

/* With release only one gradient lives at a time. */
START_TEST(release_keeps_the_peak_low)
{
    ng_optimizer *optimizer = fixture_empty(NG_ADAMW, flash);
    char name[2] = "a";

    for (int i = 0; i < 16; i++, name[0]++)
        fixture_add(optimizer, 0, name, 1, 256, 1, false);

    const int64_t without = ng_optimizer_allocated(optimizer);

    ck_assert_int_eq(16 * without, 82 * 16 * 256);
    release_all(optimizer, 0);
    ck_assert_int_eq(ng_optimizer_allocated(optimizer), without);
    ck_assert_int_eq(ng_optimizer_peak(optimizer), without + 2 * 256);
    ng_optimizer_free(optimizer);
}
END_TEST

START_TEST(release_is_ordered)
{
    ng_optimizer *optimizer = fixture_make(NG_ADAMW, flash, false);
    bool stepped;

    fixture_gradient(optimizer, 0, 0);
    ck_assert_int_eq(ng_optimizer_release(&stepped, optimizer, 0, NULL, &error),
                     NG_BAD_VALUE);
    ck_assert_int_eq(ng_optimizer_begin_release(optimizer, &error), NG_OK);
    ck_assert_int_eq(ng_optimizer_begin_release(optimizer, &error),
                     NG_BAD_VALUE);
    ck_assert_int_eq(ng_optimizer_step(&stepped, optimizer, NULL, &error),
                     NG_BAD_VALUE);
    ck_assert_int_eq(ng_optimizer_release(&stepped, optimizer, 1, NULL, &error),
                     NG_BAD_VALUE);
    ck_assert_int_eq(ng_optimizer_release(&stepped, optimizer, 0, NULL, &error),
                     NG_OK);
    fixture_gradient(optimizer, 0, 0);
    ck_assert_int_eq(ng_optimizer_release(&stepped, optimizer, 0, NULL, &error),
                     NG_BAD_VALUE);
    ck_assert_int_eq(ng_optimizer_end_release(NULL, optimizer, false, &error),
                     NG_OK);
    ck_assert_int_eq(ng_optimizer_end_release(NULL, optimizer, false, &error),
                     NG_BAD_VALUE);
    ng_optimizer_free(optimizer);
}
END_TEST

/* Spoil one element of a parameter's BF16 gradient. */
static void spoil(ng_optimizer *optimizer, int64_t parameter, int64_t i,
                  uint16_t code)
{
    void *data;

    ck_assert_int_eq(ng_optimizer_gradient(&data, optimizer, parameter, &error),
                     NG_OK);
    ((uint16_t *)data)[i] = code;
}

START_TEST(not_finite_is_skipped)
{
    static const uint16_t codes[] = {0x7FC0, 0xFF81, 0x7F80, 0xFF80};

    for (size_t c = 0; c < sizeof codes / sizeof *codes; c++) {
        ng_optimizer *a = fixture_make(NG_ADAMW, flash, false);
        ng_optimizer *b = fixture_make(NG_ADAMW, flash, false);
        bool stepped = true;

        fixture_step(a, 0);
        fixture_step(b, 0);
        for (int64_t i = 0; i < 4; i++)
            fixture_gradient(b, i, 1);
        spoil(b, 1, 63, codes[c]);
        ck_assert_int_eq(ng_optimizer_step(&stepped, b, NULL, &error), NG_OK);
        ck_assert(!stepped);
        ck_assert_uint_eq(ng_optimizer_skipped(b), 1);
        for (int64_t group = 0; group < 3; group++)
            ck_assert_uint_eq(ng_optimizer_steps(b, group), 1);

        /* As if it had not been: the next step gives the same bits. */
        fixture_step(a, 2);
        fixture_step(b, 2);
        for (int64_t i = 0; i < 2; i++) {
            float x[105], y[105];
            const size_t n =
                (size_t)ng_optimizer_parameter(a, i)->n * sizeof *x;

            ck_assert_int_eq(ng_optimizer_export(x, a, i, &error), NG_OK);
            ck_assert_int_eq(ng_optimizer_export(y, b, i, &error), NG_OK);
            ck_assert_mem_eq(x, y, n);
        }
        ng_optimizer_free(a);
        ng_optimizer_free(b);
    }
}
END_TEST

/* A finite gradient that its scale makes infinite, in a step and released. */
START_TEST(not_finite_once_scaled)
{
    const float scale = 0x1p+127f;
    ng_release_report report;
    ng_optimizer *optimizer = fixture_make(NG_LION, flash, false);
    bool stepped = true;

    spoil(optimizer, 1, 0, 0x4000);     /* 2 */
    ck_assert_int_eq(ng_optimizer_step(&stepped, optimizer, &scale, &error),
                     NG_OK);
    ck_assert(!stepped);
    ck_assert_int_eq(ng_optimizer_begin_release(optimizer, &error), NG_OK);
    ck_assert_int_eq(ng_optimizer_release(&stepped, optimizer, 1, &scale,
                                          &error), NG_OK);
    ck_assert(!stepped);
    ck_assert_int_eq(ng_optimizer_end_release(&report, optimizer, false,
                                              &error), NG_OK);
    ck_assert(!report.advanced && !report.partial);
    ck_assert_uint_eq(ng_optimizer_skipped(optimizer), 2);
    ck_assert_uint_eq(ng_optimizer_steps(optimizer, 0), 0);
    ng_optimizer_free(optimizer);
}
END_TEST

/* The step of a group without parameters advances, is saved and comes back. */
START_TEST(trap_l27_step_of_an_empty_group)
{
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        ng_optimizer *a = fixture_make(kinds[k], flash, false);
        ng_optimizer *none = fixture_empty(kinds[k], flash);
        ng_optimizer *back = fixture_empty(kinds[k], flash);

        for (int64_t step = 0; step < 5; step++) {
            fixture_step(a, step);
            fixture_step(none, step);
        }
        for (int64_t group = 0; group < 3; group++) {
            ck_assert_uint_eq(ng_optimizer_steps(a, group), 5);
            ck_assert_uint_eq(ng_optimizer_steps(none, group), 5);
        }
        ck_assert_int_eq(ng_optimizer_save(scratch_path("none.safetensors"),
                                           none, &error), NG_OK);
        ck_assert_int_eq(ng_optimizer_load(
                             back, scratch_path("none.safetensors"), &error),
                         NG_OK);
        for (int64_t group = 0; group < 3; group++)
            ck_assert_uint_eq(ng_optimizer_steps(back, group), 5);
        ng_optimizer_free(a);
        ng_optimizer_free(none);
        ng_optimizer_free(back);
    }
}
END_TEST

/* An element that never had a gradient does not move, whatever its neighbours
 * do: state 0 codes to 0 and 0/eps is 0. */
START_TEST(trap_l18_state_zero_is_exact)
{
    static const float m[] = {1.0f, -1.0f, 0.0f};

    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int s = 0; s < N_STORAGES; s++) {
            ng_optimizer *optimizer = fixture_empty(kinds[k], &storages[s]);
            float before[3], after[3];

            ng_optimizer_hyper(optimizer, 0)->weight_decay = 0.0;
            fixture_add(optimizer, 0, "x", 1, 3, 1, false);
            ck_assert_int_eq(ng_optimizer_export(before, optimizer, 0, &error),
                             NG_OK);
            for (int step = 0; step < 20; step++) {
                ng_weights y = {.dtype = storages[s].gradients};

                ck_assert_int_eq(ng_optimizer_gradient(&y.low, optimizer, 0,
                                                       &error), NG_OK);
                ck_assert_int_eq(ng_ref_split_weights(&y, m, 3, NULL), NG_OK);
                ck_assert_int_eq(ng_optimizer_step(NULL, optimizer, NULL,
                                                   &error), NG_OK);
            }
            ck_assert_int_eq(ng_optimizer_export(after, optimizer, 0, &error),
                             NG_OK);
            ck_assert_mem_eq(&before[2], &after[2], sizeof *after);
            ck_assert(before[0] != after[0] && before[1] != after[1]);
            ng_optimizer_free(optimizer);
        }
}
END_TEST

static ng_lr_report check_lr(ng_optimizer_kind kind, int bits, double lr)
{
    static const float theta[] = {1.0f, 0.125f, -0.0078125f, INFINITY};
    static const int64_t shape[] = {4};
    storage how = *flash;
    ng_lr_report report;

    how.correction_bits = bits;

    ng_optimizer *optimizer = fixture_empty(kind, &how);

    ck_assert_int_eq(ng_optimizer_add_parameter(NULL, optimizer, 0, "x", 1,
                                                shape, theta, &error), NG_OK);
    ng_optimizer_hyper(optimizer, 0)->lr = lr;
    ck_assert_int_eq(ng_optimizer_check_lr(&report, optimizer, &error), NG_OK);
    ng_optimizer_free(optimizer);
    return report;
}

/* Above a power of two BF16 has steps of 2^-7 times it, below it of half that:
 * a weight that is one moves down from a quarter of 2^-7 on (the tie at a
 * quarter goes to the even code, which is itself). */
START_TEST(learning_rate_too_small)
{
    ng_lr_report r = check_lr(NG_LION, 0, 0x1p-9);

    ck_assert_int_eq(r.weights, 3);
    ck_assert_int_eq(r.stuck, 1);
    ck_assert_int_eq(r.flagged, 1);
    ck_assert_int_eq(r.parameter, 0);
    ck_assert(r.largest == 1.0f && r.delta == 0x1p-9f && !r.moves_none);
    ck_assert_int_eq(check_lr(NG_LION, 0, 0x1.01p-9).stuck, 0);
    ck_assert_int_eq(check_lr(NG_LION, 0, 0x1p-12).stuck, 2);
    ck_assert(check_lr(NG_LION, 0, 0x1p-17).moves_none);
    /* Eight more bits: 256 times less will do. */
    ck_assert_int_eq(check_lr(NG_LION, 8, 0x1.1p-17).stuck, 0);
    /* Adam's steps are taken to be a tenth of lr. */
    ck_assert_int_eq(check_lr(NG_ADAMW, 0, 0x1.3p-6).stuck, 1);
    ck_assert_int_eq(check_lr(NG_ADAMW, 0, 0x1.5p-6).stuck, 0);
    ck_assert(check_lr(NG_ADAMW, 8, 0.0).moves_none);
}
END_TEST

START_TEST(adding_is_checked)
{
    static const int64_t shape[] = {2}, bad[] = {-1};
    ng_optimizer *optimizer = fixture_empty(NG_ADAMW, flash);
    ng_group_settings settings = {.hyper = fixture_hyper};

    ck_assert_int_eq(ng_optimizer_add_parameter(NULL, optimizer, 3, "x", 1,
                                                shape, NULL, &error),
                     NG_BAD_SHAPE);
    ck_assert_int_eq(ng_optimizer_add_parameter(NULL, optimizer, 0, "x", 1, bad,
                                                NULL, &error), NG_BAD_SHAPE);
    ck_assert_int_eq(ng_optimizer_add_parameter(NULL, optimizer, 0, "x::y", 1,
                                                shape, NULL, &error),
                     NG_BAD_VALUE);
    ck_assert_int_eq(ng_optimizer_add_parameter(NULL, optimizer, 0, "x", 1,
                                                shape, NULL, &error), NG_OK);
    ck_assert_int_eq(ng_optimizer_add_parameter(NULL, optimizer, 0, "x", 1,
                                                shape, NULL, &error),
                     NG_BAD_VALUE);
    ck_assert_int_eq(ng_optimizer_n_parameters(optimizer), 1);
    settings.weights = settings.gradients = NG_FP32;
    settings.hyper.eps = 0.0;
    ck_assert_int_eq(ng_optimizer_add_group(NULL, optimizer, &settings, &error),
                     NG_BAD_VALUE);
    settings.hyper.eps = 1e-8;
    settings.correction_bits = 8;
    ck_assert_int_eq(ng_optimizer_add_group(NULL, optimizer, &settings, &error),
                     NG_BAD_LAYOUT);
    ck_assert_int_eq(ng_optimizer_n_groups(optimizer), 3);
    ng_optimizer_free(optimizer);
    ng_optimizer_free(NULL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("optimizer");
    TCase *tcase = tcase_create("optimizer");

    tcase_add_checked_fixture(tcase, scratch_make, scratch_remove);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, bytes_a_parameter);
    tcase_add_test(tcase, release_equals_step);
    tcase_add_test(tcase, release_keeps_the_peak_low);
    tcase_add_test(tcase, release_is_ordered);
    tcase_add_test(tcase, not_finite_is_skipped);
    tcase_add_test(tcase, not_finite_once_scaled);
    tcase_add_test(tcase, trap_l27_step_of_an_empty_group);
    tcase_add_test(tcase, trap_l18_state_zero_is_exact);
    tcase_add_test(tcase, learning_rate_too_small);
    tcase_add_test(tcase, adding_is_checked);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
