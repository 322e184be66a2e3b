/* SPDX-License-Identifier: Apache-2.0
 *
 * An optimizer on a backend, whose memory the host cannot read: the same bits as
 * on the host, everything through the table, and a failure of the table passed
 * on. The backend is the reference behind addresses that fault.
 */
#include <check.h>
#include <stdlib.h>

#include "conformance/checks/optimizer_fixture.h"
#include "conformance/checks/scratch.h"
#include "reference/optim/optimizer_backend.h"

enum { MATRIX, VECTOR, SCALAR, EMPTY, N_PARAMETERS };

static ng_error error;

/* ---- the backend --------------------------------------------------------- */

static int n_steps, n_live;
static ng_status step_status;

/* No address that a program can have (the highest bits of one are equal). */
static void *hide(const void *data)
{
    return data == NULL ? NULL : (void *)((uintptr_t)data ^ (uintptr_t)1 << 62);
}

static const ng_backend *real(void)
{
    return ng_backend_reference();
}

static void *far_alloc(void *context, int64_t bytes)
{
    void *data = real()->alloc(context, bytes);

    n_live += data != NULL;
    if (data != NULL)
        memset(data, 0xA5, (size_t)bytes); /* zero is asked for, not given */
    return hide(data);
}

static void far_free(void *context, void *data)
{
    n_live -= data != NULL;
    real()->free(context, hide(data));
}

static ng_status far_zero(void *context, void *data, int64_t bytes)
{
    return real()->zero(context, hide(data), bytes);
}

static ng_status far_upload(void *context, void *to, const void *from,
                            int64_t bytes)
{
    return real()->upload(context, hide(to), from, bytes);
}

static ng_status far_download(void *context, void *to, const void *from,
                              int64_t bytes)
{
    return real()->download(context, to, hide(from), bytes);
}

static ng_status far_wait(void *context)
{
    return real()->wait(context);
}

static ng_weights near_weights(ng_weights w)
{
    w.low = hide(w.low);
    w.correction = hide(w.correction);
    return w;
}

static ng_state near_state(ng_state s)
{
    s.data = hide(s.data);
    s.scales = hide(s.scales);
    return s;
}

static ng_gradient near_gradient(ng_gradient g)
{
    g.data = hide(g.data);
    g.scale = hide(g.scale);
    return g;
}

static ng_status far_is_finite(void *context, bool *finite,
                               const ng_gradient *g, int64_t n)
{
    const ng_gradient here = near_gradient(*g);

    return real()->is_finite(context, finite, &here, n);
}

static ng_status far_step(void *context, const ng_weights *theta,
                          const ng_state *m, const ng_state *v,
                          const ng_gradient *g, int64_t n,
                          const ng_step_constants *c, const ng_rules *rules,
                          ng_optim_counts *counts)
{
    const ng_weights w = near_weights(*theta);
    const ng_state momentum = near_state(*m), variance = near_state(*v);
    const ng_gradient here = near_gradient(*g);

    n_steps++;
    return step_status != NG_OK
               ? step_status
               : real()->step(context, &w, &momentum, &variance, &here, n, c,
                              rules, counts);
}

static ng_status far_split(void *context, const ng_weights *weights,
                           const float *theta, int64_t n, const ng_rules *rules,
                           ng_optim_counts *counts)
{
    const ng_weights w = near_weights(*weights);

    return real()->split(context, &w, hide(theta), n, rules, counts);
}

static ng_status far_merge(void *context, float *theta,
                           const ng_weights *weights, int64_t n,
                           const ng_rules *rules)
{
    const ng_weights w = near_weights(*weights);

    return real()->merge(context, hide(theta), &w, n, rules);
}

static const ng_backend far_backend = {.name = "far",
                                       .alloc = far_alloc,
                                       .free = far_free,
                                       .zero = far_zero,
                                       .upload = far_upload,
                                       .download = far_download,
                                       .wait = far_wait,
                                       .is_finite = far_is_finite,
                                       .step = far_step,
                                       .split = far_split,
                                       .merge = far_merge};

/* ---- two optimizers, one of them far away -------------------------------- */

static void begin(void)
{
    scratch_make();
    n_steps = n_live = 0;
    step_status = NG_OK;
}

static ng_optimizer *make_far(ng_optimizer_kind kind, const storage *how)
{
    ng_optimizer *o = fixture_empty(kind, how);

    ck_assert_int_eq(ng_optimizer_use_backend(o, &far_backend, &error), NG_OK);
    fixture_add(o, 0, "matrix", 2, 5, 21, false);
    fixture_add(o, 2, "vector", 1, 64, 1, false);
    fixture_add(o, 2, "scalar", 0, 1, 1, false);
    fixture_add(o, 0, "empty", 2, 0, 7, false);
    return o;
}

/* The near one's gradients of a step, at both. */
static void give_gradients(ng_optimizer *near, ng_optimizer *far, int64_t step)
{
    for (int64_t i = 0; i < N_PARAMETERS; i++) {
        const ng_parameter *p = ng_optimizer_parameter(near, i);
        void *there;

        fixture_gradient(near, i, step);
        ck_assert_int_eq(ng_optimizer_gradient(&there, far, i, &error), NG_OK);
        if (p->n > 0)
            ck_assert_int_eq(
                far_upload(NULL, there, p->gradient,
                           p->n * (int64_t)ng_dtype_size(p->gradient_dtype)),
                NG_OK);
    }
}

