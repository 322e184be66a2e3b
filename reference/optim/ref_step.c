/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/optim/ref_step.h"

#include <stddef.h>

#include "reference/optim/ref_optim_views.h"

ng_status ng_ref_step(const ng_weights *theta, const ng_state *m,
                      const ng_state *v, const ng_gradient *g, int64_t n,
                      const ng_step_constants *c,
                      const ng_optim_options *options)
{
    if (c == NULL)
        return NG_BAD_POINTER;
    switch (c->kind) {
    case NG_SGD:
        return ng_ref_step_sgd(theta, m, g, n, c, options);
    case NG_SGDW:
        return ng_ref_step_sgdw(theta, m, g, n, c, options);
    case NG_ADAM:
        return ng_ref_step_adam(theta, m, v, g, n, c, options);
    case NG_ADAMW:
        return ng_ref_step_adamw(theta, m, v, g, n, c, options);
    case NG_LION:
        return ng_ref_step_lion(theta, m, g, n, c, options);
    default:
        return NG_BAD_VALUE;
    }
}

ng_status ng_ref_gradient_is_finite(bool *finite, const ng_gradient *g,
                                    int64_t n)
{
    ng_status status;

    if (finite == NULL)
        return NG_BAD_POINTER;
    if ((status = ng_ref_check_optim(n, NULL)) != NG_OK
        || (status = ng_ref_check_gradient(g, n)) != NG_OK)
        return status;

    bool all = true;

    for (int64_t i = 0; i < n && all; i++) {
        const float x = ng_ref_load_gradient(g, i);

        all = x - x == 0.0f; /* NaN of Inf and NaN */
    }
    *finite = all;
    return NG_OK;
}
