/* SPDX-License-Identifier: Apache-2.0
 *
 * What the backend's mixture of experts refuses, and the ends of what it takes:
 * groups of one expert, rows without weight.
 */
#include "conformance/checks/backend_refusals.h"

static ng_router_shape router_shape(void)
{
    return (ng_router_shape){.experts = 4,
                             .top_k = 2,
                             .n_groups = 2,
                             .top_groups = 1,
                             .normalize = true,
                             .route_scale = 1.0f,
                             .sequences = 2,
                             .length = 2,
                             .balance = 0.5f};
}

/* scores, weight from logits, bias. */
static void good_router(void)
{
    OUTPUTS(fp32(4, 4), fp32(4, 2));
    c.in[0] = numbers(4, 4);
    c.in[1] = numbers(1, 4);
    c.router = router_shape();
}

static ng_status call_router(void)
{
    return b->router(b->context, &c.out[0], c.choice, &c.out[1], c.load,
                     &c.nan_rows, &c.sum, &c.in[0], &c.in[1], &c.router);
}

/* grad_logits from grad_weight, scores. */
static void good_router_backward(void)
{
    OUTPUTS(fp32(4, 4));
    c.in[0] = numbers(4, 2);
    c.in[1] = numbers(4, 4);
    for (int i = 0; i < 8; i++)
        c.choice[i] = i % 2;
    c.router = router_shape();
}

static ng_status call_router_backward(void)
{
    return b->router_backward(b->context, &c.out[0], &c.in[0], &c.in[1],
                              c.choice, &c.router, 1.0f);
}

START_TEST(routers)
{
    static const operation forward = {"router", good_router, call_router};
    static const operation backward = {"router_backward", good_router_backward,
                                       call_router_backward};
    static const operation *const both[] = {&forward, &backward};

    for (int o = 0; o < 2; o++) {
        TAKES(both[o]);
        SHAPES(both[o], out, 2 - o);
        SHAPES(both[o], in, 2);
        REFUSES(both[o], NG_BAD_SHAPE, c.router.experts = 0);
        REFUSES(both[o], NG_BAD_SHAPE, c.router.experts = INT64_C(1) << 32);
        REFUSES(both[o], NG_BAD_SHAPE, c.router.top_k = 0);
        REFUSES(both[o], NG_BAD_SHAPE, c.router.top_k = 3); /* candidates: 2 */
        REFUSES(both[o], NG_BAD_SHAPE, c.router.n_groups = 0);
        REFUSES(both[o], NG_BAD_SHAPE, c.router.n_groups = 3);
        REFUSES(both[o], NG_BAD_SHAPE, c.router.top_groups = 0);
        REFUSES(both[o], NG_BAD_SHAPE, c.router.top_groups = 3);
        REFUSES(both[o], NG_BAD_SHAPE, c.router.length = 0);
        REFUSES(both[o], NG_BAD_SHAPE, c.router.sequences = 3);
        CARRIERS(both[o], out, 2 - o, NG_CARRY_BF16);
        CARRIERS(both[o], in, 2, NG_CARRY_BF16);
    }
}
END_TEST

/* Groups of one expert are worth its z; a row without weight has no gradient
 * through the weights; a NaN row counts in no load, and takes no part in the
 * balance loss but as one of the tokens. */
START_TEST(router_ends)
{
    static const float logits[4] = {-200.0f, 9.0f, -200.0f, -200.0f};

    start(&(operation){"router", good_router, call_router});
    c.router.n_groups = 4;
    c.router.top_groups = 2;
    c.router.sequences = 1;
    c.router.length = 1;
    c.in[0].rows = c.out[0].rows = c.out[1].rows = 1;
    memcpy(c.in[0].data, logits, sizeof logits);
    memset(c.in[1].data, 0, 4 * sizeof(float));
    c.load[0] = c.load[1] = c.nan_rows = 0;
    c.sum = 0.0;
    ck_assert_int_eq(call_router(), NG_OK);
    ck_assert_int_eq(c.choice[0], 1);
    ck_assert_int_eq(c.choice[1], 0); /* of equals the first */
    ck_assert(c.load[0] == 1 && c.load[1] == 1 && c.nan_rows == 0);

    /* softmax leaves 0 to what the bias chooses: weights 0, gradients 0 */
    c.router.balance = 0.0f;
    c.router.softmax = true;
    c.router.n_groups = c.router.top_groups = 1;
    floats(&c.in[1])[2] = floats(&c.in[1])[3] = 5.0f;
    ck_assert_int_eq(call_router(), NG_OK);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(c.choice[i], 2 + i);
        ck_assert_float_eq(floats(&c.out[1])[i], 0.0f);
    }

    const ng_array grad = fp32(1, 4), g = numbers(1, 2);

    ck_assert_int_eq(b->router_backward(b->context, &grad, &g, &c.out[0],
                                        c.choice, &c.router, 1.0f),
                     NG_OK);
    for (int e = 0; e < 4; e++)
        ck_assert_float_eq(floats(&grad)[e], 0.0f);

    /* two tokens, of which the second is a NaN row: f of the two chosen experts
     * is E / (S L) = 4 / (2 2) = 1, P half a token's; alpha 1/2 */
    start(&(operation){"router", good_router, call_router});
    c.router.n_groups = c.router.top_groups = c.router.sequences = 1;
    c.in[0].rows = c.out[0].rows = c.out[1].rows = 2;
    memset(c.in[0].data, 0, 4 * sizeof(float));
    for (int e = 4; e < 8; e++)
        floats(&c.in[0])[e] = NAN;
    memset(c.in[1].data, 0, 4 * sizeof(float));
    memset(c.load, 0, sizeof c.load);
    c.nan_rows = 0;
    c.sum = 0.0;
    ck_assert_int_eq(call_router(), NG_OK);
    ck_assert_int_eq(c.nan_rows, 1);
    ck_assert(c.load[0] == 1 && c.load[1] == 1 && c.load[2] == 0);
    ck_assert_double_eq(c.sum, 0.5 * (1.0 * 0.125 + 1.0 * 0.125));
}
END_TEST

