/* SPDX-License-Identifier: Apache-2.0
 *
 * What the backend's products refuse: attention, linear layers, and what stands
 * between them, the changes of carrier and SwiGLU.
 */
#include "conformance/checks/backend_refusals.h"

/* ---- attention ----------------------------------------------------------- */

/* y, lse from q, k, v: two heads that share a key. */
static void good_attention(void)
{
    OUTPUTS(fp32(4, 4), fp32(4, 2));
    c.in[0] = numbers(4, 6);
    c.in[1] = numbers(4, 3);
    c.in[2] = numbers(4, 2);
    c.attention = (ng_attention_shape){2, 2, 2, 1, 3, 2, 1.0f};
}

static ng_status call_attention(void)
{
    return b->attention(b->context, &c.out[0], &c.out[1], &c.in[0], &c.in[1],
                        &c.in[2], &c.attention);
}

/* grad_q, grad_k, grad_v from q, k, v, grad_y, y, lse. */
static void good_attention_backward(void)
{
    good_attention();
    ck_assert_int_eq(call_attention(), NG_OK);
    c.in[3] = numbers(4, 4);
    c.in[4] = c.out[0];
    c.in[5] = c.out[1];
    OUTPUTS(fp32(4, 6), fp32(4, 3), fp32(4, 2));
}

static ng_status call_attention_backward(void)
{
    return b->attention_backward(b->context, &c.out[0], &c.out[1], &c.out[2],
                                 &c.in[3], &c.in[4], &c.in[5], &c.in[0],
                                 &c.in[1], &c.in[2], &c.attention);
}

START_TEST(attentions)
{
    static const operation forward = {"attention", good_attention,
                                      call_attention};
    static const operation backward = {
        "attention_backward", good_attention_backward, call_attention_backward};
    static const operation *const both[] = {&forward, &backward};

    for (int o = 0; o < 2; o++) {
        TAKES(both[o]);
        SHAPES(both[o], out, 2 + o);
        SHAPES(both[o], in, 3 + 3 * o);
        REFUSES(both[o], NG_BAD_SHAPE, c.attention.sequences = -2);
        REFUSES(both[o], NG_BAD_SHAPE, c.attention.length = -2);
        REFUSES(both[o], NG_BAD_SHAPE, c.attention.heads = 0);
        REFUSES(both[o], NG_BAD_SHAPE, c.attention.kv_heads = 0);
        REFUSES(both[o], NG_BAD_SHAPE, c.attention.kv_heads = 3);
        CARRIERS(both[o], out, 2 + o, NG_CARRY_FP8);
        CARRIERS(both[o], in, 3 + 3 * o, NG_CARRY_MXFP4);
    }
    REFUSES(&forward, NG_BAD_DTYPE, c.out[1].carrier = NG_CARRY_BF16);
    REFUSES(&backward, NG_BAD_DTYPE, c.in[5].carrier = NG_CARRY_BF16);
}
END_TEST

/* ---- linear layers: two groups, of 1 and 3 rows -------------------------- */

static void grouped(void)
{
    c.offsets[1] = 1;
    c.offsets[2] = 4;
    c.groups = (ng_row_groups){{2, c.offsets}, NULL};
}

static ng_array stacked(int64_t rows, int64_t cols)
{
    ng_array a = numbers(2 * rows, cols);

    a.batch = 2;
    a.rows = rows;
    return a;
}

static void good_linear(void)
{
    OUTPUTS(fp32(4, 3));
    c.in[0] = numbers(4, 8);
    c.in[1] = stacked(3, 8);
    grouped();
}

static ng_status call_linear(void)
{
    return b->linear(b->context, &c.out[0], &c.in[0], &c.in[1], &c.groups);
}

static void good_linear_backward(void)
{
    OUTPUTS(fp32(4, 8));
    c.in[0] = numbers(4, 3);
    c.in[1] = stacked(3, 8);
    grouped();
}

