/* SPDX-License-Identifier: Apache-2.0
 *
 * The attention of a layer, forward and backward, in the steps
 *   norm      n1 = norm(x)
 *   down      MLA: cq = n1 Wqd, [ckv | k_rope] = n1 Wkvd; k_rope rotated
 *   norms     MLA: cqn = norm(cq), ckvn = norm(ckv)
 *   up        MLA: q = cqn Wqu, rotated; [k_nope | v] = ckvn Wkvu; k joined
 *             GQA: [q | k | v] = n1 W, q and k rotated
 *   attend    y, lse
 *   out       x2 = x + y Wo
 * A step whose results were not kept is done again in backward.
 */
#include <math.h>

#include "reference/model/model_parts.h"

static ng_carrier stored(const ng_layer *layer)
{
    return layer->recipe->site[NG_SITE_ATTENTION].store_x;
}

static bool is_mla(const ng_pass *p)
{
    return p->model->config.attention == NG_ATTENTION_MLA;
}

static ng_attention_shape shape_of(const ng_pass *p)
{
    const ng_model_config *c = &p->model->config;
    const bool mla = is_mla(p);
    const int64_t qk = mla ? c->nope_dim + c->rope_dim : c->head_dim;

    return (ng_attention_shape){
        .sequences = p->sequences,
        .length = p->length,
        .heads = c->heads,
        .kv_heads = mla ? c->heads : c->kv_heads,
        .qk = qk,
        .v = mla ? c->v_dim : c->head_dim,
        .scale = (float)(1.0 / sqrt((double)qk)),
    };
}

/* A rotation; rows that are not there have no length either. */
static void rotate(ng_pass *p, const ng_array *x, int64_t heads, int64_t width,
                   bool inverse)
{
    if (p->rows > 0)
        NG_DO(p, p->b->rope(p->c, x, heads, width, p->length,
                            p->model->config.rope_base, inverse));
}

static ng_array take(ng_pass *p, const ng_array *x, int64_t first, int64_t cols)
{
    ng_array y = ng_make(p, p->act, x->rows, cols);

    NG_DO(p, p->b->take_columns(p->c, &y, x, first));
    return y;
}

/* norm(x) as a product takes it. */
static ng_array normed(ng_pass *p, const ng_layer *layer, const ng_norm *norm,
                       const ng_array *x)
{
    ng_array y = ng_normalize(p, norm, x);

    ng_become(p, &y, stored(layer));
    return y;
}

static void down(ng_pass *p, const ng_layer *layer, ng_array *a)
{
    const ng_model_config *c = &p->model->config;
    ng_array both =
        ng_forward(p, &layer->kv_down, &a[NG_KEPT_N1], p->act, NULL);

    a[NG_KEPT_CKV] = take(p, &both, 0, c->kv_rank);
    a[NG_KEPT_K_ROPE] = take(p, &both, c->kv_rank, c->rope_dim);
    ng_drop(p, &both);
    rotate(p, &a[NG_KEPT_K_ROPE], 1, c->rope_dim, false);
    if (c->q_rank > 0)
        a[NG_KEPT_CQ] =
            ng_forward(p, &layer->q_down, &a[NG_KEPT_N1], p->act, NULL);
}

static void norms(ng_pass *p, const ng_layer *layer, ng_array *a)
{
    a[NG_KEPT_CKVN] = normed(p, layer, &layer->kv_norm, &a[NG_KEPT_CKV]);
    if (p->model->config.q_rank > 0)
        a[NG_KEPT_CQN] = normed(p, layer, &layer->q_norm, &a[NG_KEPT_CQ]);
}

static void mla_up(ng_pass *p, const ng_layer *layer, ng_array *a)
{
    const ng_model_config *c = &p->model->config;
    const int64_t qk = c->nope_dim + c->rope_dim;
    ng_array kv = ng_forward(p, &layer->kv_up, &a[NG_KEPT_CKVN], p->act, NULL);

    a[NG_KEPT_Q] =
        c->q_rank > 0
            ? ng_forward(p, &layer->q_up, &a[NG_KEPT_CQN], p->act, NULL)
            : ng_forward(p, &layer->q, &a[NG_KEPT_N1], p->act, NULL);
    rotate(p, &a[NG_KEPT_Q], c->heads, c->rope_dim, false);
    a[NG_KEPT_K] = ng_make(p, p->act, p->rows, c->heads * qk);
    a[NG_KEPT_V] = ng_make(p, p->act, p->rows, c->heads * c->v_dim);
    NG_DO(p, p->b->mla_join(p->c, &a[NG_KEPT_K], &a[NG_KEPT_V], &kv,
                            &a[NG_KEPT_K_ROPE], c->heads, c->nope_dim));
    ng_drop(p, &kv);
}

