/* SPDX-License-Identifier: Apache-2.0
 *
 * What layer_*.c and moe_*.c keep and send, counted. A test holds these counts
 * to what the model measures, byte for byte.
 */
#include "reference/model/model_bytes.h"

int64_t ng_row_bytes(ng_carrier carrier, int64_t cols)
{
    return ng_carrier_row_bytes(carrier, cols)
           + ng_carrier_row_scale_bytes(carrier, cols);
}

static ng_kept_shape attention_shape(const ng_model_config *c, ng_carrier act,
                                     ng_carrier stored, ng_kept kept)
{
    const bool mla = c->attention == NG_ATTENTION_MLA;
    const int64_t qk = mla ? c->nope_dim + c->rope_dim : c->head_dim;
    const int64_t kv_heads = mla ? c->heads : c->kv_heads;
    const int64_t v = mla ? c->v_dim : c->head_dim;

    switch (kept) {
    case NG_KEPT_N1:
        return (ng_kept_shape){1, c->hidden, stored};
    case NG_KEPT_CQ:
        return (ng_kept_shape){1, mla ? c->q_rank : 0, act};
    case NG_KEPT_CQN:
        return (ng_kept_shape){1, mla ? c->q_rank : 0, stored};
    case NG_KEPT_CKV:
        return (ng_kept_shape){1, mla ? c->kv_rank : 0, act};
    case NG_KEPT_CKVN:
        return (ng_kept_shape){1, mla ? c->kv_rank : 0, stored};
    case NG_KEPT_K_ROPE:
        return (ng_kept_shape){1, mla ? c->rope_dim : 0, act};
    case NG_KEPT_Q:
        return (ng_kept_shape){1, c->heads * qk, act};
    case NG_KEPT_K:
        return (ng_kept_shape){1, kv_heads * qk, act};
    case NG_KEPT_V:
        return (ng_kept_shape){1, kv_heads * v, act};
    case NG_KEPT_Y:
        return (ng_kept_shape){1, c->heads * v, act};
    default:
        return (ng_kept_shape){1, c->heads, NG_CARRY_FP32}; /* lse */
    }
}

static ng_kept_shape ffn_shape(const ng_model_config *c,
                               const ng_layer_recipe *recipe, ng_kept kept)
{
    const ng_site_recipe *site = &recipe->site[NG_SITE_FFN];

    switch (kept) {
    case NG_KEPT_N2:
        return (ng_kept_shape){1, c->hidden, site->store_x};
    case NG_KEPT_GATE_UP:
        return (ng_kept_shape){1, 2 * c->ffn, site->store_gate_up};
    case NG_KEPT_H:
        return (ng_kept_shape){1, c->ffn, site->store_h};
    default:
        return (ng_kept_shape){1, 0, NG_CARRY_NONE};
    }
}

static ng_kept_shape moe_shape(const ng_model_config *c,
                               const ng_layer_recipe *recipe, ng_carrier act,
                               ng_kept kept)
{
    const ng_site_recipe *shared = &recipe->site[NG_SITE_SHARED];
    const ng_site_recipe *expert = &recipe->site[NG_SITE_EXPERT];
    const int64_t width = c->shared_experts * c->expert_ffn;

    switch (kept) {
    case NG_KEPT_N2: /* where it is not the router's array */
        return (ng_kept_shape){
            1, width > 0 && shared->store_x != act ? c->hidden : 0,
            shared->store_x};
    case NG_KEPT_GATE_UP:
        return (ng_kept_shape){1, 2 * width, shared->store_gate_up};
    case NG_KEPT_H:
        return (ng_kept_shape){1, width, shared->store_h};
    case NG_KEPT_N2_ROUTER:
        return (ng_kept_shape){1, c->hidden, act};
    case NG_KEPT_SCORES:
        return (ng_kept_shape){1, c->experts, NG_CARRY_FP32};
    case NG_KEPT_ROUTE_WEIGHT:
        return (ng_kept_shape){1, c->top_k, NG_CARRY_FP32};
    case NG_KEPT_ARRIVED:
        return (ng_kept_shape){c->top_k, c->hidden, expert->store_x};
    default: /* gate_up of the experts */
        return (ng_kept_shape){c->top_k, 2 * c->expert_ffn,
                               expert->store_gate_up};
    }
}

