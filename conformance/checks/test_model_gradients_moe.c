/* SPDX-License-Identifier: Apache-2.0
 *
 * Backward against central differences (gradient_fixture.h): what a mixture of
 * experts adds.
 */
#include "conformance/checks/gradient_fixture.h"

static double silu(double x)
{
    return x / (1.0 + exp(-x));
}

/* ---- SwiGLU -------------------------------------------------------------- */

typedef struct gate_case {
    const double *gate_up, *weight, *c;
} gate_case;

/* rows of 6 gates and 6 ups; the loss is of weight * h */
static double gate_loss(const void *context)
{
    const gate_case *q = context;
    double sum = 0.0;

    for (int64_t t = 0; t < 5; t++)
        for (int64_t i = 0; i < 6; i++)
            sum += q->c[t * 6 + i] * q->weight[t] * silu(q->gate_up[t * 12 + i])
                   * q->gate_up[t * 12 + 6 + i];
    return sum;
}

START_TEST(swiglu)
{
    ng_array x = random_matrix(5, 12, 2.0), w = random_matrix(5, 1, 1.0);
    ng_array c = random_matrix(5, 6, 1.0), h = like(&c), grad = like(&x);
    ng_array grad_w = like(&w);
    double *const vx = doubles_of(&x), *const vw = doubles_of(&w);
    double *const vc = doubles_of(&c);
    const gate_case q = {vx, vw, vc};

    ck_assert_int_eq(b->swiglu(b->context, &h, &x, &w, NULL, NULL), NG_OK);
    ck_assert_double_lt(fabs(dot(&c, &h) - gate_loss(&q)), bound);
    ck_assert_int_eq(b->swiglu_backward(b->context, &grad, &grad_w, &c, &x, &w),
                     NG_OK);
    check_input(&(input){"gate_up", &x, &grad, vx}, gate_loss, &q);
    check_input(&(input){"weight", &w, &grad_w, vw}, gate_loss, &q);
    free(vx);
    free(vw);
    free(vc);
}
END_TEST

/* ---- router: the experts stay chosen, weights and balance loss move ------ */

typedef struct router_case {
    const double *logits, *c;
    const int32_t *expert;
    ng_router_shape s;
    double balance_scale;
} router_case;

static void score(double *s, const double *l, int64_t n, bool softmax)
{
    double sum = 0.0;

    for (int64_t e = 0; e < n; e++) {
        s[e] = softmax ? exp(l[e]) : 1.0 / (1.0 + exp(-l[e]));
        sum += s[e];
    }
    for (int64_t e = 0; softmax && e < n; e++)
        s[e] /= sum;
}

static double router_loss(const void *context)
{
    const router_case *q = context;
    const ng_router_shape *r = &q->s;
    const int64_t n = r->experts, k = r->top_k;
    double total = 0.0, s[8], P[8], f[8];

    for (int64_t w = 0; w < r->sequences; w++) {
        memset(P, 0, sizeof P);
        memset(f, 0, sizeof f);
        for (int64_t t = w * r->length; t < (w + 1) * r->length; t++) {
            double chosen = 0.0, all = 0.0;

            score(s, q->logits + t * n, n, r->softmax);
            for (int64_t e = 0; e < n; e++)
                all += s[e];
            for (int64_t i = 0; i < k; i++) {
                chosen += s[q->expert[t * k + i]];
                f[q->expert[t * k + i]] += 1.0;
            }
            for (int64_t i = 0; i < k; i++)
                total += q->c[t * k + i] * (double)r->route_scale
                         * s[q->expert[t * k + i]]
                         / (r->normalize ? chosen : 1.0);
            for (int64_t e = 0; e < n; e++)
                P[e] += s[e] / all / (double)r->length;
        }
        for (int64_t e = 0; e < n; e++)
            total += q->balance_scale * (double)r->balance * P[e] * f[e]
                     * (double)n / (double)(k * r->length);
    }
    return total;
}

START_TEST(router)
{
    const ng_router_shape s = {.experts = 8,
                               .top_k = 3,
                               .n_groups = 4,
                               .top_groups = 2,
                               .softmax = _i % 2 != 0,
                               .normalize = _i / 2 % 2 != 0,
                               .route_scale = 2.5f,
                               .sequences = 2,
                               .length = 4,
                               .balance = _i / 4 != 0 ? 0.5f : 0.0f};
    ng_array logits = random_matrix(8, 8, 1.0), c = random_matrix(8, 3, 1.0);
    ng_array scores = like(&logits), weight = like(&c), grad = like(&logits);
    int64_t load[8] = {0}, nan_rows = 0, sum = 0;
    int32_t expert[24];
    double balance = 0.0;
    double *const vl = doubles_of(&logits), *const vc = doubles_of(&c);
    const router_case q = {vl, vc, expert, s, 0.25};

    ck_assert_int_eq(b->router(b->context, &scores, expert, &weight, load,
                               &nan_rows, &balance, &logits, NULL, &s),
                     NG_OK);
    for (int e = 0; e < 8; e++)
        sum += load[e];
    ck_assert_int_eq(sum, 24);
    ck_assert_double_lt(
        fabs(dot(&c, &weight) + 0.25 * balance - router_loss(&q)), bound);
    ck_assert_int_eq(
        b->router_backward(b->context, &grad, &c, &scores, expert, &s, 0.25f),
        NG_OK);
    check_input(&(input){"logits", &logits, &grad, vl}, router_loss, &q);
    free(vl);
    free(vc);
}
END_TEST

/* ---- combine and dispatch: adjoints of each other ------------------------ */

START_TEST(combine)
{
    static const int32_t expert[] = {2, 0, 1, 2, 2, 1, 0, 1};
    ng_array x = random_matrix(8, 5, 1.0), w = random_matrix(4, 2, 1.0);
    ng_array c = random_matrix(4, 5, 1.0), y = like(&c);
    ng_array rows = matrix_of(NG_CARRY_FP32, 8, 5), back = like(&c);
    int64_t row[8], source[8], offsets[4];
    double sum = 0.0;

    ck_assert_int_eq(
        b->permutation(b->context, row, source, offsets, expert, 4, 2, 3),
        NG_OK);
    ck_assert_int_eq(b->combine(b->context, &y, &x, row, &w, NULL, 2), NG_OK);
    for (int64_t t = 0; t < 4; t++)
        for (int64_t s = 0; s < 2; s++)
            for (int64_t i = 0; i < 5; i++)
                sum += (double)floats(&c)[t * 5 + i]
                       * (double)floats(&w)[t * 2 + s]
                       * (double)floats(&x)[row[t * 2 + s] * 5 + i];
    ck_assert_double_lt(fabs(dot(&c, &y) - sum), bound);
    /* gather's adjoint is combine without weights */
    ck_assert_int_eq(b->gather(b->context, &rows, &c, source, 2), NG_OK);
    ck_assert_int_eq(b->combine(b->context, &back, &x, row, NULL, NULL, 2),
                     NG_OK);
    ck_assert_double_lt(fabs(dot(&rows, &x) - dot(&c, &back)), bound);
    ck_assert_double_gt(fabs(dot(&rows, &x)), 20.0 * bound);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("model, gradients of a mixture of experts");
    TCase *tcase = tcase_create("gradients");

    tcase_add_checked_fixture(tcase, begin, fixture_end);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, swiglu);
    tcase_add_loop_test(tcase, router, 0, 8);
    tcase_add_test(tcase, combine);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