static void gqa_up(ng_pass *p, const ng_layer *layer, ng_array *a)
{
    const ng_model_config *c = &p->model->config;
    const int64_t of_q = c->heads * c->head_dim;
    const int64_t of_k = c->kv_heads * c->head_dim;
    ng_array all = ng_forward(p, &layer->qkv, &a[NG_KEPT_N1], p->act, NULL);

    a[NG_KEPT_Q] = take(p, &all, 0, of_q);
    a[NG_KEPT_K] = take(p, &all, of_q, of_k);
    a[NG_KEPT_V] = take(p, &all, of_q + of_k, of_k);
    ng_drop(p, &all);
    rotate(p, &a[NG_KEPT_Q], c->heads, c->head_dim, false);
    rotate(p, &a[NG_KEPT_K], c->kv_heads, c->head_dim, false);
}

static bool missing(const ng_array *x)
{
    return x->carrier == NG_CARRY_NONE;
}

/* Everything up to q, k and v that is not there. */
static void prepare(ng_pass *p, const ng_layer *layer, ng_array *a)
{
    if (missing(&a[NG_KEPT_N1]))
        a[NG_KEPT_N1] = normed(p, layer, &layer->attention_norm, &a[NG_KEPT_X]);
    if (!is_mla(p)) {
        if (missing(&a[NG_KEPT_Q]))
            gqa_up(p, layer, a);
        return;
    }
    if (missing(&a[NG_KEPT_CKV]))
        down(p, layer, a);
    if (missing(&a[NG_KEPT_CKVN]))
        norms(p, layer, a);
    if (missing(&a[NG_KEPT_Q]))
        mla_up(p, layer, a);
}

void ng_attention_forward(ng_pass *p, const ng_layer *layer, ng_saved *saved)
{
    const ng_own *before = ng_enter(p, layer, NG_SITE_ATTENTION);
    const ng_attention_shape shape = shape_of(p);
    ng_array *a = saved->a, out;
    ng_borrowed y;

    prepare(p, layer, a);
    a[NG_KEPT_Y] = ng_make(p, p->act, p->rows, shape.heads * shape.v);
    a[NG_KEPT_LSE] = ng_make(p, NG_CARRY_FP32, p->rows, shape.heads);
    NG_DO(p,
          p->b->attention(p->c, &a[NG_KEPT_Y], &a[NG_KEPT_LSE], &a[NG_KEPT_Q],
                          &a[NG_KEPT_K], &a[NG_KEPT_V], &shape));
    y = ng_as(p, &a[NG_KEPT_Y], stored(layer));
    out = ng_forward(p, &layer->out, &y.a, p->act, NULL);
    ng_return(p, &y);
    a[NG_KEPT_X2] = ng_make(p, p->act, p->rows, out.cols);
    NG_DO(p, p->b->add(p->c, &a[NG_KEPT_X2], &a[NG_KEPT_X], &out));
    ng_drop(p, &out);
    p->own = before;
}

/* Add the gradient by n1 of a linear layer whose output's gradient is grad_y to
 * *sum (FP32; made if it is none), and the weights' to their own. */
static void through(ng_pass *p, const ng_linear *linear, const ng_array *grad_y,
                    const ng_array *x, ng_array *sum)
{
    ng_array grad = ng_backward(p, linear, grad_y, NG_CARRY_FP32, NULL);

    ng_weight_gradient(p, linear, grad_y, x, NULL, p->shared_leaf);
    if (missing(sum)) {
        *sum = grad;
        return;
    }
    NG_DO(p, p->b->add(p->c, sum, sum, &grad));
    ng_drop(p, &grad);
}

