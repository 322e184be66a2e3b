/* SPDX-License-Identifier: Apache-2.0
 *
 * Gradient release when a gradient is not finite: what has stepped cannot be
 * taken back, so that the rest is kept as it was, counted, and said.
 */
#include <check.h>
#include <stdlib.h>

#include "conformance/checks/optimizer_fixture.h"
#include "conformance/checks/scratch.h"

enum { MATRIX, VECTOR, SCALAR, EMPTY, N_PARAMETERS };

static ng_error error;

/* Fill in the gradients of step 1, and spoil an element of some parameters. */
static void fill(ng_optimizer *optimizer, unsigned spoilt)
{
    for (int64_t i = 0; i < N_PARAMETERS; i++) {
        void *gradient;

        fixture_gradient(optimizer, i, 1);
        ck_assert_int_eq(ng_optimizer_gradient(&gradient, optimizer, i, &error),
                         NG_OK);
        if ((spoilt >> i & 1) != 0)
            ((uint16_t *)gradient)[0] = 0x7FC0; /* a NaN of BF16 */
    }
}

static ng_release_report release_all(ng_optimizer *optimizer, unsigned spoilt,
                                     bool elsewhere)
{
    ng_release_report report;

    fill(optimizer, spoilt);
    ck_assert_int_eq(ng_optimizer_begin_release(optimizer, &error), NG_OK);
    for (int64_t i = 0; i < N_PARAMETERS; i++) {
        bool stepped = (spoilt >> i & 1) != 0;

        ck_assert_int_eq(ng_optimizer_release(&stepped, optimizer, i, NULL,
                                              &error), NG_OK);
        ck_assert(stepped == ((spoilt >> i & 1) == 0));
        ck_assert_ptr_null(ng_optimizer_parameter(optimizer, i)->gradient);
    }
    ck_assert_int_eq(ng_optimizer_end_release(&report, optimizer, elsewhere,
                                              &error), NG_OK);
    return report;
}

static void expect_array(const void *a, const void *b, size_t size)
{
    if (a != NULL)
        ck_assert_mem_eq(a, b, size);
}

/* Weights and states of a parameter, by bits. */
static void expect_same(const ng_optimizer *a, const ng_optimizer *b,
                        int64_t i)
{
    const ng_parameter *x = ng_optimizer_parameter(a, i);
    const ng_parameter *y = ng_optimizer_parameter(b, i);
    const size_t n = (size_t)x->n, scales = (n + 31) / 32 * 2;

    expect_array(x->weights.low, y->weights.low, 2 * n);
    expect_array(x->weights.correction, y->weights.correction, n);
    expect_array(x->momentum.data, y->momentum.data, n);
    expect_array(x->momentum.scales, y->momentum.scales, scales);
    expect_array(x->variance.data, y->variance.data, n);
    expect_array(x->variance.scales, y->variance.scales, scales);
}

/* Every choice of spoilt parameters among the three that have elements, on every
 * optimizer: those are as before the step, the others as after a whole one. */
START_TEST(trap_partial_step)
{
    for (int kind = 0; kind < NG_N_OPTIMIZERS; kind++)
        for (unsigned spoilt = 0; spoilt < 8; spoilt++) {
            ng_optimizer *a = fixture_make((ng_optimizer_kind)kind, flash,
                                           false);
            ng_optimizer *before = fixture_make((ng_optimizer_kind)kind, flash,
                                                false);
            ng_optimizer *after = fixture_make((ng_optimizer_kind)kind, flash,
                                               false);
            const int64_t n_spoilt = __builtin_popcount(spoilt);

            fixture_step(a, 0);
            fixture_step(before, 0);
            fixture_step(after, 0);
            fixture_step(after, 1);
            for (int64_t i = 0; i < N_PARAMETERS; i++)
                ck_assert_int_eq(ng_optimizer_drop_gradient(a, i, &error),
                                 NG_OK);

            const ng_release_report r = release_all(a, spoilt, false);
            const bool whole = n_spoilt == 3, partial = n_spoilt % 3 != 0;

            ck_assert_int_eq(r.stepped, 3 - n_spoilt);
            ck_assert_int_eq(r.skipped, n_spoilt);
            ck_assert_int_eq(r.parameter,
                             spoilt == 0 ? -1 : __builtin_ctz(spoilt));
            ck_assert(r.advanced == !whole && r.partial == partial);
            ck_assert_uint_eq(ng_optimizer_skipped(a), whole);
            ck_assert_uint_eq(ng_optimizer_partial(a), partial);
            for (int64_t group = 0; group < 3; group++)
                ck_assert_uint_eq(ng_optimizer_steps(a, group), whole ? 1 : 2);
            for (int64_t i = 0; i < N_PARAMETERS; i++)
                expect_same(a, (spoilt >> i & 1) != 0 ? before : after, i);
            ng_optimizer_free(a);
            ng_optimizer_free(before);
            ng_optimizer_free(after);
        }
}
END_TEST

