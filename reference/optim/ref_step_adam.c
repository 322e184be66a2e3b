/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/optim/ref_step.h"

#include <stddef.h>

#include "reference/optim/ref_stepping.h"
#include "reference/optim/ref_updates.h"

static void row(ng_ref_element *element, const ng_step_constants *c, int step)
{
    ng_ref_l2_decay(element, c);

    const float move = ng_ref_adam_update(element, c, step);

    element->theta = element->theta - move;
}

ng_status ng_ref_step_adam(const ng_weights *theta, const ng_state *m,
                           const ng_state *v, const ng_gradient *g, int64_t n,
                           const ng_step_constants *c,
                           const ng_optim_options *options)
{
    if (c == NULL || m == NULL || v == NULL)
        return NG_BAD_POINTER;
    if (c->kind != NG_ADAM)
        return NG_BAD_VALUE;
    return ng_ref_run_step(row, theta, m, v, g, n, c, options);
}
