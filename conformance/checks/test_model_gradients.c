/* SPDX-License-Identifier: Apache-2.0
 *
 * Backward against central differences (gradient_fixture.h): all that a dense
 * decoder is made of.
 */
#include "conformance/checks/gradient_fixture.h"

/* ---- linear layers ------------------------------------------------------- */

typedef struct linear_case {
    const double *x, *w, *c;
    int64_t rows, inputs, outputs;
    const int64_t *offsets;
    int64_t groups;
} linear_case;

static double linear_loss(const void *context)
{
    const linear_case *q = context;
    double sum = 0.0;

    for (int64_t g = 0; g < q->groups; g++)
        for (int64_t t = q->offsets[g]; t < q->offsets[g + 1]; t++)
            for (int64_t o = 0; o < q->outputs; o++) {
                double y = 0.0;

                for (int64_t k = 0; k < q->inputs; k++)
                    y += q->x[t * q->inputs + k]
                         * q->w[(g * q->outputs + o) * q->inputs + k];
                sum += y * q->c[t * q->outputs + o];
            }
    return sum;
}

START_TEST(linear)
{
    static const int64_t offsets[] = {0, 3, 3, 9};
    const ng_row_groups groups = {{3, offsets}, NULL};
    ng_array x = random_matrix(9, 13, 1.0), w = random_matrix(3 * 11, 13, 1.0);
    ng_array c = random_matrix(9, 11, 1.0), grad_x = like(&x), grad_w;

    w.batch = 3;
    w.rows = 11;
    grad_w = like(&w);
    ck_assert_int_eq(
        b->linear_backward(b->context, &grad_x, &c, &w, NULL, &groups), NG_OK);
    ck_assert_int_eq(
        b->linear_weight(b->context, &grad_w, &c, &x, &groups, false), NG_OK);

    double *const vx = doubles_of(&x), *const vw = doubles_of(&w);
    double *const vc = doubles_of(&c);
    const linear_case q = {vx, vw, vc, 9, 13, 11, offsets, 3};

    check_input(&(input){"x", &x, &grad_x, vx}, linear_loss, &q);
    check_input(&(input){"w", &w, &grad_w, vw}, linear_loss, &q);
    free(vx);
    free(vw);
    free(vc);
}
END_TEST

/* ---- embedding ----------------------------------------------------------- */

typedef struct embedding_case {
    const double *table, *c;
    const int32_t *tokens;
} embedding_case;

static double embedding_loss(const void *context)
{
    const embedding_case *q = context;
    double sum = 0.0;

    for (int64_t t = 0; t < 7; t++)
        for (int64_t i = 0; i < 5; i++)
            sum += q->table[q->tokens[t] * 5 + i] * q->c[t * 5 + i];
    return sum;
}

START_TEST(embedding)
{
    static const int32_t tokens[] = {3, 0, 3, 2, 1, 3, 0};
    ng_array table = random_matrix(4, 5, 1.0), c = random_matrix(7, 5, 1.0);
    ng_array grad = zeros_like(&table);
    double *const vt = doubles_of(&table), *const vc = doubles_of(&c);
    const embedding_case q = {vt, vc, tokens};

    ck_assert_int_eq(b->embedding_backward(b->context, &grad, tokens, &c),
                     NG_OK);
    check_input(&(input){"table", &table, &grad, vt}, embedding_loss, &q);
    free(vt);
    free(vc);
}
END_TEST

/* ---- norm ---------------------------------------------------------------- */

typedef struct norm_case {
    const double *x, *w, *c;
} norm_case;

enum { ROWS = 4, COLS = 20 };

static double norm_loss(const void *context)
{
    const norm_case *q = context;
    double sum = 0.0;

    for (int64_t t = 0; t < ROWS; t++) {
        double squares = 0.0;

        for (int64_t i = 0; i < COLS; i++)
            squares += q->x[t * COLS + i] * q->x[t * COLS + i];
        for (int64_t i = 0; i < COLS; i++)
            sum += q->c[t * COLS + i] * q->x[t * COLS + i] * q->w[i]
                   / sqrt(squares / COLS + 0.01);
    }
    return sum;
}

