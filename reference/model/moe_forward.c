/* SPDX-License-Identifier: Apache-2.0
 *
 * A mixture of experts, forward:
 *   n2 = norm(x2);  logits = n2 Wr in FP32;  experts and weights chosen
 *   dispatch  the rows of n2, as the recipe sends them, to their experts' ranks
 *   experts   of each source shard by itself: SwiGLU of each group of rows
 *   combine   their results back, weighted, in slot order
 *   x3 = x2 + shared expert(n2) + combined
 */
#include <stdlib.h>
#include <string.h>

#include "reference/model/moe_parts.h"

ng_array ng_moe_input(ng_pass *p, const ng_layer *layer, const ng_array *x2)
{
    return ng_normalize(p, &layer->ffn_norm, x2);
}

ng_borrowed ng_shared_input(ng_pass *p, const ng_layer *layer,
                            const ng_array *n2)
{
    const ng_own *before = ng_enter(p, layer, NG_SITE_SHARED);
    const ng_borrowed input =
        ng_as(p, n2, layer->recipe->site[NG_SITE_SHARED].store_x);

    p->own = before;
    return input;
}

/* Scores, experts and weights of n2; loads and the balance loss are counted. */
static void route(ng_pass *p, const ng_layer *layer, ng_saved *saved,
                  const ng_array *n2)
{
    ng_model *m = p->model;
    const ng_router_shape shape = ng_router_shape_of(p);
    const bool counting = p->gradients && !p->again;
    ng_array logits = ng_forward(p, &layer->router, n2, NG_CARRY_FP32, NULL);
    int64_t *load = ng_make_integers(p, shape.experts);
    int64_t nan_rows = 0;
    double balance = 0.0;

    saved->a[NG_KEPT_SCORES] =
        ng_make(p, NG_CARRY_FP32, p->rows, shape.experts);
    saved->a[NG_KEPT_ROUTE_WEIGHT] =
        ng_make(p, NG_CARRY_FP32, p->rows, shape.top_k);
    if (p->status == NG_OK) {
        saved->expert =
            p->b->alloc(p->c, p->rows * shape.top_k * (int64_t)sizeof(int32_t));
        if (saved->expert == NULL)
            p->status = NG_NO_MEMORY;
    }
    NG_DO(p, p->b->router(p->c, &saved->a[NG_KEPT_SCORES], saved->expert,
                          &saved->a[NG_KEPT_ROUTE_WEIGHT], load, &nan_rows,
                          &balance, &logits, &layer->bias, &shape));
    if (p->status == NG_OK && counting) {
        for (int64_t e = 0; e < shape.experts; e++)
            m->load[layer->moe_index * shape.experts + e] += load[e];
        m->counted.nan_rows += nan_rows;
        p->numbers->balance += balance * (double)p->balance_scale;
    }
    free(load);
    ng_drop(p, &logits);
}

/* The rows of one source shard through the local experts: gate_up, if it is
 * kept, and y into rows of theirs. */
static void run_experts(ng_pass *p, const ng_layer *layer,
                        const ng_array *arrived, const ng_array *gate_up_kept,
                        const ng_array *y, const ng_row_groups *groups)
{
    const ng_site_recipe *recipe = ng_expert_recipe(layer);
    ng_array gate_up =
        ng_forward(p, &layer->expert_gate_up, arrived, p->act, groups);
    ng_array h =
        ng_make(p, recipe->multiply, arrived->rows, layer->expert_down.inputs);
    ng_array out;

    ng_gate(p, &h, &gate_up, NULL, groups);
    if (gate_up_kept != NULL)
        ng_convert(p, gate_up_kept, &gate_up, NULL);
    ng_drop(p, &gate_up);
    out = ng_forward(p, &layer->expert_down, &h, p->act, groups);
    ng_drop(p, &h);
    ng_convert(p, y, &out, NULL);
    ng_drop(p, &out);
}

