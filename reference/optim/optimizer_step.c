/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/optim/optimizer.h"

#include <inttypes.h>
#include <stddef.h>

#include "reference/optim/optimizer_parts.h"
#include "reference/optim/ref_step.h"
#include "reference/optim/ref_step_constants.h"

/* Make the constants of every group's next step, empty groups included, before
 * anything is stepped: one bad number leaves all as it is. */
static ng_status prepare(ng_optimizer *optimizer, ng_error *error)
{
    const ng_optim_options options = {.rules = &optimizer->rules};

    for (int64_t i = 0; i < optimizer->n_groups; i++) {
        ng_group *group = &optimizer->groups[i];
        ng_error cause = {{0}};
        const ng_status status = ng_ref_step_constants(
            &group->constants, optimizer->kind, &group->settings.hyper,
            group->steps + 1, &options, &cause);

        if (status != NG_OK)
            return ng_fail(error, status, "group %" PRId64 ": %s", i,
                           cause.text);
    }
    for (int64_t i = 0; i < optimizer->n_parameters; i++) {
        const ng_parameter *p = optimizer->parameters[i];

        if (optimizer->groups[p->group].constants.mu != 0.0f
            && !p->has_momentum)
            return ng_fail(error, NG_BAD_VALUE,
                           "group %" PRId64 ": momentum: was 0 when \"%s\" was "
                           "added, which has no state for it",
                           p->group, p->name);
    }
    return NG_OK;
}

static ng_gradient gradient_of(const ng_parameter *p, const float *scale)
{
    return (ng_gradient){p->gradient_dtype, p->gradient, scale};
}

static ng_status is_finite(bool *finite, const ng_parameter *p,
                           const float *scale)
{
    const ng_gradient g = gradient_of(p, scale);

    return ng_ref_gradient_is_finite(finite, &g, p->n);
}

static ng_status step_parameter(ng_optimizer *optimizer, const ng_parameter *p,
                                const float *scale)
{
    const ng_gradient g = gradient_of(p, scale);
    const ng_optim_options options = {.rules = &optimizer->rules,
                                      .counts = &optimizer->counts};

    return ng_ref_step(&p->weights, &p->momentum, &p->variance, &g, p->n,
                       &optimizer->groups[p->group].constants, &options);
}

static ng_status failed(const ng_parameter *p, ng_status status,
                        ng_error *error)
{
    return ng_fail(error, status, "parameter: %s: %s", p->name,
                   ng_status_text(status));
}

static void advance(ng_optimizer *optimizer)
{
    for (int64_t i = 0; i < optimizer->n_groups; i++)
        optimizer->groups[i].steps++;
}

static void tell(bool *out, bool value)
{
    if (out != NULL)
        *out = value;
}

/* Start a step or a release, if none is under way. */
static ng_status begin(ng_optimizer *optimizer, ng_error *error)
{
    if (optimizer == NULL)
        return ng_fail(error, NG_BAD_POINTER, "step: %s",
                       ng_status_text(NG_BAD_POINTER));
    if (optimizer->releasing)
        return ng_fail(error, NG_BAD_VALUE, "step: a release is under way");
    return prepare(optimizer, error);
}

ng_status ng_optimizer_step(bool *stepped, ng_optimizer *optimizer,
                            const float *scale, ng_error *error)
{
    ng_status status = begin(optimizer, error);

    if (status != NG_OK)
        return status;
    for (int64_t i = 0; i < optimizer->n_parameters; i++) {
        const ng_parameter *p = optimizer->parameters[i];
        bool finite = true;

        if (p->gradient == NULL)
            continue;
        if ((status = is_finite(&finite, p, scale)) != NG_OK)
            return failed(p, status, error);
        if (!finite) {
            optimizer->skipped++;
            tell(stepped, false);
            return NG_OK;
        }
    }
    for (int64_t i = 0; i < optimizer->n_parameters; i++) {
        const ng_parameter *p = optimizer->parameters[i];

        if (p->gradient != NULL
            && (status = step_parameter(optimizer, p, scale)) != NG_OK)
            return failed(p, status, error);
    }
    advance(optimizer);
    tell(stepped, true);
    return NG_OK;
}

ng_status ng_optimizer_begin_release(ng_optimizer *optimizer, ng_error *error)
{
    const ng_status status = begin(optimizer, error);

    if (status != NG_OK)
        return status;
    for (int64_t i = 0; i < optimizer->n_parameters; i++)
        optimizer->released[i] = false;
    optimizer->n_stepped = 0;
    optimizer->n_lost = 0;
    optimizer->releasing = true;
    return NG_OK;
}

ng_status ng_optimizer_release(bool *stepped, ng_optimizer *optimizer,
                               int64_t parameter, const float *scale,
                               ng_error *error)
{
    ng_status status = ng_optimizer_find_parameter(optimizer, parameter, error);
    bool finite = true;

    if (status != NG_OK)
        return status;

    const ng_parameter *p = optimizer->parameters[parameter];

    if (!optimizer->releasing)
        return ng_fail(error, NG_BAD_VALUE, "release: %s: before it began",
                       p->name);
    if (optimizer->released[parameter])
        return ng_fail(error, NG_BAD_VALUE, "release: %s: for a second time",
                       p->name);
    if (p->gradient == NULL && p->n > 0)
        return ng_fail(error, NG_BAD_VALUE, "release: %s: has no gradient",
                       p->name);
    if ((status = is_finite(&finite, p, scale)) != NG_OK
        || (finite && (status = step_parameter(optimizer, p, scale)) != NG_OK))
        return failed(p, status, error);
    optimizer->released[parameter] = true;
    optimizer->n_stepped += finite;
    optimizer->n_lost += !finite;
    tell(stepped, finite);
    return ng_optimizer_drop_gradient(optimizer, parameter, error);
}

ng_status ng_optimizer_end_release(bool *stepped, ng_optimizer *optimizer,
                                   ng_error *error)
{
    if (optimizer == NULL)
        return ng_fail(error, NG_BAD_POINTER, "release: %s",
                       ng_status_text(NG_BAD_POINTER));
    if (!optimizer->releasing)
        return ng_fail(error, NG_BAD_VALUE, "release: none is under way");

    const bool all_lost = optimizer->n_lost > 0 && optimizer->n_stepped == 0;

    optimizer->releasing = false;
    optimizer->skipped += optimizer->n_lost > 0;
    if (!all_lost)
        advance(optimizer);
    tell(stepped, !all_lost);
    return NG_OK;
}