/* A parameter without elements is no step that was taken. */
START_TEST(trap_empty_parameter_is_no_step)
{
    ng_optimizer *a = fixture_make(NG_ADAMW, flash, false);
    ng_optimizer *b = fixture_make(NG_ADAMW, flash, false);
    const ng_release_report r = release_all(a, 7, false);

    ck_assert_int_eq(r.stepped, 0);
    ck_assert(!r.advanced);
    ck_assert_int_eq(ng_optimizer_skip(b, &error), NG_OK);
    fixture_expect_equal(a, b);
    ng_optimizer_free(a);
    ng_optimizer_free(b);
}
END_TEST

/* cases.md L-27: a rank where nothing stepped advances with the others. */
START_TEST(trap_l27_another_rank_stepped)
{
    ng_optimizer *a = fixture_make(NG_LION, flash, false);
    const ng_release_report r = release_all(a, 7, true);

    ck_assert(r.advanced && r.partial);
    ck_assert_uint_eq(ng_optimizer_skipped(a), 0);
    ck_assert_uint_eq(ng_optimizer_partial(a), 1);
    for (int64_t group = 0; group < 3; group++)
        ck_assert_uint_eq(ng_optimizer_steps(a, group), 1);
    ng_optimizer_free(a);
}
END_TEST

/* A loop that knows beforehand: the ranks agree, and all of them skip. */
START_TEST(looked_at_first)
{
    ng_optimizer *good = fixture_make(NG_ADAMW, flash, false);
    ng_optimizer *bad = fixture_make(NG_ADAMW, flash, false);
    ng_optimizer *untouched = fixture_make(NG_ADAMW, flash, false);
    const float huge = 0x1.fffffep127f;
    bool finite[3] = {false, true, true};

    fill(good, 0);
    fill(bad, 1u << SCALAR);
    ck_assert_int_eq(ng_optimizer_is_finite(&finite[0], good, NULL, &error),
                     NG_OK);
    ck_assert_int_eq(ng_optimizer_is_finite(&finite[1], bad, NULL, &error),
                     NG_OK);
    ((uint16_t *)ng_optimizer_parameter(good, VECTOR)->gradient)[0] = 0x4000;
    ck_assert_int_eq(ng_optimizer_is_finite(&finite[2], good, &huge, &error),
                     NG_OK);
    ck_assert(finite[0] && !finite[1] && !finite[2]);
    ck_assert_int_eq(ng_optimizer_skip(good, &error), NG_OK);
    ck_assert_int_eq(ng_optimizer_skip(bad, &error), NG_OK);
    ck_assert_int_eq(ng_optimizer_skip(untouched, &error), NG_OK);
    ck_assert_uint_eq(ng_optimizer_skipped(good), 1);
    ck_assert_ptr_nonnull(ng_optimizer_parameter(good, VECTOR)->gradient);
    fixture_expect_equal(good, untouched);
    fixture_expect_equal(bad, untouched);
    ng_optimizer_free(good);
    ng_optimizer_free(bad);
    ng_optimizer_free(untouched);
}
END_TEST

/* Both counts are saved and come back. */
START_TEST(counts_are_saved)
{
    ng_optimizer *a = fixture_make(NG_ADAMW, flash, false);
    ng_optimizer *b = fixture_make(NG_ADAMW, flash, true);
    const char *path = scratch_path("o.safetensors");

    (void)release_all(a, 1, false);
    (void)release_all(a, 2, false);
    (void)release_all(a, 7, false);
    ck_assert_int_eq(ng_optimizer_save(path, a, &error), NG_OK);
    ck_assert_int_eq(ng_optimizer_load(b, path, &error), NG_OK);
    ck_assert_uint_eq(ng_optimizer_partial(b), 2);
    ck_assert_uint_eq(ng_optimizer_skipped(b), 1);
    fixture_expect_equal(a, b);
    ng_optimizer_free(a);
    ng_optimizer_free(b);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("optimizer_release");
    TCase *tcase = tcase_create("optimizer_release");

    tcase_add_checked_fixture(tcase, scratch_make, scratch_remove);
    tcase_add_test(tcase, trap_partial_step);
    tcase_add_test(tcase, trap_empty_parameter_is_no_step);
    tcase_add_test(tcase, trap_l27_another_rank_stepped);
    tcase_add_test(tcase, looked_at_first);
    tcase_add_test(tcase, counts_are_saved);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