static ng_array mla_backward(ng_pass *p, const ng_layer *layer, ng_array *a,
                             ng_array *gq, ng_array *gk, ng_array *gv)
{
    const ng_model_config *c = &p->model->config;
    ng_array sum = {.carrier = NG_CARRY_NONE};
    ng_array of_norm = {.carrier = NG_CARRY_NONE};
    ng_array gkv =
        ng_make(p, p->act, p->rows, c->heads * (c->nope_dim + c->v_dim));
    ng_array g_rope = ng_make(p, p->act, p->rows, c->rope_dim);
    ng_array both = ng_make(p, p->act, p->rows, c->kv_rank + c->rope_dim);
    ng_array g;

    NG_DO(p, p->b->mla_join_backward(p->c, &gkv, &g_rope, gk, gv, c->heads,
                                     c->nope_dim));
    rotate(p, &g_rope, 1, c->rope_dim, true);
    rotate(p, gq, c->heads, c->rope_dim, true);

    through(p, &layer->kv_up, &gkv, &a[NG_KEPT_CKVN], &of_norm);
    g = ng_normalize_backward(p, &layer->kv_norm, &of_norm, &a[NG_KEPT_CKV],
                              NULL, p->act);
    NG_DO(p, p->b->put_columns(p->c, &both, &g, 0));
    NG_DO(p, p->b->put_columns(p->c, &both, &g_rope, c->kv_rank));
    ng_drop(p, &g);
    ng_drop(p, &of_norm);
    through(p, &layer->kv_down, &both, &a[NG_KEPT_N1], &sum);

    if (c->q_rank > 0) {
        through(p, &layer->q_up, gq, &a[NG_KEPT_CQN], &of_norm);
        g = ng_normalize_backward(p, &layer->q_norm, &of_norm, &a[NG_KEPT_CQ],
                                  NULL, p->act);
        through(p, &layer->q_down, &g, &a[NG_KEPT_N1], &sum);
        ng_drop(p, &g);
        ng_drop(p, &of_norm);
    } else {
        through(p, &layer->q, gq, &a[NG_KEPT_N1], &sum);
    }
    ng_drop(p, &both);
    ng_drop(p, &g_rope);
    ng_drop(p, &gkv);
    return sum;
}

static ng_array gqa_backward(ng_pass *p, const ng_layer *layer, ng_array *a,
                             ng_array *gq, ng_array *gk, ng_array *gv)
{
    const ng_model_config *c = &p->model->config;
    ng_array sum = {.carrier = NG_CARRY_NONE};
    ng_array all = ng_make(p, p->act, p->rows, layer->qkv.outputs);

    rotate(p, gq, c->heads, c->head_dim, true);
    rotate(p, gk, c->kv_heads, c->head_dim, true);
    NG_DO(p, p->b->put_columns(p->c, &all, gq, 0));
    NG_DO(p, p->b->put_columns(p->c, &all, gk, gq->cols));
    NG_DO(p, p->b->put_columns(p->c, &all, gv, gq->cols + gk->cols));
    through(p, &layer->qkv, &all, &a[NG_KEPT_N1], &sum);
    ng_drop(p, &all);
    return sum;
}

ng_array ng_attention_backward(ng_pass *p, const ng_layer *layer,
                               ng_saved *saved, ng_array *grad_x2)
{
    const ng_own *before = ng_enter(p, layer, NG_SITE_ATTENTION);
    const ng_attention_shape shape = shape_of(p);
    ng_array *a = saved->a, gy = {.carrier = NG_CARRY_NONE};
    ng_array gq, gk, gv, sum, grad_x;
    ng_borrowed y;

    prepare(p, layer, a);
    y = ng_as(p, &a[NG_KEPT_Y], stored(layer));
    gy = ng_backward(p, &layer->out, grad_x2, p->act, NULL);
    ng_weight_gradient(p, &layer->out, grad_x2, &y.a, NULL, p->shared_leaf);
    ng_return(p, &y);

    gq = ng_make(p, p->act, p->rows, a[NG_KEPT_Q].cols);
    gk = ng_make(p, p->act, p->rows, a[NG_KEPT_K].cols);
    gv = ng_make(p, p->act, p->rows, a[NG_KEPT_V].cols);
    NG_DO(p, p->b->attention_backward(p->c, &gq, &gk, &gv, &gy, &a[NG_KEPT_Y],
                                      &a[NG_KEPT_LSE], &a[NG_KEPT_Q],
                                      &a[NG_KEPT_K], &a[NG_KEPT_V], &shape));
    ng_drop(p, &gy);
    sum = is_mla(p) ? mla_backward(p, layer, a, &gq, &gk, &gv)
                    : gqa_backward(p, layer, a, &gq, &gk, &gv);
    ng_drop(p, &gq);
    ng_drop(p, &gk);
    ng_drop(p, &gv);
    grad_x = ng_normalize_backward(p, &layer->attention_norm, &sum,
                                   &a[NG_KEPT_X], grad_x2, p->act);
    ng_drop(p, &sum);
    ng_drop(p, grad_x2);
    p->own = before;
    return grad_x;
}
