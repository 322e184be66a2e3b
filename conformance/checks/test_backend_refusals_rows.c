/* SPDX-License-Identifier: Apache-2.0
 *
 * What the backend's operations on rows refuse: embedding, norm, columns,
 * rotation, and the joining of MLA; and nothing to rotate.
 */
#include "conformance/checks/backend_refusals.h"

static void good_embedding(void)
{
    OUTPUTS(fp32(4, 8));
    c.in[0] = numbers(5, 8);
    c.choice[1] = 4;
}

static ng_status call_embedding(void)
{
    return b->embedding(b->context, &c.out[0], c.choice, &c.in[0]);
}

static void good_embedding_backward(void)
{
    OUTPUTS(fp32(5, 8));
    c.in[0] = numbers(4, 8);
    c.choice[1] = 4;
}

static ng_status call_embedding_backward(void)
{
    return b->embedding_backward(b->context, &c.out[0], c.choice, &c.in[0]);
}

START_TEST(embeddings)
{
    static const operation forward = {"embedding", good_embedding,
                                      call_embedding};
    static const operation backward = {
        "embedding_backward", good_embedding_backward, call_embedding_backward};

    TAKES(&forward);
    REFUSES(&forward, NG_BAD_SHAPE, c.out[0].cols++);
    REFUSES(&forward, NG_BAD_SHAPE, c.in[0].cols--);
    REFUSES(&forward, NG_BAD_VALUE, c.choice[3] = 5);
    REFUSES(&forward, NG_BAD_VALUE, c.choice[3] = -1);
    CARRIERS(&forward, out, 1, NG_CARRY_FP8);
    CARRIERS(&forward, in, 1, NG_CARRY_FP8_COL);
    TAKES(&backward);
    REFUSES(&backward, NG_BAD_SHAPE, c.out[0].cols++);
    REFUSES(&backward, NG_BAD_SHAPE, c.in[0].cols--);
    REFUSES(&backward, NG_BAD_VALUE, c.choice[3] = 5);
    REFUSES(&backward, NG_BAD_VALUE, c.choice[0] = INT32_MIN);
    CARRIERS(&backward, out, 1, NG_CARRY_BF16);
    CARRIERS(&backward, in, 1, NG_CARRY_MXFP4);
}
END_TEST

static void good_rmsnorm(void)
{
    OUTPUTS(fp32(4, 8));
    c.in[0] = numbers(4, 8);
    c.in[1] = numbers(1, 8);
}

static ng_status call_rmsnorm(void)
{
    return b->rmsnorm(b->context, &c.out[0], &c.in[0], &c.in[1], 1e-6f);
}

/* grad_x, grad_w from grad_y, x, w, grad_add. */
static void good_rmsnorm_backward(void)
{
    OUTPUTS(fp32(4, 8), fp32(1, 8));
    for (int i = 0; i < 4; i++)
        c.in[i] = numbers(i == 2 ? 1 : 4, 8);
}

static ng_status call_rmsnorm_backward(void)
{
    return b->rmsnorm_backward(b->context, &c.out[0], &c.out[1], &c.in[0],
                               &c.in[1], &c.in[2], &c.in[3], 1e-6f);
}

START_TEST(norms)
{
    static const operation forward = {"rmsnorm", good_rmsnorm, call_rmsnorm};
    static const operation backward = {
        "rmsnorm_backward", good_rmsnorm_backward, call_rmsnorm_backward};

    TAKES(&forward);
    SHAPES(&forward, out, 1);
    SHAPES(&forward, in, 2);
    CARRIERS(&forward, out, 1, NG_CARRY_FP8);
    CARRIERS(&forward, in, 2, NG_CARRY_MXFP4);
    REFUSES(&forward, NG_BAD_DTYPE, c.in[1].carrier = NG_CARRY_BF16);
    TAKES(&backward);
    SHAPES(&backward, out, 2);
    SHAPES(&backward, in, 4);
    CARRIERS(&backward, out, 2, NG_CARRY_FP8);
    CARRIERS(&backward, in, 4, NG_CARRY_MXFP4);
    REFUSES(&backward, NG_BAD_DTYPE, c.out[1].carrier = NG_CARRY_BF16);
}
END_TEST

static void good_add(void)
{
    OUTPUTS(fp32(4, 8));
    c.in[0] = numbers(4, 8);
    c.in[1] = numbers(4, 8);
}

static ng_status call_add(void)
{
    return b->add(b->context, &c.out[0], &c.in[0], &c.in[1]);
}

static void good_take(void)
{
    OUTPUTS(fp32(4, 3));
    c.in[0] = numbers(4, 8);
    c.first = 5;
}

static ng_status call_take(void)
{
    return b->take_columns(b->context, &c.out[0], &c.in[0], c.first);
}

