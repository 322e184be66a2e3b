/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/optim/ref_step.h"

#include <stddef.h>

#include "reference/optim/ref_stepping.h"
#include "reference/optim/ref_updates.h"

static void row(ng_ref_element *element, const ng_step_constants *c, int step)
{
    (void)step;

    const float u = ng_ref_sgd_update(element, c);
    const float move = c->lr * u;

    ng_ref_decoupled_decay(element, c);
    element->theta = element->theta - move;
}

ng_status ng_ref_step_sgdw(const ng_weights *theta, const ng_state *m,
                           const ng_gradient *g, int64_t n,
                           const ng_step_constants *c,
                           const ng_optim_options *options)
{
    if (c == NULL || (c->mu != 0.0f && m == NULL))
        return NG_BAD_POINTER;
    if (c->kind != NG_SGDW)
        return NG_BAD_VALUE;
    return ng_ref_run_step(row, theta, c->mu != 0.0f ? m : NULL, NULL, g, n, c,
                           options);
}
