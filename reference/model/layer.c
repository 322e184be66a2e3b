/* SPDX-License-Identifier: Apache-2.0
 *
 * A layer, and what of it is kept from forward to backward.
 */
#include <stdlib.h>

#include "reference/model/model_parts.h"

bool ng_keeps(ng_recompute recompute, ng_kept kept)
{
    switch (recompute) {
    case NG_RECOMPUTE_NONE:
        return true;
    case NG_RECOMPUTE_MLA_UP:
        return kept != NG_KEPT_Q && kept != NG_KEPT_K && kept != NG_KEPT_V;
    case NG_RECOMPUTE_NORM_SWIGLU:
        return kept != NG_KEPT_N1 && kept != NG_KEPT_CQN && kept != NG_KEPT_CKVN
               && kept != NG_KEPT_N2 && kept != NG_KEPT_N2_ROUTER
               && kept != NG_KEPT_H;
    default:
        return kept == NG_KEPT_X;
    }
}

ng_kept_kind ng_kept_kind_of(ng_kept kept, bool moe)
{
    if (kept == NG_KEPT_X || kept == NG_KEPT_X2)
        return NG_KEPT_FOR_OTHER;
    if (kept < NG_KEPT_X2)
        return NG_KEPT_FOR_ATTENTION;
    return moe ? NG_KEPT_FOR_MOE : NG_KEPT_FOR_OTHER;
}

void ng_saved_free(ng_pass *p, ng_saved *saved)
{
    for (int i = 0; i < NG_N_KEPT; i++)
        ng_drop(p, &saved->a[i]);
    p->b->free(p->c, saved->expert);
    free(saved->host_offsets);
    free(saved->arrived_offsets);
    *saved = (ng_saved){.expert = NULL};
}

/* Drop what is made again in backward. Plain attention has no up-projections
 * whose results could be left out for those that they are made of. */
static void keep(ng_pass *p, const ng_layer *layer, ng_saved *saved)
{
    const ng_recompute recompute = layer->recipe->recompute;
    const bool mla = p->model->config.attention == NG_ATTENTION_MLA;
    ng_array x;

    if (recompute == NG_RECOMPUTE_FULL) {
        x = saved->a[NG_KEPT_X];
        saved->a[NG_KEPT_X].carrier = NG_CARRY_NONE;
        ng_saved_free(p, saved);
        saved->a[NG_KEPT_X] = x;
        return;
    }
    if (recompute == NG_RECOMPUTE_MLA_UP && !mla)
        return;
    for (int i = 0; i < NG_N_KEPT; i++)
        if (!ng_keeps(recompute, (ng_kept)i))
            ng_drop(p, &saved->a[i]);
}

static void run(ng_pass *p, const ng_layer *layer, ng_saved *saved, ng_array *x)
{
    saved->a[NG_KEPT_X] = *x;
    ng_attention_forward(p, layer, saved);
    *x = layer->moe ? ng_moe_forward(p, layer, saved)
                    : ng_ffn_forward(p, layer, saved);
}

void ng_layer_forward(ng_pass *p, const ng_layer *layer, ng_saved *saved,
                      ng_array *x)
{
    run(p, layer, saved, x);
    if (p->gradients)
        keep(p, layer, saved);
    else
        ng_saved_free(p, saved);
}

void ng_layer_backward(ng_pass *p, const ng_layer *layer, ng_saved *saved,
                       ng_array *grad)
{
    if (layer->recipe->recompute == NG_RECOMPUTE_FULL) {
        ng_array x = saved->a[NG_KEPT_X];
        const bool again = p->again;

        p->again = true;
        run(p, layer, saved, &x);
        ng_drop(p, &x);
        p->again = again;
    }
    *grad = layer->moe ? ng_moe_backward(p, layer, saved, grad)
                       : ng_ffn_backward(p, layer, saved, grad);
    *grad = ng_attention_backward(p, layer, saved, grad);
    ng_saved_free(p, saved);
}