START_TEST(rmsnorm)
{
    ng_array x = random_matrix(ROWS, COLS, 1.0), w = random_matrix(1, COLS, 1);
    ng_array c = random_matrix(ROWS, COLS, 1.0), grad_x = like(&x);
    ng_array grad_w = zeros_like(&w), add = random_matrix(ROWS, COLS, 1.0);
    ng_array both = like(&x), again = zeros_like(&w);
    double *const vx = doubles_of(&x), *const vw = doubles_of(&w);
    double *const vc = doubles_of(&c);
    const norm_case q = {vx, vw, vc};

    ck_assert_int_eq(b->rmsnorm_backward(b->context, &grad_x, &grad_w, &c, &x,
                                         &w, NULL, 0.01f),
                     NG_OK);
    check_input(&(input){"x", &x, &grad_x, vx}, norm_loss, &q);
    check_input(&(input){"w", &w, &grad_w, vw}, norm_loss, &q);
    ck_assert_int_eq(
        b->rmsnorm_backward(b->context, &both, &again, &c, &x, &w, &add, 0.01f),
        NG_OK);
    for (int64_t i = 0; i < ROWS * COLS; i++)
        ck_assert_uint_eq(ng_fp32_bits(floats(&both)[i]),
                          ng_fp32_bits(floats(&grad_x)[i] + floats(&add)[i]));
    free(vx);
    free(vw);
    free(vc);
}
END_TEST

/* ---- rotation, and the joining of MLA: linear, so the adjoint decides ---- */

START_TEST(rope)
{
    ng_array x = random_matrix(12, 2 * 10, 1.0), y, c, grad;

    y = converted(NG_CARRY_FP32, &x, NULL);
    ck_assert_int_eq(b->rope(b->context, &y, 2, 6, 4, 100.0, false), NG_OK);
    /* against the formula */
    for (int64_t t = 0; t < 12; t++)
        for (int64_t h = 0; h < 2; h++) {
            const float *in = floats(&x) + t * 20 + h * 10;
            const float *out = floats(&y) + t * 20 + h * 10;

            for (int64_t i = 0; i < 4; i++)
                ck_assert_float_eq(out[i], in[i]);
            for (int64_t i = 0; i < 6; i += 2) {
                const double angle =
                    (double)(t % 4) * pow(100.0, -(double)i / 6.0);
                const double a = (double)in[4 + i], z = (double)in[5 + i];

                ck_assert_double_lt(fabs((double)out[4 + i]
                                         - (a * cos(angle) - z * sin(angle))),
                                    0x1p-22);
                ck_assert_double_lt(fabs((double)out[5 + i]
                                         - (a * sin(angle) + z * cos(angle))),
                                    0x1p-22);
            }
        }
    c = random_matrix(12, 20, 1.0);
    grad = converted(NG_CARRY_FP32, &c, NULL);
    ck_assert_int_eq(b->rope(b->context, &grad, 2, 6, 4, 100.0, true), NG_OK);
    ck_assert_double_lt(fabs(dot(&c, &y) - dot(&grad, &x)), bound);
    ck_assert_double_gt(fabs(dot(&c, &y)), 20.0 * bound);
}
END_TEST

START_TEST(mla_join)
{
    ng_array kv = random_matrix(5, 3 * (4 + 6), 1.0);
    ng_array rotated = random_matrix(5, 2, 1.0);
    ng_array k = matrix_of(NG_CARRY_FP32, 5, 3 * 6);
    ng_array v = matrix_of(NG_CARRY_FP32, 5, 3 * 6);
    ng_array ck = random_matrix(5, 18, 1.0), cv = random_matrix(5, 18, 1.0);
    ng_array gkv = like(&kv), gr = like(&rotated);

    ck_assert_int_eq(b->mla_join(b->context, &k, &v, &kv, &rotated, 3, 4),
                     NG_OK);
    ck_assert_int_eq(
        b->mla_join_backward(b->context, &gkv, &gr, &ck, &cv, 3, 4), NG_OK);
    /* token 2, head 1: elements where they belong */
    for (int i = 0; i < 4; i++)
        ck_assert_float_eq(floats(&k)[2 * 18 + 6 + i],
                           floats(&kv)[2 * 30 + 10 + i]);
    for (int i = 0; i < 2; i++)
        ck_assert_float_eq(floats(&k)[2 * 18 + 10 + i],
                           floats(&rotated)[2 * 2 + i]);
    for (int i = 0; i < 6; i++)
        ck_assert_float_eq(floats(&v)[2 * 18 + 6 + i],
                           floats(&kv)[2 * 30 + 14 + i]);
    ck_assert_double_lt(
        fabs(dot(&ck, &k) + dot(&cv, &v) - dot(&gkv, &kv) - dot(&gr, &rotated)),
        bound);
}
END_TEST

/* ---- attention ----------------------------------------------------------- */

typedef struct attention_case {
    const double *q, *k, *v, *c;
    ng_attention_shape s;
} attention_case;

