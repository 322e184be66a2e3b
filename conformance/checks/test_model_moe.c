/* SPDX-License-Identifier: Apache-2.0
 *
 * The exact parts of a mixture of experts, and faults that happened
 * (docs/cases.md L-22, L-24 to L-26), with values worked out by hand.
 */
#include "conformance/checks/model_fixture.h"
#include "conformance/checks/model_ranks.h"
#include "reference/model/ref_rows.h"

static const ng_backend *b;

static void begin(void)
{
    fixture_at = 0;
    b = ng_backend_reference();
}

/* ---- the choice ---------------------------------------------------------- */

typedef struct choice {
    int32_t expert[8];
    float weight[8];
    int64_t load[16], nan_rows;
} choice;

/* One token: logits whose softmax or sigmoid order is that of the logits. */
static choice choose(const float *logits, const float *bias, int64_t experts,
                     int64_t k, int64_t groups, int64_t top_groups)
{
    const ng_router_shape shape = {.experts = experts,
                                   .top_k = k,
                                   .n_groups = groups,
                                   .top_groups = top_groups,
                                   .normalize = true,
                                   .route_scale = 1.0f,
                                   .sequences = 1,
                                   .length = 1};
    ng_array l = matrix_of(NG_CARRY_FP32, 1, experts);
    ng_array s = matrix_of(NG_CARRY_FP32, 1, experts);
    ng_array w = matrix_of(NG_CARRY_FP32, 1, k);
    ng_array z = matrix_of(NG_CARRY_FP32, 1, experts);
    choice c = {.nan_rows = 0};
    double balance = 0.0;

    memcpy(l.data, logits, (size_t)experts * sizeof *logits);
    if (bias != NULL)
        memcpy(z.data, bias, (size_t)experts * sizeof *bias);
    ck_assert_int_eq(b->router(b->context, &s, c.expert, &w, c.load,
                               &c.nan_rows, &balance, &l,
                               bias != NULL ? &z : NULL, &shape),
                     NG_OK);
    memcpy(c.weight, w.data, (size_t)k * sizeof *c.weight);
    return c;
}

START_TEST(trap_l24_router_ties)
{
    static const float equal[8] = {0.25f, 0.25f, 0.25f, 0.25f,
                                   0.25f, 0.25f, 0.25f, 0.25f};
    static const float one[4] = {0.5f, 0.9f, 0.5f, 0.5f};
    static const float zeros[4] = {-0.0f, 0.0f, -0.0f, -1.0f};
    choice c = choose(equal, NULL, 8, 2, 1, 1);

    ck_assert_int_eq(c.expert[0], 0);
    ck_assert_int_eq(c.expert[1], 1);
    ck_assert_float_eq(c.weight[0], 0.5f);
    c = choose(one, NULL, 4, 2, 1, 1);
    ck_assert_int_eq(c.expert[0], 1);
    ck_assert_int_eq(c.expert[1], 0);
    c = choose(zeros, NULL, 4, 3, 1, 1);
    ck_assert_int_eq(c.expert[0], 0);
    ck_assert_int_eq(c.expert[1], 1);
    ck_assert_int_eq(c.expert[2], 2);
}
END_TEST

START_TEST(trap_l24_router_nan)
{
    float nan[8], one[8] = {5.0f, 1.0f, 2.0f, 3.0f, 4.0f, 0.0f, 6.0f, 7.0f};
    choice c;

    for (int i = 0; i < 8; i++)
        nan[i] = NAN;
    c = choose(nan, NULL, 8, 8, 1, 1);
    for (int i = 0; i < 8; i++) {
        ck_assert_int_eq(c.expert[i], i); /* distinct, in range */
        ck_assert_float_eq(c.weight[i], 0.0f);
        ck_assert_int_eq(c.load[i], 0);
    }
    ck_assert_int_eq(c.nan_rows, 1);
    /* one NaN makes the row one */
    one[5] = NAN;
    c = choose(one, NULL, 8, 3, 1, 1);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(c.expert[i], i);
        ck_assert_float_eq(c.weight[i], 0.0f);
    }
    ck_assert_int_eq(c.nan_rows, 1);
}
END_TEST

