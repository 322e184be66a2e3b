/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/optim/optimizer.h"

#include <stddef.h>

#include "reference/optim/optimizer_parts.h"
#include "reference/optim/ref_fp32.h"
#include "reference/optim/ref_optim_views.h"

/* What theta is worth once it is stored in the parameter's format. */
static float stored(const ng_weights *weights, float theta, int split)
{
    if (weights->dtype == NG_FP32)
        return theta;
    return ng_fp32_from_bits(ng_ref_merge_weight(
        ng_ref_split_weight(ng_fp32_bits(theta), weights->dtype,
                            weights->correction_bits, split),
        weights->dtype, weights->correction_bits, split));
}

static bool is_stuck(const ng_weights *weights, float theta, float delta,
                     int split)
{
    const float below = theta - delta;
    const float above = theta + delta;
    const float now = stored(weights, theta, split);

    return stored(weights, below, split) == now
           && stored(weights, above, split) == now;
}

static float magnitude(float x)
{
    return x < 0.0f ? -x : x;
}

/* Look at one parameter; true if its largest weight is stuck. */
static bool look(ng_lr_report *report, float *largest, const ng_parameter *p,
                 float delta, int split)
{
    bool largest_stuck = false;

    *largest = -1.0f;
    for (int64_t i = 0; i < p->n; i++) {
        const float theta =
            ng_fp32_from_bits(ng_ref_load_weight(&p->weights, i, split));

        if (theta - theta != 0.0f)
            continue;

        const bool stuck = is_stuck(&p->weights, theta, delta, split);

        report->weights++;
        report->stuck += stuck;
        if (magnitude(theta) > *largest) {
            *largest = magnitude(theta);
            largest_stuck = stuck;
        }
    }
    return largest_stuck;
}

ng_status ng_optimizer_check_lr(ng_lr_report *report,
                                const ng_optimizer *optimizer, ng_error *error)
{
    ng_lr_report made = {.parameter = -1};

    if (report == NULL || optimizer == NULL)
        return ng_fail(error, NG_BAD_POINTER, "learning rate: %s",
                       ng_status_text(NG_BAD_POINTER));

    if (optimizer->backend != NULL)
        return ng_fail(error, NG_NOT_COVERED,
                       "learning rate: the weights are a backend's");

    const bool adam = optimizer->kind == NG_ADAM || optimizer->kind == NG_ADAMW;

    for (int64_t i = 0; i < optimizer->n_parameters; i++) {
        const ng_parameter *p = optimizer->parameters[i];
        const double lr = optimizer->groups[p->group].settings.hyper.lr;
        const float delta = (float)(lr * (adam ? 0.1 : 1.0));
        float largest;

        if (!look(&made, &largest, p, delta, optimizer->rules.split))
            continue;
        if (made.flagged++ == 0) {
            made.parameter = i;
            made.largest = largest;
            made.delta = delta;
        }
    }
    made.moves_none = made.weights > 0 && made.stuck == made.weights;
    *report = made;
    return NG_OK;
}
