/* SPDX-License-Identifier: Apache-2.0
 *
 * A mixture of experts, backward. The gradient of a token goes to its experts
 * as it is, once quantised, with the weight beside it: with y = h Wd,
 *   grad_h = grad Wd^T (unweighted);  grad_weight = grad_h . h
 *   grad_Wd = grad^T (weight h);      grad_gate_up from weight * grad_h
 * so that y itself is never kept, and nothing general is multiplied into codes
 * whose scales are powers of two.
 */
#include <stdlib.h>

#include "reference/model/moe_parts.h"

/* What travels with, and comes back from, the rows of one source shard. */
typedef struct traffic {
    ng_array grad_y, weight;      /* came */
    ng_array grad_x, grad_weight; /* go back */
} traffic;

static traffic rows_of(const traffic *all, int64_t first, int64_t n)
{
    return (traffic){ng_array_rows(&all->grad_y, first, n),
                     ng_array_rows(&all->weight, first, n),
                     ng_array_rows(&all->grad_x, first, n),
                     ng_array_rows(&all->grad_weight, first, n)};
}

/* weight * h again, as the weight gradient takes it. */
static ng_array gate_again(ng_pass *p, const ng_layer *layer,
                           const ng_array *gate_up, const ng_array *weight,
                           const ng_row_groups *groups)
{
    const ng_carrier carrier = layer->expert_down.multiply_grad;
    const int64_t width = layer->expert_down.inputs;
    ng_array h = carrier == NG_CARRY_FP8
                     ? ng_make_col(p, gate_up->rows, width, groups)
                     : ng_make(p, carrier, gate_up->rows, width);

    ng_gate(p, &h, gate_up, weight, groups);
    return h;
}

static void experts_backward(ng_pass *p, const ng_layer *layer,
                             const traffic *t, const ng_array *arrived,
                             const ng_array *gate_up,
                             const ng_row_groups *groups, float *leaf)
{
    ng_array grad_gate_up = ng_make(p, p->act, arrived->rows, gate_up->cols);
    ng_array grad_h =
        ng_backward(p, &layer->expert_down, &t->grad_y, p->act, groups);
    ng_array h = gate_again(p, layer, gate_up, &t->weight, groups);
    ng_array grad_x;

    ng_weight_gradient(p, &layer->expert_down, &t->grad_y, &h, groups, leaf);
    ng_drop(p, &h);
    ng_gate_backward(p, &grad_gate_up, &t->grad_weight, &grad_h, gate_up,
                     &t->weight);
    ng_drop(p, &grad_h);
    grad_x =
        ng_backward(p, &layer->expert_gate_up, &grad_gate_up, p->act, groups);
    ng_convert(p, &t->grad_x, &grad_x, NULL);
    ng_drop(p, &grad_x);
    ng_weight_gradient(p, &layer->expert_gate_up, &grad_gate_up, arrived,
                       groups, leaf);
    ng_drop(p, &grad_gate_up);
}

static void sources_backward(ng_pass *p, const ng_layer *layer, ng_saved *saved,
                             const traffic *all)
{
    const ng_model *m = p->model;
    int64_t *offsets =
        ng_make_integers(p, m->last_expert - m->first_expert + 1);

    for (int r = 0; r < m->comm->size && p->status == NG_OK; r++) {
        const ng_arrival from = ng_arrival_of(p, saved, r, offsets);
        const traffic t = rows_of(all, from.first, from.n);
        const ng_array arrived =
            ng_array_rows(&saved->a[NG_KEPT_ARRIVED], from.first, from.n);
        const ng_array gate_up = ng_array_rows(
            &saved->a[NG_KEPT_EXPERT_GATE_UP], from.first, from.n);

        if (from.n > 0)
            experts_backward(p, layer, &t, &arrived, &gate_up, &from.groups,
                             p->local_leaves[r]);
    }
    free(offsets);
}

/* A [T, S] array of the router as one number a row. */
static ng_array as_pairs(const ng_array *x)
{
    ng_array pairs = *x;

    pairs.rows = x->rows * x->cols;
    pairs.cols = 1;
    return pairs;
}

