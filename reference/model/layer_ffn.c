/* SPDX-License-Identifier: Apache-2.0
 *
 * A SwiGLU, as a layer's dense FFN or as the shared expert of a mixture:
 *   [gate | up] = n Wgu;  h = silu(gate) * up;  f = h Wd
 * Forward gates what the product gave; backward what was stored of it.
 */
#include "reference/model/model_parts.h"

ng_array ng_gated_forward(ng_pass *p, const ng_layer *layer, ng_site site,
                          ng_saved *saved, const ng_array *n)
{
    const ng_site_recipe *recipe = &layer->recipe->site[site];
    const ng_own *before = ng_enter(p, layer, site);
    const ng_carrier of_h =
        recipe->store_h != NG_CARRY_NONE ? recipe->store_h : recipe->multiply;
    ng_array gate_up = ng_forward(p, &layer->gate_up, n, p->act, NULL);
    ng_array h = ng_make(p, of_h, n->rows, layer->down.inputs);
    ng_array f;

    ng_gate(p, &h, &gate_up, NULL, NULL);
    f = ng_forward(p, &layer->down, &h, p->act, NULL);
    if (p->gradients) {
        ng_become(p, &gate_up, recipe->store_gate_up);
        saved->a[NG_KEPT_GATE_UP] = gate_up;
        if (recipe->store_h != NG_CARRY_NONE)
            saved->a[NG_KEPT_H] = h;
        else
            ng_drop(p, &h);
    } else {
        ng_drop(p, &gate_up);
        ng_drop(p, &h);
    }
    p->own = before;
    return f;
}

/* h again, from gate_up as it is stored, as the weight gradient takes it. */
static ng_array gate_again(ng_pass *p, const ng_layer *layer,
                           const ng_array *gate_up)
{
    const bool fp8 = layer->down.multiply_grad == NG_CARRY_FP8;
    ng_array h = fp8 ? ng_make_col(p, gate_up->rows, layer->down.inputs, NULL)
                     : ng_make(p, layer->down.multiply_grad, gate_up->rows,
                               layer->down.inputs);

    ng_gate(p, &h, gate_up, NULL, NULL);
    return h;
}

ng_array ng_gated_backward(ng_pass *p, const ng_layer *layer, ng_site site,
                           ng_saved *saved, const ng_array *n,
                           const ng_array *grad)
{
    const ng_own *before = ng_enter(p, layer, site);
    const ng_array *gate_up = &saved->a[NG_KEPT_GATE_UP];
    ng_array *h = &saved->a[NG_KEPT_H];
    ng_array grad_gate_up =
        ng_make(p, p->act, gate_up->rows, layer->gate_up.outputs);
    ng_array grad_h = ng_backward(p, &layer->down, grad, p->act, NULL);
    ng_array grad_n;

    if (h->carrier == NG_CARRY_NONE)
        *h = gate_again(p, layer, gate_up);
    ng_weight_gradient(p, &layer->down, grad, h, NULL, p->shared_leaf);
    ng_drop(p, h);
    ng_gate_backward(p, &grad_gate_up, NULL, &grad_h, gate_up, NULL);
    ng_drop(p, &grad_h);
    grad_n =
        ng_backward(p, &layer->gate_up, &grad_gate_up, NG_CARRY_FP32, NULL);
    ng_weight_gradient(p, &layer->gate_up, &grad_gate_up, n, NULL,
                       p->shared_leaf);
    ng_drop(p, &grad_gate_up);
    p->own = before;
    return grad_n;
}

static ng_array input_of(ng_pass *p, const ng_layer *layer, const ng_array *x2)
{
    const ng_own *before = ng_enter(p, layer, NG_SITE_FFN);
    ng_array n = ng_normalize(p, &layer->ffn_norm, x2);

    ng_become(p, &n, layer->recipe->site[NG_SITE_FFN].store_x);
    p->own = before;
    return n;
}

ng_array ng_ffn_forward(ng_pass *p, const ng_layer *layer, ng_saved *saved)
{
    ng_array *n = &saved->a[NG_KEPT_N2];
    const ng_array *x2 = &saved->a[NG_KEPT_X2];
    ng_array x3 = ng_make(p, p->act, p->rows, x2->cols), f;

    *n = input_of(p, layer, x2);
    f = ng_gated_forward(p, layer, NG_SITE_FFN, saved, n);
    NG_DO(p, p->b->add(p->c, &x3, x2, &f));
    ng_drop(p, &f);
    return x3;
}

ng_array ng_ffn_backward(ng_pass *p, const ng_layer *layer, ng_saved *saved,
                         ng_array *grad_x3)
{
    ng_array *n = &saved->a[NG_KEPT_N2];
    const ng_array *x2 = &saved->a[NG_KEPT_X2];
    ng_array grad_n, grad_x2;

    if (n->carrier == NG_CARRY_NONE)
        *n = input_of(p, layer, x2);
    grad_n = ng_gated_backward(p, layer, NG_SITE_FFN, saved, n, grad_x3);
    grad_x2 = ng_normalize_backward(p, &layer->ffn_norm, &grad_n, x2, grad_x3,
                                    p->act);
    ng_drop(p, &grad_n);
    ng_drop(p, grad_x3);
    return grad_x2;
}