static ng_status call_linear_backward(void)
{
    return b->linear_backward(b->context, &c.out[0], &c.in[0], &c.in[1], NULL,
                              &c.groups);
}

static void good_linear_weight(void)
{
    OUTPUTS(array_of(NG_CARRY_FP32, 2, 3, 8, 0));
    c.in[0] = numbers(4, 3);
    c.in[1] = numbers(4, 8);
    grouped();
}

static ng_status call_linear_weight(void)
{
    return b->linear_weight(b->context, &c.out[0], &c.in[0], &c.in[1],
                            &c.groups, false);
}

START_TEST(products)
{
    static const operation forward = {"linear", good_linear, call_linear};
    static const operation backward = {"linear_backward", good_linear_backward,
                                       call_linear_backward};
    static const operation weight = {"linear_weight", good_linear_weight,
                                     call_linear_weight};
    static const operation *const all[] = {&forward, &backward, &weight};

    for (int o = 0; o < 3; o++) {
        TAKES(all[o]);
        SHAPES(all[o], out, 1);
        SHAPES(all[o], in, 2);
        REFUSES(all[o], NG_BAD_SHAPE,
                (o < 2 ? &c.in[1] : &c.out[0])->batch = 1);
        REFUSES(all[o], NG_BAD_SHAPE, c.offsets[2] = 5);
        REFUSES(all[o], NG_BAD_SHAPE, c.offsets[0] = 1);
        REFUSES(all[o], NG_BAD_SHAPE, c.offsets[1] = 5);
        REFUSES(all[o], NG_BAD_SHAPE, c.groups.host.n_groups = 1);
        CARRIERS(all[o], out, 1, NG_CARRY_FP8);
        CARRIERS(all[o], in, 2, NG_CARRY_MXFP4);
    }
    REFUSES(&forward, NG_BAD_DTYPE, c.in[1].carrier = NG_CARRY_BF16);
    REFUSES(&forward, NG_BAD_DTYPE, c.in[0].carrier = NG_CARRY_FP8);
    REFUSES(&backward, NG_BAD_DTYPE, c.in[1].carrier = NG_CARRY_BF16);
    REFUSES(&backward, NG_BAD_POINTER, c.in[0].carrier = NG_CARRY_FP8);
    REFUSES(&weight, NG_BAD_DTYPE, c.out[0].carrier = NG_CARRY_BF16);
    REFUSES(&weight, NG_BAD_DTYPE, c.in[1].carrier = NG_CARRY_FP8_COL);
}
END_TEST

/* ---- carriers ------------------------------------------------------------ */

static void good_convert(void)
{
    OUTPUTS(matrix_of(NG_CARRY_FP8, 4, 8));
    c.in[0] = numbers(4, 8);
    grouped();
}

static ng_status call_convert(void)
{
    return b->convert(b->context, &c.out[0], &c.in[0],
                      c.groups.host.offsets != NULL ? &c.groups : NULL, NULL);
}

static void good_transpose(void)
{
    OUTPUTS(fp32(8, 4));
    c.in[0] = numbers(4, 8);
}

static ng_status call_transpose(void)
{
    return b->transpose(b->context, &c.out[0], &c.in[0]);
}

/* To the col form, of which two groups need two blocks. */
static void good_col(void)
{
    good_convert();
    OUTPUTS(array_of(NG_CARRY_FP8_COL, 1, 4, 8, 2));
}