static void good_permutation(void)
{
    c.tokens = 4;
    c.top_k = 2;
    c.experts = 4;
    c.choice[3] = 3;
}

static ng_status call_permutation(void)
{
    return b->permutation(b->context, c.row, c.source, c.starts, c.choice,
                          c.tokens, c.top_k, c.experts);
}

static void good_gather(void)
{
    OUTPUTS(matrix_of(NG_CARRY_MXFP4, 4, 8));
    c.in[0] = numbers(2, 8);
    c.in[0] = converted(NG_CARRY_MXFP4, &c.in[0], NULL);
    c.divisor = 2;
    c.index[3] = 3;
}

static ng_status call_gather(void)
{
    return b->gather(b->context, &c.out[0], &c.in[0], c.index, c.divisor);
}

/* y [4, 8] from 8 rows, weight, add. */
static void good_combine(void)
{
    OUTPUTS(fp32(4, 8));
    c.in[0] = numbers(8, 8);
    c.in[1] = numbers(4, 2);
    c.in[2] = numbers(4, 8);
    c.top_k = 2;
    c.index[5] = 7;
}

static ng_status call_combine(void)
{
    return b->combine(b->context, &c.out[0], &c.in[0], c.index, &c.in[1],
                      &c.in[2], c.top_k);
}

START_TEST(moved_rows)
{
    static const operation permutation = {"permutation", good_permutation,
                                          call_permutation};
    static const operation gather = {"gather", good_gather, call_gather};
    static const operation combine = {"combine", good_combine, call_combine};

    TAKES(&permutation);
    REFUSES(&permutation, NG_BAD_SHAPE, c.tokens = -1);
    REFUSES(&permutation, NG_BAD_SHAPE, c.top_k = 0);
    REFUSES(&permutation, NG_BAD_SHAPE, c.experts = 0);
    REFUSES(&permutation, NG_BAD_VALUE, c.choice[7] = 4);
    REFUSES(&permutation, NG_BAD_VALUE, c.choice[7] = -1);
    TAKES(&gather);
    REFUSES(&gather, NG_BAD_SHAPE, c.out[0].cols++);
    REFUSES(&gather, NG_BAD_SHAPE, c.divisor = 0);
    REFUSES(&gather, NG_BAD_VALUE, c.index[0] = 4);
    REFUSES(&gather, NG_BAD_VALUE, c.index[0] = -1);
    REFUSES(&gather, NG_BAD_DTYPE, c.in[0].carrier = NG_CARRY_FP8);
    REFUSES(&gather, NG_BAD_DTYPE,
            c.in[0].carrier = c.out[0].carrier = NG_CARRY_FP8_COL);
    TAKES(&combine);
    REFUSES(&combine, NG_BAD_SHAPE, c.top_k = 0);
    REFUSES(&combine, NG_BAD_SHAPE, c.in[0].cols++);
    REFUSES(&combine, NG_BAD_SHAPE, c.in[1].rows--);
    REFUSES(&combine, NG_BAD_SHAPE, c.in[2].rows--);
    REFUSES(&combine, NG_BAD_SHAPE, c.in[2].cols++);
    REFUSES(&combine, NG_BAD_VALUE, c.index[5] = 8);
    REFUSES(&combine, NG_BAD_VALUE, c.index[0] = -1);
    CARRIERS(&combine, out, 1, NG_CARRY_FP8);
    CARRIERS(&combine, in, 3, NG_CARRY_FP8_COL);
    REFUSES(&combine, NG_BAD_DTYPE, c.in[1].carrier = NG_CARRY_BF16);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("moe");

    tcase_add_test(tcase, routers);
    tcase_add_test(tcase, router_ends);
    tcase_add_test(tcase, moved_rows);
    return run_refusals(tcase);
}