static double attention_loss(const void *context)
{
    const attention_case *a = context;
    const ng_attention_shape *s = &a->s;
    double total = 0.0;

    for (int64_t n = 0; n < s->sequences; n++)
        for (int64_t h = 0; h < s->heads; h++)
            for (int64_t i = 0; i < s->length; i++) {
                const int64_t kv = h / (s->heads / s->kv_heads);
                const int64_t row = n * s->length + i;
                double sum = 0.0, weighted = 0.0;

                for (int64_t j = 0; j <= i; j++) {
                    const int64_t other = n * s->length + j;
                    double z = 0.0, value = 0.0;

                    for (int64_t e = 0; e < s->qk; e++)
                        z += a->q[(row * s->heads + h) * s->qk + e]
                             * a->k[(other * s->kv_heads + kv) * s->qk + e];
                    for (int64_t e = 0; e < s->v; e++)
                        value += a->c[(row * s->heads + h) * s->v + e]
                                 * a->v[(other * s->kv_heads + kv) * s->v + e];
                    z = exp((double)s->scale * z);
                    sum += z;
                    weighted += z * value;
                }
                total += weighted / sum;
            }
    return total;
}

START_TEST(attention)
{
    static const int64_t kv_heads[] = {4, 2, 1};
    const int64_t kv = kv_heads[_i];
    const ng_attention_shape s = {2, 5, 4, kv, 6, 3, 0.5f};
    ng_array q = random_matrix(10, 4 * 6, 1.0),
             k = random_matrix(10, kv * 6, 1);
    ng_array v = random_matrix(10, kv * 3, 1.0), c = random_matrix(10, 12, 1.0);
    ng_array y = like(&c), lse = matrix_of(NG_CARRY_FP32, 10, 4);
    ng_array gq = like(&q), gk = like(&k), gv = like(&v);
    double *const vq = doubles_of(&q), *const vk = doubles_of(&k);
    double *const vv = doubles_of(&v), *const vc = doubles_of(&c);
    const attention_case a = {vq, vk, vv, vc, s};

    ck_assert_int_eq(b->attention(b->context, &y, &lse, &q, &k, &v, &s), NG_OK);
    ck_assert_double_lt(fabs(dot(&c, &y) - attention_loss(&a)), bound);
    ck_assert_int_eq(b->attention_backward(b->context, &gq, &gk, &gv, &c, &y,
                                           &lse, &q, &k, &v, &s),
                     NG_OK);
    check_input(&(input){"q", &q, &gq, vq}, attention_loss, &a);
    check_input(&(input){"k", &k, &gk, vk}, attention_loss, &a);
    check_input(&(input){"v", &v, &gv, vv}, attention_loss, &a);
    free(vq);
    free(vk);
    free(vv);
    free(vc);
}
END_TEST

/* ---- cross entropy ------------------------------------------------------- */

typedef struct entropy_case {
    const double *z;
    const int32_t *targets;
} entropy_case;

static double entropy_loss(const void *context)
{
    const entropy_case *q = context;
    double total = 0.0;

    for (int64_t t = 0; t < 4; t++) {
        double sum = 0.0;

        for (int64_t i = 0; q->targets[t] >= 0 && i < 9; i++)
            sum += exp(q->z[t * 9 + i]);
        if (q->targets[t] >= 0)
            total += log(sum) - q->z[t * 9 + q->targets[t]];
    }
    return total;
}

START_TEST(cross_entropy)
{
    static const int32_t targets[] = {8, -1, 0, 3};
    ng_array z = random_matrix(4, 9, 3.0), grad = like(&z);
    double *const vz = doubles_of(&z);
    const entropy_case q = {vz, targets};
    double loss = 1.0;
    int64_t n = 5;

    ck_assert_int_eq(
        b->cross_entropy(b->context, &loss, &n, &grad, &z, targets, 1.0f),
        NG_OK);
    ck_assert_int_eq(n, 5 + 3);
    ck_assert_double_lt(fabs(loss - 1.0 - entropy_loss(&q)), 1e-5);
    check_input(&(input){"z", &z, &grad, vz}, entropy_loss, &q);
    for (int i = 0; i < 9; i++)
        ck_assert_float_eq(floats(&grad)[9 + i], 0.0f);
    free(vz);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("model, gradients");
    TCase *tcase = tcase_create("gradients");

    tcase_add_checked_fixture(tcase, begin, fixture_end);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, linear);
    tcase_add_test(tcase, embedding);
    tcase_add_test(tcase, rmsnorm);
    tcase_add_test(tcase, rope);
    tcase_add_test(tcase, mla_join);
    tcase_add_loop_test(tcase, attention, 0, 3);
    tcase_add_test(tcase, cross_entropy);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
