/* SPDX-License-Identifier: Apache-2.0
 *
 * Linear layers and norms of a pass: operands brought into the formats of the
 * recipe, then the backend's products.
 */
#include "reference/model/model_parts.h"

ng_array ng_gradient_in(const ng_model *model, int64_t parameter, float *leaf,
                        int64_t batch)
{
    const ng_slot *slot = &model->slots[parameter];

    return (ng_array){.carrier = NG_CARRY_FP32,
                      .batch = batch,
                      .rows = slot->listed.rows,
                      .cols = slot->listed.cols,
                      .data = leaf + slot->offset};
}

/* x by weights whose rows are outputs. */
static void multiply(ng_pass *p, const ng_array *y, const ng_array *x,
                     const ng_array *w, const ng_row_groups *groups)
{
    if (ng_own_does(p->own, NG_OWN_LINEAR, y, x))
        NG_DO(p, ng_own_run(p->own, y, x, w, groups, p->error));
    else
        NG_DO(p, p->b->linear(p->c, y, x, w, groups));
}

ng_array ng_forward(ng_pass *p, const ng_linear *linear, const ng_array *x,
                    ng_carrier out, const ng_row_groups *groups)
{
    ng_borrowed operand = ng_as(p, x, linear->multiply);
    ng_array y = ng_make(p, out, x->rows, linear->outputs);

    multiply(p, &y, &operand.a, &linear->forward, groups);
    ng_return(p, &operand);
    return y;
}

ng_array ng_backward(ng_pass *p, const ng_linear *linear,
                     const ng_array *grad_y, ng_carrier out,
                     const ng_row_groups *groups)
{
    ng_borrowed operand = ng_as(p, grad_y, linear->multiply_grad);
    ng_array grad_x = ng_make(p, out, grad_y->rows, linear->inputs);

    if (linear->multiply_grad == NG_CARRY_FP8
        && ng_own_does(p->own, NG_OWN_LINEAR, &grad_x, &operand.a))
        multiply(p, &grad_x, &operand.a, &linear->transposed, groups);
    else
        NG_DO(p, p->b->linear_backward(
                     p->c, &grad_x, &operand.a, &linear->backward,
                     linear->multiply_grad == NG_CARRY_FP8 ? &linear->transposed
                                                           : NULL,
                     groups));
    ng_return(p, &operand);
    return grad_x;
}

void ng_weight_gradient(ng_pass *p, const ng_linear *linear,
                        const ng_array *grad_y, const ng_array *x,
                        const ng_row_groups *groups, float *leaf)
{
    const bool fp8 = linear->multiply_grad == NG_CARRY_FP8;
    ng_borrowed g = fp8 ? ng_as_col(p, grad_y, groups)
                        : ng_as(p, grad_y, linear->multiply_grad);
    ng_borrowed operand =
        fp8 ? ng_as_col(p, x, groups) : ng_as(p, x, linear->multiply_grad);
    ng_array grad_w =
        ng_gradient_in(p->model, linear->parameter, leaf, linear->batch);

    if (ng_own_does(p->own, NG_OWN_WEIGHT, &grad_w, &operand.a))
        NG_DO(p,
              ng_own_run(p->own, &grad_w, &g.a, &operand.a, groups, p->error));
    else
        NG_DO(p, p->b->linear_weight(p->c, &grad_w, &g.a, &operand.a, groups,
                                     true));
    ng_return(p, &operand);
    ng_return(p, &g);
}

ng_array ng_normalize(ng_pass *p, const ng_norm *norm, const ng_array *x)
{
    ng_array y = ng_make(p, p->act, x->rows, x->cols);

    NG_DO(p, p->b->rmsnorm(p->c, &y, x, &norm->w,
                           (float)p->model->config.norm_eps));
    return y;
}

ng_array ng_normalize_backward(ng_pass *p, const ng_norm *norm,
                               const ng_array *grad_y, const ng_array *x,
                               const ng_array *grad_add, ng_carrier out)
{
    ng_array grad_x = ng_make(p, out, x->rows, x->cols);
    ng_array grad_w =
        ng_gradient_in(p->model, norm->parameter, p->shared_leaf, 1);

    NG_DO(p,
          p->b->rmsnorm_backward(p->c, &grad_x, &grad_w, grad_y, x, &norm->w,
                                 grad_add, (float)p->model->config.norm_eps));
    return grad_x;
}
