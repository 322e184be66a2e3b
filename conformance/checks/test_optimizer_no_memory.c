/* SPDX-License-Identifier: Apache-2.0
 *
 * The optimizer when memory runs out: allocation n of a call fails, for every n
 * that it makes. The status is NG_NO_MEMORY, the line says so, the optimizer and
 * the disk are as they were, and nothing leaks from the optimizer's account.
 * Allocations of jansson, which cannot tell them from bad text, are left alone.
 */
#include <check.h>
#include <jansson.h>

#include "conformance/checks/failing_memory.h"
#include "conformance/checks/optimizer_fixture.h"
#include "conformance/checks/scratch.h"

#ifdef FAILING_MEMORY
static ng_error error;
static ng_optimizer *optimizer, *twin;

static void set_up(void)
{
    scratch_make();
    json_set_alloc_funcs(sure_malloc, free);
    optimizer = fixture_make(NG_ADAMW, flash, false);
    twin = fixture_make(NG_ADAMW, flash, false);
}

static void tear_down(void)
{
    ng_optimizer_free(optimizer);
    ng_optimizer_free(twin);
    scratch_remove();
}

static bool touched;            /* the call's output */

/* One call that allocates. (Nothing is asserted meanwhile: Check allocates.) */
static ng_status create(void)
{
    ng_optimizer *made = NULL;
    const ng_status status = ng_optimizer_create(&made, NG_LION, NULL, &error);

    touched = made != NULL;
    ng_optimizer_free(made);
    return status;
}

static ng_status add_group(void)
{
    const ng_group_settings settings = {fixture_hyper, NG_BF16, 8,
                                        NG_STATE_COMPANDED, NG_STATE_COMPANDED,
                                        NG_BF16};

    return ng_optimizer_add_group(NULL, optimizer, &settings, &error);
}

static ng_status add_parameter(void)
{
    static const int64_t shape[1] = {3};
    static const float theta[3] = {1.0f, 2.0f, 3.0f};

    return ng_optimizer_add_parameter(NULL, optimizer, 0, "w", 1, shape, theta,
                                      &error);
}

static ng_status take_gradient(void)
{
    void *data = &error;
    const ng_status status =
        ng_optimizer_gradient(&data, optimizer, 0, &error);

    touched = data != (void *)&error;
    return status;
}

static ng_status to_tensors(void)
{
    ng_tensor_file file = {0};
    const ng_status status = ng_optimizer_to_tensors(&file, optimizer, &error);

    ng_tensor_file_free(&file);
    return status;
}

static ng_status save(void)
{
    return ng_optimizer_save(scratch_path("o"), optimizer, &error);
}

static const struct {
    const char *name, *line;
    ng_status (*perform)(void);
    int least;                  /* allocations */
} calls[] = {
    {"create", "optimizer: out of memory", create, 1},
    {"add_group", "optimizer: out of memory", add_group, 1},
    /* two lists, the parameter, six arrays */
    {"add_parameter", "optimizer: out of memory", add_parameter, 9},
    {"gradient", "gradient: matrix: out of memory", take_gradient, 1},
    {"to_tensors", "optimizer: out of memory", to_tensors, 24 + 2 * 50},
    {"save", "out of memory", save, 24 + 2 * 50},
};
enum { N_CALLS = sizeof calls / sizeof *calls };

static void expect_untouched(int64_t bytes)
{
    ck_assert_int_eq(ng_optimizer_allocated(optimizer), bytes);
    ck_assert_int_eq(ng_optimizer_n_groups(optimizer), 3);
    ck_assert_int_eq(ng_optimizer_n_parameters(optimizer), 4);
    ck_assert_int_eq(scratch_count(), 0);
    fixture_expect_equal(optimizer, twin);
}

START_TEST(every_allocation)
{
    const int64_t bytes = ng_optimizer_allocated(optimizer);
    int n = 0;

    for (;; n++) {
        strcpy(error.text, "untouched");
        touched = false;
        fail_at(n);
        const ng_status status = calls[_i].perform();
        if (!fail_no_more()) {
            ck_assert_int_eq(status, NG_OK);
            break;
        }
        /* The C library's stream can do without its buffer. */
        if (status == NG_OK && calls[_i].perform == save) {
            ck_assert_int_eq(unlink(scratch_path("o")), 0);
            continue;
        }
        ck_assert(!touched);
        ck_assert_msg(status == NG_NO_MEMORY || status == NG_BAD_FILE,
                      "%s, allocation %d: %s", calls[_i].name, n,
                      ng_status_text(status));
        ck_assert_msg(strstr(error.text, calls[_i].line) != NULL
                          || strstr(error.text, "Cannot allocate") != NULL,
                      "%s, allocation %d: %s", calls[_i].name, n, error.text);
        expect_untouched(bytes);
    }
    ck_assert_msg(n >= calls[_i].least, "%s: %d", calls[_i].name, n);
}
END_TEST

/* Reading back: whatever fails, the optimizer is as it was. */
START_TEST(load)
{
    ng_optimizer *source = fixture_make(NG_ADAMW, flash, true);
    const int64_t bytes = ng_optimizer_allocated(optimizer);
    const char *path = scratch_path("o");
    int n = 0;

    fixture_step(source, 0);
    ck_assert_int_eq(ng_optimizer_save(path, source, &error), NG_OK);
    for (;; n++) {
        error.text[0] = '\0';
        fail_at(n);
        const ng_status status = ng_optimizer_load(optimizer, path, &error);
        if (!fail_no_more()) {
            ck_assert_int_eq(status, NG_OK);
            break;
        }
        ck_assert_msg(status == NG_NO_MEMORY || status == NG_BAD_FILE,
                      "allocation %d: %s", n, ng_status_text(status));
        ck_assert_msg(strstr(error.text, "memory") != NULL,
                      "allocation %d: %s", n, error.text);
        ck_assert_int_eq(ng_optimizer_allocated(optimizer), bytes);
        fixture_expect_equal(optimizer, twin);
    }
    ck_assert_int_gt(n, 24);
    fixture_expect_equal(optimizer, source);
    ng_optimizer_free(source);
}
END_TEST
#endif

int main(void)
{
    Suite *suite = suite_create("optimizer_no_memory");
    TCase *tcase = tcase_create("optimizer_no_memory");

#ifdef FAILING_MEMORY
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, every_allocation, 0, N_CALLS);
    tcase_add_test(tcase, load);
#endif
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