ng_kept_shape ng_kept_shape_of(const ng_model_config *c,
                               const ng_recipe *recipe, int64_t layer,
                               ng_kept kept)
{
    const ng_layer_recipe *of_layer = ng_recipe_layer(recipe, layer);
    const ng_carrier act = recipe->residual;

    if (kept == NG_KEPT_X || kept == NG_KEPT_X2)
        return (ng_kept_shape){1, c->hidden, act};
    if (kept < NG_KEPT_X2)
        return attention_shape(c, act,
                               of_layer->site[NG_SITE_ATTENTION].store_x, kept);
    return ng_model_is_moe(c, layer) ? moe_shape(c, of_layer, act, kept)
                                     : ffn_shape(c, of_layer, kept);
}

/* Plain attention keeps q, k and v under mla-up, as layer.c has it. */
static bool keeps(const ng_model_config *c, ng_recompute recompute,
                  ng_kept kept)
{
    if (recompute == NG_RECOMPUTE_MLA_UP && c->attention != NG_ATTENTION_MLA)
        return true;
    return ng_keeps(recompute, kept);
}

bool ng_is_kept(const ng_model_config *c, const ng_recipe *recipe,
                int64_t layer, ng_kept kept)
{
    return keeps(c, ng_recipe_layer(recipe, layer)->recompute, kept);
}

int64_t ng_layer_bytes(const ng_model_config *c, const ng_recipe *recipe,
                       int64_t layer, ng_kept_kind kind, ng_recompute recompute)
{
    const ng_recompute said = ng_recipe_layer(recipe, layer)->recompute;
    const ng_recompute as = recompute == NG_N_RECOMPUTES ? said : recompute;
    const bool moe = ng_model_is_moe(c, layer);
    int64_t bytes = 0;

    for (int i = 0; i < NG_N_KEPT; i++) {
        const ng_kept kept = (ng_kept)i;
        const ng_kept_shape shape = ng_kept_shape_of(c, recipe, layer, kept);

        if (ng_kept_kind_of(kept, moe) == kind && keeps(c, as, kept))
            bytes += shape.rows * ng_row_bytes(shape.carrier, shape.cols);
    }
    /* the numbers of the chosen experts */
    if (kind == NG_KEPT_FOR_MOE && moe && as != NG_RECOMPUTE_FULL)
        bytes += c->top_k * (int64_t)sizeof(int32_t);
    return bytes;
}

int64_t ng_sent_forward(const ng_model_config *c, const ng_recipe *recipe,
                        int64_t layer)
{
    const ng_layer_recipe *of_layer = ng_recipe_layer(recipe, layer);
    const ng_site_recipe *site = &of_layer->site[NG_SITE_EXPERT];
    const int64_t times = of_layer->recompute == NG_RECOMPUTE_FULL ? 2 : 1;

    return times * c->top_k
           * (ng_row_bytes(site->send_x, c->hidden)
              + ng_row_bytes(site->send_y, c->hidden));
}

/* With each row its weight, and back the weight's gradient. */
int64_t ng_sent_backward(const ng_model_config *c, const ng_recipe *recipe,
                         int64_t layer)
{
    const ng_site_recipe *site =
        &ng_recipe_layer(recipe, layer)->site[NG_SITE_EXPERT];

    return c->top_k
           * (ng_row_bytes(site->send_grad_y, c->hidden)
              + ng_row_bytes(site->send_grad_x, c->hidden)
              + 2 * (int64_t)sizeof(float));
}