/* Two tokens of a sequence, 4 experts, 2 slots: the first's sigmoids are all 0,
 * and so are its weights; the second's are 1/2. f = (1, 1, 1, 1) from two choices
 * of experts 0 and 1 by each: E / (k L) * 2 = 2, 2, 0, 0. P of the second alone:
 * 1/4 * 1/2. The loss is 0.5 * (2 + 2) / 8, and no gradient is NaN. */
START_TEST(trap_scores_that_are_all_zero)
{
    const ng_router_shape shape = {.experts = 4,
                                   .top_k = 2,
                                   .n_groups = 1,
                                   .top_groups = 1,
                                   .normalize = true,
                                   .route_scale = 1.0f,
                                   .sequences = 1,
                                   .length = 2,
                                   .balance = 0.5f};
    ng_array l = matrix_of(NG_CARRY_FP32, 2, 4);
    ng_array s = matrix_of(NG_CARRY_FP32, 2, 4);
    ng_array w = matrix_of(NG_CARRY_FP32, 2, 2);
    ng_array grad_w = matrix_of(NG_CARRY_FP32, 2, 2);
    ng_array grad_l = matrix_of(NG_CARRY_FP32, 2, 4);
    int32_t expert[4];
    int64_t load[4] = {0}, nan_rows = 0;
    double balance = 0.0;

    for (int i = 0; i < 8; i++)
        ((float *)l.data)[i] = i < 4 ? -1000.0f : 0.0f;
    for (int i = 0; i < 4; i++)
        ((float *)grad_w.data)[i] = 1.0f;
    ck_assert_int_eq(b->router(b->context, &s, expert, &w, load, &nan_rows,
                               &balance, &l, NULL, &shape),
                     NG_OK);
    ck_assert_float_eq(((float *)w.data)[0], 0.0f);
    ck_assert_float_eq(((float *)w.data)[1], 0.0f);
    ck_assert_int_eq(nan_rows, 0);
    ck_assert_int_eq(load[0] + load[1], 4);
    ck_assert_double_eq(balance, 0.25);
    ck_assert_int_eq(b->router_backward(b->context, &grad_l, &grad_w, &s,
                                        expert, &shape, 1.0f),
                     NG_OK);
    for (int i = 0; i < 4; i++)
        ck_assert_float_eq(((float *)grad_l.data)[i], 0.0f);
    for (int i = 4; i < 8; i++)
        ck_assert(isfinite(((float *)grad_l.data)[i]));
}
END_TEST

