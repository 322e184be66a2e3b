/* SPDX-License-Identifier: Apache-2.0
 *
 * The last norm, the head and the loss. Backward follows at once, so that the
 * logits of a shard live no longer than they must.
 */
#include "reference/model/model_parts.h"

ng_array ng_head_loss(ng_pass *p, const ng_norm *norm, const ng_array *x,
                      const int32_t *targets, double *loss, int64_t *n,
                      float scale)
{
    const ng_linear *head = &p->model->head;
    ng_array nothing = {.carrier = NG_CARRY_NONE}, grad_n, grad_x;
    const ng_own *before = p->own;
    ng_array normed = ng_normalize(p, norm, x);
    ng_array logits;

    p->own = &p->model->head_own;
    ng_become(p, &normed, p->model->recipe.all.site[NG_SITE_HEAD].store_x);
    logits = ng_forward(p, head, &normed, NG_CARRY_FP32, NULL);
    NG_DO(p, p->b->cross_entropy(p->c, loss, n, p->gradients ? &logits : NULL,
                                 &logits, targets, scale));
    if (!p->gradients) {
        ng_drop(p, &logits);
        ng_drop(p, &normed);
        p->own = before;
        return nothing;
    }
    grad_n = ng_backward(p, head, &logits, NG_CARRY_FP32, NULL);
    ng_weight_gradient(p, head, &logits, &normed, NULL, p->shared_leaf);
    ng_drop(p, &logits);
    ng_drop(p, &normed);
    grad_x = ng_normalize_backward(p, norm, &grad_n, x, NULL, p->act);
    ng_drop(p, &grad_n);
    p->own = before;
    return grad_x;
}
