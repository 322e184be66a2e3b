/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/optim/ref_step_constants.h"

#include <math.h>
#include <stddef.h>

#include "reference/optim/ref_fp32.h"
#include "reference/optim/ref_optim_views.h"

static bool is_sgd(ng_optimizer_kind kind)
{
    return kind == NG_SGD || kind == NG_SGDW;
}

static bool is_adam(ng_optimizer_kind kind)
{
    return kind == NG_ADAM || kind == NG_ADAMW;
}

static bool is_decoupled(ng_optimizer_kind kind)
{
    return kind != NG_SGD && kind != NG_ADAM;
}

#define FAULT(...) ng_fail(error, NG_BAD_VALUE, __VA_ARGS__)

static ng_status check_share(const char *name, double value, ng_error *error)
{
    if (value >= 0.0 && value < 1.0)
        return NG_OK;
    return FAULT("%s: %g is outside [0, 1)", name, value);
}

static ng_status check_finite(const char *name, double value, ng_error *error)
{
    const float narrowed = (float)value;

    if (narrowed - narrowed == 0.0f)
        return NG_OK;
    return FAULT("%s: %g is not finite in FP32", name, value);
}

static ng_status check_sgd(const ng_hyper *h, ng_error *error)
{
    ng_status status;

    if ((status = check_share("momentum", h->momentum, error)) != NG_OK
        || (status = check_finite("dampening", h->dampening, error)) != NG_OK)
        return status;
    /* mu is the FP32 number: below 2^-150 there is no momentum. */
    if (h->nesterov
        && ((float)h->momentum == 0.0f || h->dampening != 0.0))
        return FAULT("nesterov: needs momentum and no dampening");
    return NG_OK;
}

static ng_status check_hyper(ng_optimizer_kind kind, const ng_hyper *h,
                             uint64_t t, ng_error *error)
{
    ng_status status;

    if ((unsigned)kind >= NG_N_OPTIMIZERS)
        return FAULT("kind: no such optimizer");
    if (t == 0)
        return FAULT("t: steps count from 1");
    if ((status = check_finite("lr", h->lr, error)) != NG_OK
        || (status = check_finite("weight_decay", h->weight_decay, error))
               != NG_OK)
        return status;
    if (is_sgd(kind) && (status = check_sgd(h, error)) != NG_OK)
        return status;
    if (!is_sgd(kind)
        && ((status = check_share("beta1", h->beta1, error)) != NG_OK
            || (status = check_share("beta2", h->beta2, error)) != NG_OK))
        return status;
    if (is_adam(kind)) {
        if (!((float)h->eps > 0.0f))
            return FAULT("eps: %g is not positive in FP32", h->eps);
        if ((status = check_finite("eps", h->eps, error)) != NG_OK)
            return status;
    }
    if (is_decoupled(kind) && h->lr_decoupled) {
        if ((status = check_finite("lr0", h->lr0, error)) != NG_OK)
            return status;
        if (h->lr0 == 0.0)
            return FAULT("lr0: is 0, with LR-decoupled decay");
    }
    return NG_OK;
}

/* beta^t, each product rounded to FP64. */
static double power(double beta, uint64_t t)
{
    double p = 1.0, x = beta;

    for (; t != 0; t >>= 1) {
        if ((t & 1) != 0)
            p = p * x;
        x = x * x;
    }
    return p;
}

/* The share of theta that a decoupled decay takes: lr*wd, or wd*(lr/lr0). */
static double decay_share(const ng_hyper *h)
{
    if (!h->lr_decoupled)
        return h->lr * h->weight_decay;

    const double relative = h->lr / h->lr0;

    return h->weight_decay * relative;
}

/* In FP64, each operation rounded; rounded to FP32 where it is stored. */
static void derive_ng(ng_step_constants *c, const ng_hyper *h, uint64_t t)
{
    c->cd = (float)(1.0 - h->dampening);
    c->c1 = (float)(1.0 - h->beta1);
    c->c2 = (float)(1.0 - h->beta2);
    if (is_decoupled(c->kind) && h->weight_decay != 0.0)
        c->d = (float)(1.0 - decay_share(h));
    if (is_adam(c->kind)) {
        const double bc1 = 1.0 - power(h->beta1, t);
        const double bc2 = 1.0 - power(h->beta2, t);
        const double root = sqrt(bc2);

        c->al = (float)(h->lr / bc1);
        c->ka = (float)(1.0 / root);
    }
}

/* In FP32 from rounded numbers, each operation rounded. */
static void derive_flashoptim(ng_step_constants *c, const ng_hyper *h,
                              uint64_t t)
{
    const float dampening = (float)h->dampening;

    c->cd = 1.0f - dampening;
    c->c1 = 1.0f - c->b1;
    c->c2 = 1.0f - c->b2;
    if (is_decoupled(c->kind) && h->weight_decay != 0.0) {
        const float taken = (float)decay_share(h);

        c->d = 1.0f - taken;
    }
    if (is_adam(c->kind)) {
        const float p1 = (float)power((double)c->b1, t);
        const float p2 = (float)power((double)c->b2, t);

        c->bc1 = 1.0f - p1;
        c->bc2 = 1.0f - p2;
    }
}

ng_status ng_ref_step_constants(ng_step_constants *c, ng_optimizer_kind kind,
                                const ng_hyper *hyper, uint64_t t,
                                const ng_optim_options *options,
                                ng_error *error)
{
    ng_status status;
    ng_step_constants made = {.kind = kind, .d = 1.0f};

    if (c == NULL || hyper == NULL)
        return ng_fail(error, NG_BAD_POINTER, "step: %s",
                       ng_status_text(NG_BAD_POINTER));
    if ((status = ng_ref_check_optim(0, options)) != NG_OK)
        return ng_fail(error, status, "step: rules: %s",
                       ng_status_text(status));
    if ((status = check_hyper(kind, hyper, t, error)) != NG_OK)
        return status;
    made.lr = (float)hyper->lr;
    if (is_sgd(kind)) {
        made.mu = (float)hyper->momentum;
        made.nesterov = hyper->nesterov;
    } else {
        made.b1 = (float)hyper->beta1;
        made.b2 = (float)hyper->beta2;
    }
    if (is_adam(kind))
        made.eps = (float)hyper->eps;
    if (!is_decoupled(kind))
        made.w = (float)hyper->weight_decay;
    if (ng_ref_optim_rules(options)->step == NG_STEP_FLASHOPTIM)
        derive_flashoptim(&made, hyper, t);
    else
        derive_ng(&made, hyper, t);
    if (is_sgd(kind))
        made.c1 = made.c2 = 0.0f;
    else
        made.cd = 0.0f;
    *c = made;
    return NG_OK;
}
