/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/optim/ref_updates.h"

#include <math.h>

#include "reference/optim/ref_fp32.h"

float ng_ref_sgd_update(ng_ref_element *element, const ng_step_constants *c)
{
    if (c->mu == 0.0f)
        return element->g;

    const float kept = c->mu * element->m;
    const float added = c->cd * element->g;

    element->m = kept + added;
    if (!c->nesterov)
        return element->m;

    const float ahead = c->mu * element->m;
    const float u = element->g + ahead;

    return u;
}

float ng_ref_adam_update(ng_ref_element *element, const ng_step_constants *c,
                         int step)
{
    const float kept_m = c->b1 * element->m;
    const float added_m = c->c1 * element->g;
    const float square = element->g * element->g;
    const float kept_v = c->b2 * element->v;
    const float added_v = c->c2 * square;

    element->m = kept_m + added_m;
    element->v = kept_v + added_v;
    if (step == NG_STEP_FLASHOPTIM) {
        const float m_hat = element->m / c->bc1;
        const float v_hat = element->v / c->bc2;
        const float numerator = c->lr * m_hat;
        const float root = sqrtf(v_hat);
        const float denominator = root + c->eps;

        return numerator / denominator;
    }

    const float numerator = c->al * element->m;
    const float root = sqrtf(element->v);
    const float corrected = c->ka * root;
    const float denominator = corrected + c->eps;

    return numerator / denominator;
}

void ng_ref_l2_decay(ng_ref_element *element, const ng_step_constants *c)
{
    if (c->w == 0.0f)
        return;

    const float decay = c->w * element->theta;

    element->g = element->g + decay;
}

void ng_ref_decoupled_decay(ng_ref_element *element, const ng_step_constants *c)
{
    if (c->d != 1.0f)
        element->theta = c->d * element->theta;
}
