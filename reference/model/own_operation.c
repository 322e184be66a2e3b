/* SPDX-License-Identifier: Apache-2.0
 *
 * The calls of a site follow from its formats: what layer_attention.c,
 * layer_ffn.c, moe_*.c and head.c do, in one list. test_model_own.c holds the
 * list to the calls that a step makes.
 */
#include "reference/model/own_operation.h"

#include <string.h>

enum { FP32 = 1 << NG_CARRY_FP32, BF16 = 1 << NG_CARRY_BF16 };
enum { FP8 = 1 << NG_CARRY_FP8, COL = 1 << NG_CARRY_FP8_COL };
enum { TILE = 1 << NG_CARRY_FP8_TILE, MXFP4 = 1 << NG_CARRY_MXFP4 };
enum { NUMBERS = FP32 | BF16 };

static const ng_own_operation operations[] = {
    {"quantize_mxfp4", NG_OWN_CONVERT, NUMBERS, MXFP4},
    {"quantize_fp8_row", NG_OWN_CONVERT, NUMBERS, FP8},
    {"quantize_fp8_col", NG_OWN_CONVERT, NUMBERS, COL},
    {"quantize_fp8_tile", NG_OWN_CONVERT, NUMBERS, TILE},
    {"dequantize_mxfp4", NG_OWN_CONVERT, MXFP4, NUMBERS},
    {"dequantize_fp8_row", NG_OWN_CONVERT, FP8, NUMBERS},
    {"mxfp4_to_fp8_row", NG_OWN_CONVERT, MXFP4, FP8},
    {"mxfp4_to_fp8_col", NG_OWN_CONVERT, MXFP4, COL},
    {"fp8_row_to_fp8_col", NG_OWN_CONVERT, FP8, COL},
    {"fp8_row_to_mxfp4", NG_OWN_CONVERT, FP8, MXFP4},
    {"transpose_fp8_tile", NG_OWN_TRANSPOSE, TILE, TILE},
    {"grouped_gemm_fprop", NG_OWN_LINEAR, FP8, NUMBERS},
    {"grouped_gemm_bf16_fprop", NG_OWN_LINEAR, BF16, NUMBERS},
    {"grouped_gemm_wgrad", NG_OWN_WEIGHT, COL, FP32},
    {"grouped_gemm_bf16_wgrad", NG_OWN_WEIGHT, BF16, FP32},
    {"swiglu", NG_OWN_SWIGLU, BF16, NUMBERS},
    {"swiglu_mxfp4", NG_OWN_SWIGLU, BF16, MXFP4},
    {"swiglu_fp8_row", NG_OWN_SWIGLU, BF16, FP8},
    {"swiglu_backward", NG_OWN_SWIGLU_BACKWARD, BF16, NUMBERS},
};
enum { N_OPERATIONS = sizeof operations / sizeof *operations };

const ng_own_operation *ng_own_operation_find(const char *name)
{
    for (int i = 0; i < N_OPERATIONS; i++)
        if (strcmp(operations[i].name, name) == 0)
            return &operations[i];
    return NULL;
}

bool ng_own_operation_is(const ng_own_operation *operation, ng_own_call call,
                         ng_carrier from, ng_carrier to)
{
    return operation->call == call && (operation->from >> from & 1) != 0
           && (operation->to >> to & 1) != 0;
}

/* ---- the calls of a site ------------------------------------------------- */

typedef struct search {
    const ng_own_operation *operation;
    const ng_site_recipe *recipe;
    ng_carrier act;
    ng_recompute recompute;
    bool found;
} search;

static void look(search *s, ng_own_call call, ng_carrier from, ng_carrier to)
{
    s->found |= ng_own_operation_is(s->operation, call, from, to)
                && (call != NG_OWN_CONVERT || from != to);
}

static void convert(search *s, ng_carrier from, ng_carrier to)
{
    look(s, NG_OWN_CONVERT, from, to);
}

static void load(search *s, ng_carrier multiply)
{
    convert(s, NG_CARRY_FP32,
            multiply == NG_CARRY_FP8 ? NG_CARRY_FP8_TILE : multiply);
}

static void weights(search *s)
{
    load(s, s->recipe->multiply);
    load(s, s->recipe->multiply_grad);
    if (s->recipe->multiply_grad == NG_CARRY_FP8)
        look(s, NG_OWN_TRANSPOSE, NG_CARRY_FP8_TILE, NG_CARRY_FP8_TILE);
}