static void release_all(ng_optimizer *o, const float *scale)
{
    ck_assert_int_eq(ng_optimizer_begin_release(o, &error), NG_OK);
    for (int64_t i = 0; i < N_PARAMETERS; i++)
        ck_assert_int_eq(ng_optimizer_release(NULL, o, i, scale, &error),
                         NG_OK);
    ck_assert_int_eq(ng_optimizer_end_release(NULL, o, false, &error), NG_OK);
}

/* ---- tests --------------------------------------------------------------- */

/* Every optimizer in every storage: import, steps, a factor, release, export,
 * a file there and back. */
START_TEST(same_bits)
{
    const storage *how = &storages[_i];

    for (int kind = 0; kind < NG_N_OPTIMIZERS; kind++) {
        ng_optimizer *near = fixture_make((ng_optimizer_kind)kind, how, false);
        ng_optimizer *far = make_far((ng_optimizer_kind)kind, how);
        ng_optimizer *again;
        const char *path = scratch_path("o.safetensors");
        const float scale = 0.75f;
        float theta[2][5 * 21];
        bool stepped = false, finite = false;

        fixture_expect_equal(near, far);
        ck_assert_int_eq(ng_optimizer_allocated(near),
                         ng_optimizer_allocated(far));
        n_steps = 0;
        give_gradients(near, far, 0);
        ck_assert_int_eq(ng_optimizer_step(NULL, near, &scale, &error), NG_OK);
        ck_assert_int_eq(ng_optimizer_is_finite(&finite, far, &scale, &error),
                         NG_OK);
        ck_assert_int_eq(ng_optimizer_step(&stepped, far, &scale, &error),
                         NG_OK);
        ck_assert(stepped && finite);
        ck_assert_int_eq(n_steps, 3); /* one has no gradient: it is empty */
        fixture_expect_equal(near, far);
        give_gradients(near, far, 1);
        release_all(near, &scale);
        release_all(far, &scale);
        fixture_expect_equal(near, far);

        ck_assert_int_eq(ng_optimizer_save(path, far, &error), NG_OK);
        again = make_far((ng_optimizer_kind)kind, how);
        ck_assert_int_eq(ng_optimizer_load(again, path, &error), NG_OK);
        give_gradients(near, again, 2);
        release_all(near, NULL);
        release_all(again, NULL);
        fixture_expect_equal(near, again);
        ck_assert_int_eq(ng_optimizer_export(theta[0], near, MATRIX, &error),
                         NG_OK);
        ck_assert_int_eq(ng_optimizer_export(theta[1], again, MATRIX, &error),
                         NG_OK);
        ck_assert_mem_eq(theta[0], theta[1], sizeof theta[0]);
        ng_optimizer_free(near);
        ng_optimizer_free(far);
        ng_optimizer_free(again);
        ck_assert_int_eq(n_live, 0);
    }
}
END_TEST

/* A NaN is seen there; nothing is stepped. */
START_TEST(not_finite)
{
    ng_optimizer *near = fixture_make(NG_ADAMW, flash, false);
    ng_optimizer *far = make_far(NG_ADAMW, flash);
    const uint16_t nan = 0x7FC0;
    bool stepped = true;

    give_gradients(near, far, 0);
    ck_assert_int_eq(far_upload(NULL,
                                ng_optimizer_parameter(far, VECTOR)->gradient,
                                &nan, sizeof nan),
                     NG_OK);
    ck_assert_int_eq(ng_optimizer_step(&stepped, far, NULL, &error), NG_OK);
    ck_assert(!stepped);
    ck_assert_int_eq(n_steps, 0);
    ck_assert_int_eq(ng_optimizer_skip(near, &error), NG_OK);
    fixture_expect_equal(near, far);
    ng_optimizer_free(near);
    ng_optimizer_free(far);
}
END_TEST

/* What the backend cannot do is said, and no step number moves. */
START_TEST(refusals)
{
    ng_optimizer *near = fixture_make(NG_LION, flash, false);
    ng_optimizer *far = make_far(NG_LION, flash);
    ng_lr_report report;

    ck_assert_int_eq(ng_optimizer_use_backend(NULL, &far_backend, &error),
                     NG_BAD_POINTER);
    ck_assert_int_eq(ng_optimizer_use_backend(near, NULL, &error),
                     NG_BAD_POINTER);
    ck_assert_int_eq(ng_optimizer_use_backend(near, &far_backend, &error),
                     NG_BAD_VALUE);
    ck_assert_int_eq(ng_optimizer_check_lr(&report, far, &error),
                     NG_NOT_COVERED);

    give_gradients(near, far, 0);
    step_status = NG_NOT_COVERED;
    ck_assert_int_eq(ng_optimizer_step(NULL, far, NULL, &error),
                     NG_NOT_COVERED);
    ck_assert_ptr_nonnull(strstr(error.text, "step: "));
    ck_assert_uint_eq(ng_optimizer_steps(far, 0), 0);
    ck_assert_int_eq(ng_optimizer_begin_release(far, &error), NG_OK);
    ck_assert_int_eq(ng_optimizer_release(NULL, far, MATRIX, NULL, &error),
                     NG_NOT_COVERED);
    ng_optimizer_free(near);
    ng_optimizer_free(far);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("optimizer, backend");
    TCase *tcase = tcase_create("backend");

    tcase_add_checked_fixture(tcase, begin, scratch_remove);
    tcase_add_loop_test(tcase, same_bits, 0, N_STORAGES);
    tcase_add_test(tcase, not_finite);
    tcase_add_test(tcase, refusals);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
