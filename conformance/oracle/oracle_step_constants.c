/* SPDX-License-Identifier: Apache-2.0
 *
 * Variables called 64 have 53 bits, those called 32 have 24: oracle_ieee.h
 * rounds by that.
 */
#include "conformance/oracle/oracle_step_constants.h"

#include "conformance/oracle/oracle_hyper.h"
#include "conformance/oracle/oracle_ieee.h"
#include "conformance/oracle/oracle_weight.h"

#define FP32(x) MPFR_DECL_INIT(x, NG_ORACLE_FP32_BITS)
#define FP64(x) MPFR_DECL_INIT(x, NG_ORACLE_FP64_BITS)

static float to_float(mpfr_srcptr x)
{
    return mpfr_get_flt(x, MPFR_RNDN); /* of 24 bits and in range: exact */
}

/* 1 - x, in the format of x and y. */
static void one_minus(mpfr_ptr y, mpfr_srcptr x)
{
    FP32(one);

    mpfr_set_ui(one, 1, MPFR_RNDN);
    ng_oracle_sub(y, one, x);
}

/* p = beta^t in FP64: from the lowest bit of t up, p = p*x where it is set, x =
 * x*x after each. */
static void power(mpfr_ptr p64, mpfr_srcptr beta, uint64_t t)
{
    FP64(x64);

    mpfr_set(x64, beta, MPFR_RNDN);
    mpfr_set_ui(p64, 1, MPFR_RNDN);
    for (; t > 0; t /= 2) {
        if (t % 2 == 1)
            ng_oracle_mul(p64, p64, x64);
        ng_oracle_mul(x64, x64, x64);
    }
}

/* What the step takes of the learning rate and the decay: lr*wd, or
 * wd*(lr/lr0), in FP64. */
static void decay_of(mpfr_ptr x64, const ng_hyper *h)
{
    FP64(lr64);
    FP64(wd64);

    mpfr_set_d(lr64, h->lr, MPFR_RNDN);
    mpfr_set_d(wd64, h->weight_decay, MPFR_RNDN);
    if (h->lr_decoupled) {
        mpfr_set_d(x64, h->lr0, MPFR_RNDN);
        ng_oracle_div(x64, lr64, x64);
        ng_oracle_mul(x64, wd64, x64);
    } else {
        ng_oracle_mul(x64, lr64, wd64);
    }
}

/* ng: 1 - x in FP64, then FP32. flashoptim: x to FP32, then 1 - x. */
static float complement(mpfr_srcptr x64, int step)
{
    FP64(y64);
    FP32(x32);
    FP32(y32);

    if (step == NG_STEP_NG) {
        one_minus(y64, x64);
        ng_oracle_round_to(y32, y64);
    } else {
        ng_oracle_round_to(x32, x64);
        one_minus(y32, x32);
    }
    return to_float(y32);
}

static float complement_of(double x, int step)
{
    FP64(x64);

    mpfr_set_d(x64, x, MPFR_RNDN);
    return complement(x64, step);
}

/* 1 - beta1^t and 1 - beta2^t, folded into al and ka or as they are. */
static void bias_corrections(ng_step_constants *c, const ng_hyper *h,
                             uint64_t t, int step)
{
    FP64(beta64);
    FP64(p64);
    FP64(lr64);
    FP64(one64);
    FP32(y32);

    mpfr_set_ui(one64, 1, MPFR_RNDN);
    if (step == NG_STEP_FLASHOPTIM) { /* of the FP32 betas */
        mpfr_set_flt(beta64, c->b1, MPFR_RNDN);
        power(p64, beta64, t);
        c->bc1 = complement(p64, step);
        mpfr_set_flt(beta64, c->b2, MPFR_RNDN);
        power(p64, beta64, t);
        c->bc2 = complement(p64, step);
        return;
    }
    mpfr_set_d(beta64, h->beta1, MPFR_RNDN);
    power(p64, beta64, t);
    one_minus(p64, p64);
    mpfr_set_d(lr64, h->lr, MPFR_RNDN);
    ng_oracle_div(p64, lr64, p64);
    ng_oracle_round_to(y32, p64);
    c->al = to_float(y32);

    mpfr_set_d(beta64, h->beta2, MPFR_RNDN);
    power(p64, beta64, t);
    one_minus(p64, p64);
    ng_oracle_sqrt(p64, p64);
    ng_oracle_div(p64, one64, p64);
    ng_oracle_round_to(y32, p64);
    c->ka = to_float(y32);
}

ng_status ng_oracle_step_constants(ng_step_constants *c, ng_optimizer_kind kind,
                                   const ng_hyper *h, uint64_t t,
                                   const ng_optim_options *options,
                                   ng_error *error)
{
    const int step = ng_oracle_optim_rules(options)->step;
    ng_step_constants made = {.kind = kind, .d = 1};
    FP64(decay64);

    if ((int)kind < 0 || kind >= NG_N_OPTIMIZERS)
        return ng_fail(error, NG_BAD_VALUE, "kind: no such optimizer");
    if (t == 0)
        return ng_fail(error, NG_BAD_VALUE, "t: steps count from 1");
    if (ng_oracle_hyper_fault(kind, h) != NULL)
        return ng_fail(error, NG_BAD_VALUE, "%s: not taken",
                       ng_oracle_hyper_fault(kind, h));

    made.lr =
        ng_oracle_narrow(h->lr); /* of Adam too, whose row under ng reads al */
    if (ng_oracle_is_sgd(kind)) {
        made.nesterov = h->nesterov;
        made.mu = ng_oracle_narrow(h->momentum);
        made.cd = complement_of(h->dampening, step);
    } else {
        made.b1 = ng_oracle_narrow(h->beta1);
        made.c1 = complement_of(h->beta1, step);
        made.b2 = ng_oracle_narrow(h->beta2);
        made.c2 = complement_of(h->beta2, step);
    }
    if (ng_oracle_is_adam(kind)) {
        made.eps = ng_oracle_narrow(h->eps);
        bias_corrections(&made, h, t, step);
    }
    if (ng_oracle_is_l2(kind)) {
        made.w = ng_oracle_narrow(h->weight_decay);
    } else if (h->weight_decay != 0) { /* a decay of 0 is skipped */
        decay_of(decay64, h);
        made.d = complement(decay64, step);
    }
    *c = made;
    return NG_OK;
}