START_TEST(conversions)
{
    static const operation convert = {"convert", good_convert, call_convert};
    static const operation col = {"convert to col", good_col, call_convert};
    static const operation transpose = {"transpose", good_transpose,
                                        call_transpose};

    TAKES(&convert);
    SHAPES(&convert, out, 1);
    SHAPES(&convert, in, 1);
    REFUSES(&convert, NG_BAD_SHAPE, c.in[0].batch = 2);
    /* a batch has no groups */
    REFUSES(&convert, NG_BAD_SHAPE, c.in[0].batch = c.out[0].batch = 2);
    CARRIERS(&convert, out, 1, NG_CARRY_NONE);
    CARRIERS(&convert, in, 1, NG_CARRY_FP8_COL);
    CARRIERS(&convert, in, 1, NG_CARRY_FP8_TILE);
    REFUSES(&convert, NG_BAD_DTYPE, c.out[0].carrier = NG_CARRY_FP8_TILE;
            c.in[0].carrier = NG_CARRY_MXFP4);
    REFUSES(&convert, NG_BAD_DTYPE, c.out[0].carrier = NG_CARRY_FP8_COL;
            c.in[0].carrier = NG_CARRY_FP8_COL);
    TAKES(&col);
    REFUSES(&col, NG_BAD_SHAPE, c.out[0].blocks = 1);
    REFUSES(&col, NG_BAD_SHAPE, c.out[0].batch = c.in[0].batch = 2;
            c.groups.host.offsets = NULL);
    TAKES(&transpose);
    SHAPES(&transpose, out, 1);
    SHAPES(&transpose, in, 1);
    REFUSES(&transpose, NG_BAD_SHAPE, c.in[0].batch = 2);
    REFUSES(&transpose, NG_BAD_DTYPE, c.in[0].carrier = NG_CARRY_BF16);
    REFUSES(&transpose, NG_BAD_DTYPE,
            c.in[0].carrier = c.out[0].carrier = NG_CARRY_FP8);
}
END_TEST

/* ---- SwiGLU -------------------------------------------------------------- */

static void good_swiglu(void)
{
    OUTPUTS(fp32(4, 4));
    c.in[0] = numbers(4, 8);
    c.in[1] = numbers(4, 1);
}

static ng_status call_swiglu(void)
{
    return b->swiglu(b->context, &c.out[0], &c.in[0], &c.in[1], NULL, NULL);
}

static void good_swiglu_col(void)
{
    good_swiglu();
    OUTPUTS(array_of(NG_CARRY_FP8_COL, 1, 4, 4, 1));
}

/* grad_gate_up, grad_weight from grad_h, gate_up, weight. */
static void good_swiglu_backward(void)
{
    OUTPUTS(fp32(4, 8), fp32(4, 1));
    c.in[0] = numbers(4, 4);
    c.in[1] = numbers(4, 8);
    c.in[2] = numbers(4, 1);
}

static ng_status call_swiglu_backward(void)
{
    return b->swiglu_backward(b->context, &c.out[0], &c.out[1], &c.in[0],
                              &c.in[1], &c.in[2]);
}

START_TEST(gates)
{
    static const operation forward = {"swiglu", good_swiglu, call_swiglu};
    static const operation col = {"swiglu to col", good_swiglu_col,
                                  call_swiglu};
    static const operation backward = {"swiglu_backward", good_swiglu_backward,
                                       call_swiglu_backward};

    TAKES(&forward);
    SHAPES(&forward, out, 1);
    SHAPES(&forward, in, 2);
    CARRIERS(&forward, out, 1, NG_CARRY_FP8_TILE);
    CARRIERS(&forward, in, 2, NG_CARRY_FP8_COL);
    REFUSES(&forward, NG_BAD_DTYPE, c.in[1].carrier = NG_CARRY_BF16);
    TAKES(&col);
    REFUSES(&col, NG_BAD_SHAPE, c.out[0].blocks = 0);
    TAKES(&backward);
    SHAPES(&backward, out, 2);
    SHAPES(&backward, in, 3);
    CARRIERS(&backward, out, 2, NG_CARRY_FP8);
    CARRIERS(&backward, in, 3, NG_CARRY_FP8_COL);
    REFUSES(&backward, NG_BAD_DTYPE, c.out[1].carrier = NG_CARRY_BF16);
    REFUSES(&backward, NG_BAD_DTYPE, c.in[2].carrier = NG_CARRY_BF16);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("products");

    tcase_add_test(tcase, attentions);
    tcase_add_test(tcase, products);
    tcase_add_test(tcase, conversions);
    tcase_add_test(tcase, gates);
    return run_refusals(tcase);
}
