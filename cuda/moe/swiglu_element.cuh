/* SPDX-License-Identifier: Apache-2.0
 *
 * SwiGLU of one pair and its derivatives, in FP32 (semantics.md 12).
 *
 * With e = exp(-|x|) <= 1 and r = 1 / (1 + e), the logistic function s(x) is r
 * or e r by the sign of x, and 1 - s the other of the two: no exponential
 * overflows, and nothing cancels. In units of u = 2^-24 the relative errors are
 *   e    2 |x| (the constant and the product, as an argument) + 4 (ex2)
 *   s    that of e by 1 / (1 + e), at most as much, + 1 (the sum) + 2 (rcp)
 *        + 1 (e r)
 * within the bounds of conformance/oracle/oracle_swiglu.h. A gate of -Inf gives
 * -Inf * 0 = NaN, as x / (1 + exp(-x)) does.
 */
#ifndef NG_CUDA_MOE_SWIGLU_ELEMENT_CUH
#define NG_CUDA_MOE_SWIGLU_ELEMENT_CUH

#include "cuda/ptx_math.cuh"
#include "formats/fp32.h"

/* Arithmetic of the GPU gives the canonical NaN by itself; the host's does
 * not. */
NG_HOST_DEVICE float ng_cuda_canonical(float x)
{
#ifdef __CUDA_ARCH__
    return x;
#else
    return x == x ? x : ng_cuda_float_of(NG_FP32_NAN);
#endif
}

struct ng_cuda_logistic {
    float s, rest; /* s(x) and 1 - s(x) */
};

NG_HOST_DEVICE ng_cuda_logistic ng_cuda_logistic_of(float x)
{
    const float log2_e = 0x1.715476p+0f; /* RN32(log2 e) */
    const float magnitude = x < 0.0f ? -x : x;
    const float e = ng_cuda_exp2_approx(ng_cuda_mul_rn(magnitude, -log2_e));
    const float r = ng_cuda_reciprocal_approx(ng_cuda_add_rn(1.0f, e));
    const float er = ng_cuda_mul_rn(e, r);

    return x < 0.0f ? ng_cuda_logistic{er, r} : ng_cuda_logistic{r, er};
}

/* silu(gate) * up for |gate| <= NG_CUDA_TAME: in half the instructions, for
 * neither exp(-gate) nor its inverse leaves FP32's normal numbers. */
#define NG_CUDA_TAME 87.0f

NG_HOST_DEVICE float ng_cuda_swiglu_tame(float gate, float up)
{
    const float log2_e = 0x1.715476p+0f;
    const float e = ng_cuda_exp2_normal(ng_cuda_mul_rn(gate, -log2_e));
    const float s = ng_cuda_reciprocal_approx(ng_cuda_add_rn(1.0f, e));

    return ng_cuda_canonical(ng_cuda_mul_rn(ng_cuda_mul_rn(gate, s), up));
}

/* silu(gate) * up. A thread may take ng_cuda_swiglu_tame for gates that are all
 * tame: the result is the same. */
NG_HOST_DEVICE float ng_cuda_swiglu(float gate, float up)
{
    const ng_cuda_logistic y = ng_cuda_logistic_of(gate);
    const float x =
        ng_cuda_canonical(ng_cuda_mul_rn(ng_cuda_mul_rn(gate, y.s), up));

    return (ng_cuda_bits_of(gate) & 0x7FFFFFFF) <= ng_cuda_bits_of(NG_CUDA_TAME)
               ? ng_cuda_swiglu_tame(gate, up)
               : x;
}

struct ng_cuda_swiglu_grads {
    float gate, up;
};

/* grad_up = grad * silu(gate);
 * grad_gate = grad * up * s (1 + gate (1 - s)). */
NG_HOST_DEVICE ng_cuda_swiglu_grads ng_cuda_swiglu_backward(float grad,
                                                            float gate,
                                                            float up)
{
    const ng_cuda_logistic y = ng_cuda_logistic_of(gate);
    const float slope = ng_cuda_mul_rn(y.s, ng_cuda_fma_rn(gate, y.rest, 1.0f));

    return {ng_cuda_canonical(ng_cuda_mul_rn(ng_cuda_mul_rn(grad, up), slope)),
            ng_cuda_canonical(ng_cuda_mul_rn(grad, ng_cuda_mul_rn(gate, y.s)))};
}

#endif