/* The bias chooses; the weights are the scores without it. */
START_TEST(bias_is_for_the_choice_alone)
{
    static const float logits[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    static const float bias[4] = {0.0f, 0.0f, 0.25f, 0.5f};
    const choice c = choose(logits, bias, 4, 2, 1, 1);

    ck_assert_int_eq(c.expert[0], 3);
    ck_assert_int_eq(c.expert[1], 2);
    ck_assert_float_eq(c.weight[0], 0.5f);
    ck_assert_float_eq(c.weight[1], 0.5f);
}
END_TEST

/* Outside the best groups an expert is no candidate: with all biases below -1
 * every z is negative, and a score of 0 for the others would win. */
START_TEST(groups_outside_are_no_candidates)
{
    static const float logits[6] = {1.0f, 1.0f, 9.0f, -9.0f, 2.0f, 2.0f};
    static const float bias[6] = {-2.0f, -2.0f, -2.0f, -2.0f, -2.0f, -2.0f};
    /* sums of two: about -2.54, -3.0, -2.24 */
    const choice c = choose(logits, bias, 6, 2, 3, 1);

    ck_assert_int_eq(c.expert[0], 4);
    ck_assert_int_eq(c.expert[1], 5);
}
END_TEST

/* Against the order written as a sort, on scores that tie often. */
START_TEST(choice_by_sorting)
{
    enum { E = 12, K = 4, G = 4, TOP = 2, T = 500 };
    const ng_router_shape shape = {.experts = E,
                                   .top_k = K,
                                   .n_groups = G,
                                   .top_groups = TOP,
                                   .normalize = true,
                                   .route_scale = 2.5f};
    ng_array l = matrix_of(NG_CARRY_FP32, T, E), s = l, w, bias;
    static int32_t expert[T * K];
    int64_t load[E] = {0}, nan_rows = 0;

    s = matrix_of(NG_CARRY_FP32, T, E);
    w = matrix_of(NG_CARRY_FP32, T, K);
    bias = matrix_of(NG_CARRY_FP32, 1, E);
    for (int i = 0; i < T * E; i++)
        floats(&l)[i] = (float)(random_word() % 5);
    for (int i = 0; i < E; i++)
        floats(&bias)[i] = (float)(random_word() % 3) * 0.125f;
    ck_assert_int_eq(b->router(b->context, &s, expert, &w, load, &nan_rows,
                               NULL, &l, &bias, &shape),
                     NG_OK);
    for (int t = 0; t < T; t++) {
        const float *score = floats(&s) + t * E;
        float z[E], worth[G], sum = 0.0f;
        bool in[G] = {false}, taken[E] = {false};

        for (int e = 0; e < E; e++)
            z[e] = score[e] + floats(&bias)[e];
        for (int g = 0; g < G; g++) {
            /* the two largest of three */
            const float *run = z + 3 * g;
            float least = run[0];

            for (int i = 1; i < 3; i++)
                least = run[i] < least ? run[i] : least;
            int skip = 0;

            while (run[skip] != least)
                skip++;
            worth[g] = run[skip == 0 ? 1 : 0] + run[skip == 2 ? 1 : 2];
        }
        for (int n = 0; n < TOP; n++) {
            int best = -1;

            for (int g = 0; g < G; g++)
                if (!in[g] && (best < 0 || worth[g] > worth[best]))
                    best = g;
            in[best] = true;
        }
        for (int n = 0; n < K; n++) {
            int best = -1;

            for (int e = 0; e < E; e++)
                if (in[e / 3] && !taken[e] && (best < 0 || z[e] > z[best]))
                    best = e;
            taken[best] = true;
            ck_assert_int_eq(expert[t * K + n], best);
            sum = n == 0 ? score[best] : sum + score[best];
        }
        for (int n = 0; n < K; n++)
            ck_assert_float_eq(floats(&w)[t * K + n],
                               score[expert[t * K + n]] / sum * 2.5f);
    }
}
END_TEST

/* ---- permutation and combine --------------------------------------------- */

START_TEST(permutation_is_stable)
{
    static const int32_t expert[] = {2, 0, 0, 2, 3, 0};
    static const int64_t want_row[] = {3, 0, 1, 4, 5, 2};
    static const int64_t want_source[] = {1, 2, 5, 0, 3, 4};
    static const int64_t want_offsets[] = {0, 3, 3, 5, 6};
    int64_t row[6], source[6], offsets[5];

    ck_assert_int_eq(
        b->permutation(b->context, row, source, offsets, expert, 3, 2, 4),
        NG_OK);
    ck_assert_mem_eq(row, want_row, sizeof row);
    ck_assert_mem_eq(source, want_source, sizeof source);
    ck_assert_mem_eq(offsets, want_offsets, sizeof offsets);
    ck_assert_int_eq(
        b->permutation(b->context, row, source, offsets, expert, 3, 2, 3),
        NG_BAD_VALUE);
}
END_TEST

/* ((1e8 + 1) - 1e8) in slot order, whatever the order of the rows, every time.
 */
START_TEST(trap_l26_combine_order)
{
    static const int64_t row[] = {2, 0, 1};
    ng_array x = matrix_of(NG_CARRY_FP32, 3, 1),
             y = matrix_of(NG_CARRY_FP32, 1, 1);
    ng_array w = matrix_of(NG_CARRY_FP32, 1, 3);

    floats(&x)[2] = 1e8f;
    floats(&x)[0] = 1.0f;
    floats(&x)[1] = -1e8f;
    for (int i = 0; i < 3; i++)
        floats(&w)[i] = 1.0f;
    for (int repeat = 0; repeat < 100; repeat++) {
        ck_assert_int_eq(b->combine(b->context, &y, &x, row, &w, NULL, 3),
                         NG_OK);
        ck_assert_float_eq(floats(&y)[0], 0.0f);
        ck_assert_int_eq(b->combine(b->context, &y, &x, row, NULL, NULL, 3),
                         NG_OK);
        ck_assert_float_eq(floats(&y)[0], 0.0f);
    }
    /* one FMA a slot: (1 + 2^-12)^2 - 1 keeps its 2^-24 */
    floats(&x)[2] = -1.0f;
    floats(&x)[0] = 1.0f + 0x1p-12f;
    floats(&x)[1] = 0.0f;
    floats(&w)[1] = 1.0f + 0x1p-12f;
    ck_assert_int_eq(b->combine(b->context, &y, &x, row, &w, NULL, 3), NG_OK);
    ck_assert_float_eq(floats(&y)[0], 0x1p-11f + 0x1p-24f);
    /* no slot is skipped: 0 times NaN is NaN */
    floats(&x)[1] = NAN;
    floats(&w)[2] = 0.0f;
    ck_assert_int_eq(b->combine(b->context, &y, &x, row, &w, NULL, 3), NG_OK);
    ck_assert_uint_eq(ng_fp32_bits(floats(&y)[0]), NG_FP32_NAN);
}
END_TEST

/* ---- L-25: ranks that send or get nothing -------------------------------- */

static const int64_t counts[4][4] = {
    {2, 1, 0, 1}, {0, 0, 0, 0}, {3, 1, 0, 0}, {0, 2, 0, 2}};

typedef struct trip {
    int64_t arrived;
    bool same;
    ng_status status;
} trip;

/* Every token goes to two experts that are the identity, weights 1/4 and 3/4,
 * by way of the rank that the table says, as BF16. */
static void travel(void *argument, const ng_comm *comm)
{
    enum { H = 3 };
    trip *out = argument;
    const ng_backend *r = ng_backend_reference();
    const int64_t *to = counts[comm->rank];
    uint16_t x[8 * H], rows[16 * H], here[32 * H], back[16 * H], y[8 * H];
    float weights[16];
    int32_t expert[16];
    int64_t row[16], source[16], offsets[5], bytes[2][4];
    int64_t n = 0, arrived = 0;

    for (int q = 0; q < 4; q++)
        for (int64_t i = 0; i < to[q]; i++, n++) {
            expert[2 * n] = expert[2 * n + 1] = q;
            weights[2 * n] = 0.25f;
            weights[2 * n + 1] = 0.75f;
        }
    for (int64_t i = 0; i < n * H; i++)
        x[i] = (uint16_t)(i % 4 == 0 ? 0x8000 /* -0 */
                                     : 0x3F80 + 37 * i + comm->rank);
    for (int q = 0; q < 4; q++) {
        bytes[0][q] = 2 * to[q] * H * 2;
        bytes[1][q] = 2 * counts[q][comm->rank] * H * 2;
        arrived += 2 * counts[q][comm->rank];
    }

    const ng_array of_x = {NG_CARRY_BF16, 1, n, H, 0, x, NULL};
    const ng_array of_rows = {NG_CARRY_BF16, 1, 2 * n, H, 0, rows, NULL};
    const ng_array of_back = {NG_CARRY_BF16, 1, 2 * n, H, 0, back, NULL};
    const ng_array of_y = {NG_CARRY_BF16, 1, n, H, 0, y, NULL};
    const ng_array of_w = {NG_CARRY_FP32, 1, n, 2, 0, weights, NULL};

    out->arrived = arrived;
    out->status =
        r->permutation(r->context, row, source, offsets, expert, n, 2, 4);
    if (out->status == NG_OK)
        out->status = r->gather(r->context, &of_rows, &of_x, source, 2);
    if (out->status == NG_OK)
        out->status =
            comm->exchange(comm->context, here, bytes[1], rows, bytes[0], NULL);
    if (out->status == NG_OK)
        out->status =
            comm->exchange(comm->context, back, bytes[0], here, bytes[1], NULL);
    if (out->status == NG_OK)
        out->status =
            r->combine(r->context, &of_y, &of_back, row, &of_w, NULL, 2);
    out->same = memcmp(x, y, (size_t)n * H * sizeof *x) == 0;
}

START_TEST(trap_l25_empty_ranks)
{
    trip trips[4];
    void *arguments[4] = {&trips[0], &trips[1], &trips[2], &trips[3]};
    static const int64_t arrive[] = {10, 8, 0, 6};

    run_ranks(4, travel, arguments);
    for (int r = 0; r < 4; r++) {
        ck_assert_int_eq(trips[r].status, NG_OK);
        ck_assert_int_eq(trips[r].arrived, arrive[r]);
        ck_assert(trips[r].same);
    }
}
END_TEST

/* ---- L-22: rows past the last offset ------------------------------------- */

START_TEST(trap_l22_rows_past_the_last)
{
    static const int64_t offsets[] = {0, 3, 7};
    const ng_row_groups groups = {{2, offsets}, NULL};
    static const uint32_t poisons[] = {0x7FC00000, 0x43E00000, 0x7F800000};
    ng_array x = random_matrix(10, 40, 1.0), w = random_matrix(2 * 20, 40, 1.0);
    ng_array g = random_matrix(10, 20, 1.0);
    uint8_t first[4][8192];

    w.batch = 2;
    w.rows = 20;

    const ng_array wq = converted(NG_CARRY_FP8_TILE, &w, NULL);

    for (int poison = 0; poison < 3; poison++) {
        ng_array y = matrix_of(NG_CARRY_FP32, 10, 20);
        ng_array grad = array_of(NG_CARRY_FP32, 2, 20, 40, 0);
        ng_array xq, gcol, xcol, h;
        size_t bytes[4];

        for (int64_t i = 7 * 40; i < 10 * 40; i++)
            memcpy(floats(&x) + i, &poisons[poison], 4);
        for (int64_t i = 7 * 20; i < 10 * 20; i++)
            memcpy(floats(&g) + i, &poisons[poison], 4);
        xq = converted(NG_CARRY_FP8, &x, &groups);
        xcol = converted(NG_CARRY_FP8_COL, &x, &groups);
        gcol = converted(NG_CARRY_FP8_COL, &g, &groups);
        ck_assert_int_eq(b->linear(b->context, &y, &xq, &wq, &groups), NG_OK);
        ck_assert_int_eq(
            b->linear_weight(b->context, &grad, &gcol, &xcol, &groups, false),
            NG_OK);
        h = array_of(NG_CARRY_FP8_COL, 1, 10, 20, 2);
        ck_assert_int_eq(b->swiglu(b->context, &h, &x, NULL, &groups, NULL),
                         NG_OK);
        const ng_array *const outs[] = {&y, &grad, &h, &xcol};

        for (int i = 0; i < 4; i++) {
            bytes[i] = (size_t)ng_array_data_bytes(outs[i]);
            ck_assert_uint_le(bytes[i], sizeof first[i]);
            if (poison == 0)
                memcpy(first[i], outs[i]->data, bytes[i]);
            else if (i < 2) /* all of it, the rows past the last as they were */
                ck_assert_mem_eq(outs[i]->data, first[i], bytes[i]);
            else
                for (int64_t c = 0; c < outs[i]->cols; c++)
                    ck_assert_mem_eq((uint8_t *)outs[i]->data + c * 10,
                                     first[i] + c * 10, 10);
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("model, experts");
    TCase *tcase = tcase_create("experts");

    tcase_add_checked_fixture(tcase, begin, fixture_end);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, trap_l24_router_ties);
    tcase_add_test(tcase, trap_l24_router_nan);
    tcase_add_test(tcase, trap_scores_that_are_all_zero);
    tcase_add_test(tcase, bias_is_for_the_choice_alone);
    tcase_add_test(tcase, groups_outside_are_no_candidates);
    tcase_add_test(tcase, choice_by_sorting);
    tcase_add_test(tcase, permutation_is_stable);
    tcase_add_test(tcase, trap_l26_combine_order);
    tcase_add_test(tcase, trap_l25_empty_ranks);
    tcase_add_test(tcase, trap_l22_rows_past_the_last);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
