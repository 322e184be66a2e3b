/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/oracle/oracle_hyper.h"

#include <math.h>
#include <stddef.h>

#include "conformance/oracle/oracle_ieee.h"

float ng_oracle_narrow(double x)
{
    MPFR_DECL_INIT(wide, NG_ORACLE_FP64_BITS);
    MPFR_DECL_INIT(y, NG_ORACLE_FP32_BITS);

    mpfr_set_d(wide, x, MPFR_RNDN);
    ng_oracle_round_to(y, wide);
    return mpfr_get_flt(y, MPFR_RNDN); /* of 24 bits and in range: exact */
}

bool ng_oracle_is_sgd(ng_optimizer_kind kind)
{
    return kind == NG_SGD || kind == NG_SGDW;
}

bool ng_oracle_is_adam(ng_optimizer_kind kind)
{
    return kind == NG_ADAM || kind == NG_ADAMW;
}

bool ng_oracle_is_l2(ng_optimizer_kind kind)
{
    return kind == NG_SGD || kind == NG_ADAM;
}

static bool in_unit(double x)
{
    return x >= 0 && x < 1;
}

const char *ng_oracle_hyper_fault(ng_optimizer_kind kind, const ng_hyper *h)
{
    if (!isfinite(ng_oracle_narrow(h->lr)))
        return "lr";
    if (!isfinite(ng_oracle_narrow(h->weight_decay)))
        return "weight_decay";
    if (!ng_oracle_is_l2(kind) && h->lr_decoupled
        && (!isfinite(ng_oracle_narrow(h->lr0)) || h->lr0 == 0))
        return "lr0";
    if (ng_oracle_is_sgd(kind)) {
        if (!in_unit(h->momentum))
            return "momentum";
        if (!isfinite(ng_oracle_narrow(h->dampening)))
            return "dampening";
        if (h->nesterov
            && (h->dampening != 0 || ng_oracle_narrow(h->momentum) == 0))
            return "nesterov";
        return NULL;
    }
    if (!in_unit(h->beta1))
        return "beta1";
    if (!in_unit(h->beta2))
        return "beta2";

    const float eps = ng_oracle_narrow(h->eps);

    if (ng_oracle_is_adam(kind) && !(eps > 0 && isfinite(eps)))
        return "eps";
    return NULL;
}
