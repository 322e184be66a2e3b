/* SPDX-License-Identifier: Apache-2.0
 *
 * A row of the table of semantics 9: one element's step, any optimizer, either
 * rule, in FP32, each operation rounded by itself. IEEE division and root.
 */
#ifndef NG_CUDA_OPTIM_STEP_ROW_CUH
#define NG_CUDA_OPTIM_STEP_ROW_CUH

#include "cuda/optim/state_code.cuh"

/* theta, m and v are old before and new after the step. */
struct ng_cuda_element {
    float theta, g, m, v;
};

NG_HOST_DEVICE float ng_cuda_two_products(float a, float x, float b, float y)
{
    return ng_cuda_add_rn(ng_cuda_mul_rn(a, x), ng_cuda_mul_rn(b, y));
}

/* What Adam takes from theta, of the new m and v. */
NG_HOST_DEVICE float ng_cuda_adam_move(float m, float v,
                                       const ng_step_constants &c, int step)
{
    if (step == NG_STEP_FLASHOPTIM)
        return ng_cuda_div_rn(
            ng_cuda_mul_rn(c.lr, ng_cuda_div_rn(m, c.bc1)),
            ng_cuda_add_rn(ng_cuda_sqrt_rn(ng_cuda_div_rn(v, c.bc2)), c.eps));
    return ng_cuda_div_rn(
        ng_cuda_mul_rn(c.al, m),
        ng_cuda_add_rn(ng_cuda_mul_rn(c.ka, ng_cuda_sqrt_rn(v)), c.eps));
}

/* The sign of zero is +0, that of a NaN the NaN, or under flashoptim 0. */
NG_HOST_DEVICE float ng_cuda_sign(float x, int step)
{
    if (x > 0.0f)
        return 1.0f;
    if (x < 0.0f)
        return -1.0f;
    return x == 0.0f || step == NG_STEP_FLASHOPTIM ? 0.0f : x;
}

NG_HOST_DEVICE void ng_cuda_step_row(ng_cuda_element &e,
                                     const ng_step_constants &c, int step)
{
    float move;

    if (c.w != 0.0f) /* SGD, Adam */
        e.g = ng_cuda_add_rn(e.g, ng_cuda_mul_rn(c.w, e.theta));
    if (c.kind == NG_LION) {
        const float u =
            ng_cuda_sign(ng_cuda_two_products(c.b1, e.m, c.c1, e.g), step);

        move = ng_cuda_mul_rn(c.lr, u);
        e.m = ng_cuda_two_products(c.b2, e.m, c.c2, e.g);
    } else if (c.kind == NG_SGD || c.kind == NG_SGDW) {
        float u = e.g;

        if (c.mu != 0.0f) {
            e.m = ng_cuda_two_products(c.mu, e.m, c.cd, e.g);
            u = c.nesterov ? ng_cuda_add_rn(e.g, ng_cuda_mul_rn(c.mu, e.m))
                           : e.m;
        }
        move = ng_cuda_mul_rn(c.lr, u);
    } else {
        e.m = ng_cuda_two_products(c.b1, e.m, c.c1, e.g);
        e.v = ng_cuda_two_products(c.b2, e.v, c.c2, ng_cuda_mul_rn(e.g, e.g));
        move = ng_cuda_adam_move(e.m, e.v, c, step);
    }
    if (c.d != 1.0f) /* SGDW, AdamW, Lion */
        e.theta = ng_cuda_mul_rn(c.d, e.theta);
    e.theta = ng_cuda_computed(ng_cuda_add_rn(e.theta, -move));
    e.m = ng_cuda_computed(e.m);
    e.v = ng_cuda_computed(e.v);
}

#endif