/* Everything that arrived: y in the order of arrival. */
static ng_array run_sources(ng_pass *p, const ng_layer *layer, ng_saved *saved)
{
    const ng_model *m = p->model;
    const ng_site_recipe *recipe = ng_expert_recipe(layer);
    const int64_t local = m->last_expert - m->first_expert;
    int64_t *offsets = ng_make_integers(p, local + 1);
    ng_array *kept = &saved->a[NG_KEPT_EXPERT_GATE_UP];
    ng_array y = ng_make(p, recipe->send_y, saved->arrived, m->config.hidden);

    if (p->gradients)
        *kept = ng_make(p, recipe->store_gate_up, saved->arrived,
                        2 * m->config.expert_ffn);
    for (int r = 0; r < m->comm->size && p->status == NG_OK; r++) {
        const ng_arrival from = ng_arrival_of(p, saved, r, offsets);
        const ng_array arrived =
            ng_array_rows(&saved->a[NG_KEPT_ARRIVED], from.first, from.n);
        const ng_array gate_up = ng_array_rows(kept, from.first, from.n);
        const ng_array y_rows = ng_array_rows(&y, from.first, from.n);

        if (from.n > 0)
            run_experts(p, layer, &arrived, p->gradients ? &gate_up : NULL,
                        &y_rows, &from.groups);
    }
    free(offsets);
    return y;
}

/* n2 to the experts; what arrived is kept. */
static void dispatch(ng_pass *p, const ng_layer *layer, ng_saved *saved,
                     const ng_plan *plan, const ng_array *n2)
{
    const ng_model_config *c = &p->model->config;
    const ng_carrier carrier = ng_expert_recipe(layer)->send_x;
    ng_borrowed payload = ng_as(p, n2, carrier);
    ng_array rows = ng_make(p, carrier, p->rows * c->top_k, c->hidden);

    NG_DO(p, p->b->gather(p->c, &rows, &payload.a, plan->source, c->top_k));
    ng_return(p, &payload);
    saved->a[NG_KEPT_ARRIVED] = ng_make(p, carrier, saved->arrived, c->hidden);
    if (p->status == NG_OK)
        ng_exchange_rows(
            p, &saved->a[NG_KEPT_ARRIVED], plan->from, &rows, plan->to,
            p->gradients ? &p->model->counted.sent_dispatch : NULL);
    ng_drop(p, &rows);
}

ng_array ng_moe_forward(ng_pass *p, const ng_layer *layer, ng_saved *saved)
{
    const ng_model_config *c = &p->model->config;
    const ng_site_recipe *recipe = ng_expert_recipe(layer);
    const ng_own *before = ng_enter(p, layer, NG_SITE_EXPERT);
    const ng_array *x2 = &saved->a[NG_KEPT_X2];
    ng_array *n2 = &saved->a[NG_KEPT_N2_ROUTER];
    ng_array sum = {.carrier = NG_CARRY_NONE}, y, back, x3;
    ng_plan plan;

    *n2 = ng_moe_input(p, layer, x2);
    route(p, layer, saved, n2);
    ng_plan_make(p, &plan, saved, true);

    /* The shared expert takes the same payload where formats and kernels agree.
     */
    if (layer->gate_up.parameter >= 0) {
        ng_borrowed shared = ng_shared_input(p, layer, n2);
        const bool same = shared.a.carrier == recipe->send_x
                          && strcmp(layer->recipe->operation[NG_SITE_SHARED],
                                    layer->recipe->operation[NG_SITE_EXPERT])
                                 == 0;
        ng_array f;

        dispatch(p, layer, saved, &plan, same ? &shared.a : n2);
        f = ng_gated_forward(p, layer, NG_SITE_SHARED, saved, &shared.a);
        sum = ng_make(p, p->act, p->rows, c->hidden);
        NG_DO(p, p->b->add(p->c, &sum, x2, &f));
        ng_drop(p, &f);
        if (p->gradients && shared.owned)
            saved->a[NG_KEPT_N2] = shared.a;
        else
            ng_return(p, &shared);
    } else {
        dispatch(p, layer, saved, &plan, n2);
    }

    y = run_sources(p, layer, saved);
    back = ng_make(p, recipe->send_y, p->rows * c->top_k, c->hidden);
    if (p->status == NG_OK)
        ng_exchange_rows(p, &back, plan.to, &y, plan.from,
                         p->gradients ? &p->model->counted.sent_combine : NULL);
    ng_drop(p, &y);
    x3 = ng_make(p, p->act, p->rows, c->hidden);
    NG_DO(p, p->b->combine(p->c, &x3, &back, plan.row,
                           &saved->a[NG_KEPT_ROUTE_WEIGHT],
                           sum.carrier != NG_CARRY_NONE ? &sum : x2, c->top_k));
    ng_drop(p, &back);
    ng_drop(p, &sum);
    ng_plan_free(p, &plan);
    p->own = before;
    return x3;
}
