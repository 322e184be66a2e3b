/* SPDX-License-Identifier: Apache-2.0
 *
 * The numbers of a step from its settings (semantics 9), on the host, once a
 * step: in FP64, each operation rounded, or under flashoptim in FP32.
 */
#ifndef NG_CUDA_OPTIM_STEP_CONSTANTS_CUH
#define NG_CUDA_OPTIM_STEP_CONSTANTS_CUH

#include <cmath>

#include "formats/optim.h"
#include "formats/status.h"

/* Whether x is a number that FP32 holds: an overflow is none. */
inline bool ng_cuda_fits_fp32(double x)
{
    return std::isfinite((float)x);
}

inline bool ng_cuda_is_share(double x)
{
    return x >= 0.0 && x < 1.0;
}

/* The first field that the kind reads and cannot take; null: all are good. */
inline const char *ng_cuda_bad_setting(ng_optimizer_kind kind,
                                       const ng_hyper &h, uint64_t t)
{
    const bool sgd = kind == NG_SGD || kind == NG_SGDW;
    const bool adam = kind == NG_ADAM || kind == NG_ADAMW;

    if (kind < NG_SGD || kind > NG_LION)
        return "kind";
    if (t < 1)
        return "t";
    if (!ng_cuda_fits_fp32(h.lr))
        return "lr";
    if (!ng_cuda_fits_fp32(h.weight_decay))
        return "weight_decay";
    if (sgd && !ng_cuda_is_share(h.momentum))
        return "momentum";
    if (sgd && !ng_cuda_fits_fp32(h.dampening))
        return "dampening";
    if (sgd && h.nesterov && (h.dampening != 0.0 || (float)h.momentum == 0.0f))
        return "nesterov";
    if (!sgd && !ng_cuda_is_share(h.beta1))
        return "beta1";
    if (!sgd && !ng_cuda_is_share(h.beta2))
        return "beta2";
    if (adam && !((float)h.eps > 0.0f && ng_cuda_fits_fp32(h.eps)))
        return "eps";
    if (kind != NG_SGD && kind != NG_ADAM && h.lr_decoupled
        && (h.lr0 == 0.0 || !ng_cuda_fits_fp32(h.lr0)))
        return "lr0";
    return nullptr;
}

/* beta^t by the bits of t, lowest first. */
inline double ng_cuda_power(double beta, uint64_t t)
{
    double product = 1.0;

    while (t > 0) {
        if (t % 2 == 1)
            product *= beta;
        beta *= beta;
        t /= 2;
    }
    return product;
}

/* NG_OK, or with *c untouched NG_BAD_VALUE; *bad is then the field. */
inline ng_status ng_cuda_make_step_constants(ng_step_constants *c,
                                             ng_optimizer_kind kind,
                                             const ng_hyper &h, uint64_t t,
                                             int step, const char **bad)
{
    const bool sgd = kind == NG_SGD || kind == NG_SGDW;
    const bool adam = kind == NG_ADAM || kind == NG_ADAMW;
    const bool l2 = kind == NG_SGD || kind == NG_ADAM;
    const bool fp32 = step == NG_STEP_FLASHOPTIM;

    *bad = ng_cuda_bad_setting(kind, h, t);
    if (*bad != nullptr)
        return NG_BAD_VALUE;
    *c = ng_step_constants();
    c->kind = kind;
    c->lr = (float)h.lr;
    c->d = 1.0f;
    if (l2)
        c->w = (float)h.weight_decay;
    if (!l2 && h.weight_decay != 0.0) {
        double taken;

        if (h.lr_decoupled) {
            const double relative = h.lr / h.lr0;

            taken = h.weight_decay * relative;
        } else {
            taken = h.lr * h.weight_decay;
        }
        c->d = fp32 ? 1.0f - (float)taken : (float)(1.0 - taken);
    }
    if (sgd) {
        c->nesterov = h.nesterov;
        c->mu = (float)h.momentum;
        c->cd = fp32 ? 1.0f - (float)h.dampening : (float)(1.0 - h.dampening);
        return NG_OK;
    }
    c->b1 = (float)h.beta1;
    c->b2 = (float)h.beta2;
    c->c1 = fp32 ? 1.0f - c->b1 : (float)(1.0 - h.beta1);
    c->c2 = fp32 ? 1.0f - c->b2 : (float)(1.0 - h.beta2);
    if (!adam)
        return NG_OK;
    c->eps = (float)h.eps;
    if (fp32) {
        c->bc1 = 1.0f - (float)ng_cuda_power((double)c->b1, t);
        c->bc2 = 1.0f - (float)ng_cuda_power((double)c->b2, t);
    } else {
        const double left1 = 1.0 - ng_cuda_power(h.beta1, t);
        const double left2 = 1.0 - ng_cuda_power(h.beta2, t);
        const double root = std::sqrt(left2);

        c->al = (float)(h.lr / left1);
        c->ka = (float)(1.0 / root);
    }
    return NG_OK;
}

#endif