static void good_put(void)
{
    OUTPUTS(fp32(4, 8));
    c.in[0] = numbers(4, 3);
    c.first = 5;
}

static ng_status call_put(void)
{
    return b->put_columns(b->context, &c.out[0], &c.in[0], c.first);
}

START_TEST(columns)
{
    static const operation add = {"add", good_add, call_add};
    static const operation take = {"take_columns", good_take, call_take};
    static const operation put = {"put_columns", good_put, call_put};
    static const operation *const moves[] = {&take, &put};

    TAKES(&add);
    SHAPES(&add, out, 1);
    SHAPES(&add, in, 2);
    CARRIERS(&add, out, 1, NG_CARRY_MXFP4);
    CARRIERS(&add, in, 2, NG_CARRY_FP8);
    for (int m = 0; m < 2; m++) {
        TAKES(moves[m]);
        REFUSES(moves[m], NG_BAD_SHAPE, c.first++);
        REFUSES(moves[m], NG_BAD_SHAPE, c.first = -1);
        REFUSES(moves[m], NG_BAD_SHAPE, c.out[0].rows--);
        REFUSES(moves[m], NG_BAD_SHAPE, c.in[0].rows++);
        CARRIERS(moves[m], out, 1, NG_CARRY_FP8);
        CARRIERS(moves[m], in, 1, NG_CARRY_FP8_TILE);
    }
}
END_TEST

static void good_rope(void)
{
    OUTPUTS(fp32(4, 8));
    c.heads = c.width = c.length = 2;
}

static ng_status call_rope(void)
{
    return b->rope(b->context, &c.out[0], c.heads, c.width, c.length, 1e4,
                   false);
}

START_TEST(rotation)
{
    static const operation rope = {"rope", good_rope, call_rope};

    TAKES(&rope);
    REFUSES(&rope, NG_BAD_SHAPE, c.heads = 0);
    REFUSES(&rope, NG_BAD_SHAPE, c.heads = 3);
    REFUSES(&rope, NG_BAD_SHAPE, c.width = -2);
    REFUSES(&rope, NG_BAD_SHAPE, c.width = 3);
    REFUSES(&rope, NG_BAD_SHAPE, c.width = 6); /* of 4 that a head has */
    REFUSES(&rope, NG_BAD_SHAPE, c.length = 0);
    CARRIERS(&rope, out, 1, NG_CARRY_FP8);
    /* nothing to rotate: right, and nothing done */
    start(&rope);
    c.width = 0;
    ck_assert_int_eq(call_rope(), NG_OK);
    ck_assert(untouched());
}
END_TEST

/* k, v from kv [4, 2 (3 + 2)], k_rope [4, 1]. */
static void good_join(void)
{
    OUTPUTS(fp32(4, 8), fp32(4, 4));
    c.in[0] = numbers(4, 10);
    c.in[1] = numbers(4, 1);
    c.heads = 2;
    c.width = 3;
}

static ng_status call_join(void)
{
    return b->mla_join(b->context, &c.out[0], &c.out[1], &c.in[0], &c.in[1],
                       c.heads, c.width);
}

static void good_join_backward(void)
{
    OUTPUTS(fp32(4, 10), fp32(4, 1));
    c.in[0] = numbers(4, 8);
    c.in[1] = numbers(4, 4);
    c.heads = 2;
    c.width = 3;
}

static ng_status call_join_backward(void)
{
    return b->mla_join_backward(b->context, &c.out[0], &c.out[1], &c.in[0],
                                &c.in[1], c.heads, c.width);
}

START_TEST(joins)
{
    static const operation forward = {"mla_join", good_join, call_join};
    static const operation backward = {"mla_join_backward", good_join_backward,
                                       call_join_backward};
    static const operation *const both[] = {&forward, &backward};

    for (int o = 0; o < 2; o++) {
        TAKES(both[o]);
        SHAPES(both[o], out, 2);
        SHAPES(both[o], in, 2);
        REFUSES(both[o], NG_BAD_SHAPE, c.heads = 0);
        REFUSES(both[o], NG_BAD_SHAPE, c.heads = 3);
        REFUSES(both[o], NG_BAD_SHAPE, c.width = -1);
        REFUSES(both[o], NG_BAD_SHAPE, c.width = 2);
        /* k fits, but v is a column wider a head than kv has room for */
        REFUSES(both[o], NG_BAD_SHAPE,
                (o == 0 ? &c.out[1] : &c.in[1])->cols += 2);
        CARRIERS(both[o], out, 2, NG_CARRY_FP8);
        CARRIERS(both[o], in, 2, NG_CARRY_MXFP4);
    }
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("rows");

    tcase_add_test(tcase, embeddings);
    tcase_add_test(tcase, norms);
    tcase_add_test(tcase, columns);
    tcase_add_test(tcase, rotation);
    tcase_add_test(tcase, joins);
    return run_refusals(tcase);
}
