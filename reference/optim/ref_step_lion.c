/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/optim/ref_step.h"

#include <stddef.h>

#include "reference/optim/ref_stepping.h"
#include "reference/optim/ref_updates.h"

/* The sign of zero is +0, that of a NaN the NaN, or under flashoptim 0. */
static float sign(float x, int step)
{
    if (x > 0.0f)
        return 1.0f;
    if (x < 0.0f)
        return -1.0f;
    return x == 0.0f || step == NG_STEP_FLASHOPTIM ? 0.0f : x;
}

static void row(ng_ref_element *element, const ng_step_constants *c, int step)
{
    const float kept_u = c->b1 * element->m;
    const float added_u = c->c1 * element->g;
    const float direction = kept_u + added_u;
    const float u = sign(direction, step);
    const float kept_m = c->b2 * element->m;
    const float added_m = c->c2 * element->g;
    const float move = c->lr * u;

    element->m = kept_m + added_m;
    ng_ref_decoupled_decay(element, c);
    element->theta = element->theta - move;
}

ng_status ng_ref_step_lion(const ng_weights *theta, const ng_state *m,
                           const ng_gradient *g, int64_t n,
                           const ng_step_constants *c,
                           const ng_optim_options *options)
{
    if (c == NULL || m == NULL)
        return NG_BAD_POINTER;
    if (c->kind != NG_LION)
        return NG_BAD_VALUE;
    return ng_ref_run_step(row, theta, m, NULL, g, n, c, options);
}