/* The gradient by what was dispatched, FP32, and by the weights, [T, S]. */
static ng_array routed_backward(ng_pass *p, const ng_layer *layer,
                                ng_saved *saved, const ng_array *grad,
                                ng_array *grad_weight)
{
    const ng_model_config *c = &p->model->config;
    const ng_site_recipe *recipe = ng_expert_recipe(layer);
    const int64_t pairs = p->rows * c->top_k, arrived = saved->arrived;
    const ng_carrier of_y = recipe->send_grad_y, of_x = recipe->send_grad_x;
    const ng_array weights = as_pairs(&saved->a[NG_KEPT_ROUTE_WEIGHT]);
    int64_t *sent_y = &p->model->counted.sent_grad_y;
    int64_t *sent_x = &p->model->counted.sent_grad_x;
    ng_borrowed payload = ng_as(p, grad, of_y);
    ng_array rows = ng_make(p, of_y, pairs, c->hidden);
    ng_array weight_rows = ng_make(p, NG_CARRY_FP32, pairs, 1);
    traffic all = {ng_make(p, of_y, arrived, c->hidden),
                   ng_make(p, NG_CARRY_FP32, arrived, 1),
                   ng_make(p, of_x, arrived, c->hidden),
                   ng_make(p, NG_CARRY_FP32, arrived, 1)};
    ng_array grad_n = ng_make(p, NG_CARRY_FP32, p->rows, c->hidden), out;
    ng_array back, weight_back;
    ng_plan plan;

    ng_plan_make(p, &plan, saved, false);
    NG_DO(p, p->b->gather(p->c, &rows, &payload.a, plan.source, c->top_k));
    NG_DO(p, p->b->gather(p->c, &weight_rows, &weights, plan.source, 1));
    ng_return(p, &payload);
    if (p->status == NG_OK) {
        ng_exchange_rows(p, &all.grad_y, plan.from, &rows, plan.to, sent_y);
        ng_exchange_rows(p, &all.weight, plan.from, &weight_rows, plan.to,
                         sent_y);
    }
    ng_drop(p, &rows);
    ng_drop(p, &weight_rows);

    sources_backward(p, layer, saved, &all);

    back = ng_make(p, of_x, pairs, c->hidden);
    weight_back = ng_make(p, NG_CARRY_FP32, pairs, 1);
    if (p->status == NG_OK) {
        ng_exchange_rows(p, &back, plan.to, &all.grad_x, plan.from, sent_x);
        ng_exchange_rows(p, &weight_back, plan.to, &all.grad_weight, plan.from,
                         sent_x);
    }
    NG_DO(p,
          p->b->combine(p->c, &grad_n, &back, plan.row, NULL, NULL, c->top_k));
    *grad_weight = ng_make(p, NG_CARRY_FP32, p->rows, c->top_k);
    out = as_pairs(grad_weight);
    NG_DO(p, p->b->gather(p->c, &out, &weight_back, plan.row, 1));
    ng_drop(p, &back);
    ng_drop(p, &weight_back);
    ng_drop(p, &all.grad_y);
    ng_drop(p, &all.weight);
    ng_drop(p, &all.grad_x);
    ng_drop(p, &all.grad_weight);
    ng_plan_free(p, &plan);
    return grad_n;
}

/* *sum += the gradient by n2 through the router. */
static void router_backward(ng_pass *p, const ng_layer *layer, ng_saved *saved,
                            const ng_array *grad_weight, const ng_array *n2,
                            ng_array *sum)
{
    const ng_router_shape shape = ng_router_shape_of(p);
    ng_array grad_logits = ng_make(p, NG_CARRY_FP32, p->rows, shape.experts);
    ng_array grad;

    NG_DO(p, p->b->router_backward(p->c, &grad_logits, grad_weight,
                                   &saved->a[NG_KEPT_SCORES], saved->expert,
                                   &shape, p->balance_scale));
    grad = ng_backward(p, &layer->router, &grad_logits, NG_CARRY_FP32, NULL);
    ng_weight_gradient(p, &layer->router, &grad_logits, n2, NULL,
                       p->shared_leaf);
    NG_DO(p, p->b->add(p->c, sum, sum, &grad));
    ng_drop(p, &grad);
    ng_drop(p, &grad_logits);
}

ng_array ng_moe_backward(ng_pass *p, const ng_layer *layer, ng_saved *saved,
                         ng_array *grad_x3)
{
    const ng_own *before = ng_enter(p, layer, NG_SITE_EXPERT);
    const ng_array *x2 = &saved->a[NG_KEPT_X2];
    ng_array *n2 = &saved->a[NG_KEPT_N2_ROUTER];
    ng_array grad_weight, sum, grad_x2;

    if (n2->carrier == NG_CARRY_NONE)
        *n2 = ng_moe_input(p, layer, x2);
    sum = routed_backward(p, layer, saved, grad_x3, &grad_weight);
    router_backward(p, layer, saved, &grad_weight, n2, &sum);
    ng_drop(p, &grad_weight);
    if (layer->gate_up.parameter >= 0) {
        const ng_array *kept = &saved->a[NG_KEPT_N2];
        ng_borrowed shared = ng_shared_input(
            p, layer, kept->carrier != NG_CARRY_NONE ? kept : n2);
        ng_array grad = ng_gated_backward(p, layer, NG_SITE_SHARED, saved,
                                          &shared.a, grad_x3);

        NG_DO(p, p->b->add(p->c, &sum, &sum, &grad));
        ng_drop(p, &grad);
        ng_return(p, &shared);
    }
    grad_x2 =
        ng_normalize_backward(p, &layer->ffn_norm, &sum, x2, grad_x3, p->act);
    ng_drop(p, &sum);
    ng_drop(p, grad_x3);
    p->own = before;
    return grad_x2;
}