/* x through a linear layer. */
static void forward(search *s, ng_carrier x, ng_carrier out)
{
    convert(s, x, s->recipe->multiply);
    look(s, NG_OWN_LINEAR, s->recipe->multiply, out);
}

/* The gradient by x; by the weights, of FP8 from columns. */
static void backward(search *s, ng_carrier grad, ng_carrier out)
{
    convert(s, grad, s->recipe->multiply_grad);
    if (s->recipe->multiply_grad == NG_CARRY_FP8)
        look(s, NG_OWN_LINEAR, NG_CARRY_FP8, out);
}

static ng_carrier of_weight_gradient(const search *s)
{
    return s->recipe->multiply_grad == NG_CARRY_FP8 ? NG_CARRY_FP8_COL
                                                    : s->recipe->multiply_grad;
}

static void weight_gradient(search *s, ng_carrier grad, ng_carrier x)
{
    const ng_carrier operand = of_weight_gradient(s);

    convert(s, grad, operand);
    convert(s, x, operand);
    look(s, NG_OWN_WEIGHT, operand, NG_CARRY_FP32);
}

/* All three of layers whose input is kept as x. */
static void linear(search *s, ng_carrier x, ng_carrier out, ng_carrier grad)
{
    convert(s, s->act, x);
    forward(s, x, out);
    backward(s, grad, NG_CARRY_FP32);
    weight_gradient(s, grad, x);
}

static void attention(search *s)
{
    linear(s, s->recipe->store_x, s->act, s->act);
    backward(s, s->act, s->act); /* by what the attention gave */
}

/* h as it is kept, or made again from what is kept of gate_up. */
static void gated(search *s)
{
    const ng_site_recipe *r = s->recipe;
    const bool stored = r->store_h != NG_CARRY_NONE;
    const ng_carrier h = stored ? r->store_h : r->multiply;

    linear(s, r->store_x, s->act, s->act);
    look(s, NG_OWN_SWIGLU, s->act, h);
    forward(s, h, s->act);
    convert(s, s->act, r->store_gate_up);
    backward(s, s->act, s->act);
    if (stored && s->recompute != NG_RECOMPUTE_NORM_SWIGLU)
        weight_gradient(s, s->act, h);
    else
        look(s, NG_OWN_SWIGLU, r->store_gate_up, of_weight_gradient(s));
    if (s->act == r->store_gate_up)
        look(s, NG_OWN_SWIGLU_BACKWARD, s->act, s->act);
}

/* In backward SwiGLU has the weights of the router in it. */
static void expert(search *s)
{
    const ng_site_recipe *r = s->recipe;

    linear(s, r->send_x, s->act, s->act);
    look(s, NG_OWN_SWIGLU, s->act, r->multiply);
    convert(s, s->act, r->store_gate_up);
    convert(s, s->act, r->send_y);
    convert(s, s->act, r->send_grad_y);
    backward(s, r->send_grad_y, s->act);
    weight_gradient(s, r->send_grad_y, of_weight_gradient(s));
    backward(s, s->act, s->act);
    convert(s, s->act, r->send_grad_x);
}

/* MTP's projection, and (of all layers) the head itself. */
static void head(search *s, bool all)
{
    linear(s, s->recipe->store_x, s->act, s->act);
    backward(s, s->act, s->act);
    if (all)
        linear(s, s->recipe->store_x, NG_CARRY_FP32, NG_CARRY_FP32);
}

bool ng_own_operation_fits(const ng_own_operation *operation,
                           const ng_own_place *place)
{
    search s = {operation, &place->recipe->site[place->site], place->residual,
                place->recipe->recompute, false};

    if (operation == NULL)
        return false;
    weights(&s);
    switch (place->site) {
    case NG_SITE_ATTENTION:
        attention(&s);
        break;
    case NG_SITE_EXPERT:
        expert(&s);
        break;
    case NG_SITE_HEAD:
        head(&s, place->all);
        break;
    default:
        gated(&s);
    }
    return s.found;
}

void ng_own_operations_that_fit(char text[NG_OWN_MAX_LIST],
                                const ng_own_place *place)
{
    size_t n = 0;

    text[0] = '\0';
    for (int i = 0; i < N_OPERATIONS; i++) {
        const size_t length = strlen(operations[i].name);

        if (!ng_own_operation_fits(&operations[i], place)
            || n + length + 3 > NG_OWN_MAX_LIST)
            continue;
        memcpy(text + n, n > 0 ? ", " : "", n > 0 ? 2 : 0);
        n += n > 0 ? 2 : 0;
        memcpy(text + n, operations[i].name, length + 1);
        n += length;
    }
}
