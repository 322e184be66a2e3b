/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/optim/optimizer.h"

#include <inttypes.h>
#include <stddef.h>

#include "reference/optim/optimizer_parts.h"
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

/* Whether every gradient that is there is finite. */
static ng_status look_at_all(bool *finite, const ng_optimizer *optimizer,
                             const float *scale)
{
    ng_status status = NG_OK;

    *finite = true;
    for (int64_t i = 0;
         i < optimizer->n_parameters && *finite && status == NG_OK; i++)
        if (optimizer->parameters[i]->gradient != NULL)
            status = ng_optimizer_look_at(finite, optimizer,
                                          optimizer->parameters[i], scale);
    return status;
}

static ng_status move_all(ng_optimizer *optimizer, const float *scale)
{
    ng_status status = NG_OK;

    for (int64_t i = 0; i < optimizer->n_parameters && status == NG_OK; i++)
        if (optimizer->parameters[i]->gradient != NULL)
            status = ng_optimizer_move(optimizer, optimizer->parameters[i],
                                       scale);
    return status == NG_OK ? ng_optimizer_wait(optimizer) : status;
}

static ng_status say(ng_status status, ng_error *error)
{
    return status == NG_OK ? NG_OK
                           : ng_fail(error, status, "step: %s",
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

static ng_status null_pointer(const char *what, ng_error *error)
{
    return ng_fail(error, NG_BAD_POINTER, "%s: %s", what,
                   ng_status_text(NG_BAD_POINTER));
}

/* Whether no release is under way. */
static ng_status check_idle(const ng_optimizer *optimizer, ng_error *error)
{
    if (optimizer == NULL)
        return null_pointer("step", error);
    return !optimizer->releasing
               ? NG_OK
               : ng_fail(error, NG_BAD_VALUE, "step: a release is under way");
}

ng_status ng_optimizer_is_finite(bool *finite, const ng_optimizer *optimizer,
                                 const float *scale, ng_error *error)
{
    if (finite == NULL || optimizer == NULL)
        return null_pointer("gradients", error);
    return say(look_at_all(finite, optimizer, scale), error);
}

ng_status ng_optimizer_skip(ng_optimizer *optimizer, ng_error *error)
{
    const ng_status status = check_idle(optimizer, error);

    if (status == NG_OK)
        optimizer->skipped++;
    return status;
}

ng_status ng_optimizer_step(bool *stepped, ng_optimizer *optimizer,
                            const float *scale, ng_error *error)
{
    ng_status status = check_idle(optimizer, error);

    bool finite;

    if (status == NG_OK)
        status = prepare(optimizer, error);
    if (status == NG_OK)
        status = say(look_at_all(&finite, optimizer, scale), error);
    if (status != NG_OK)
        return status;
    tell(stepped, finite);
    if (!finite)
        return ng_optimizer_skip(optimizer, error);
    status = say(move_all(optimizer, scale), error);
    if (status == NG_OK)
        advance(optimizer);
    return status;
}

ng_status ng_optimizer_begin_release(ng_optimizer *optimizer, ng_error *error)
{
    ng_status status = check_idle(optimizer, error);

    if (status == NG_OK)
        status = prepare(optimizer, error);
    if (status != NG_OK)
        return status;
    for (int64_t i = 0; i < optimizer->n_parameters; i++)
        optimizer->released[i] = false;
    optimizer->release = (ng_release_report){.parameter = -1};
    optimizer->releasing = true;
    return NG_OK;
}

/* A parameter without elements counts as neither: it cannot have stepped. */
static void count_release(ng_release_report *release, int64_t parameter,
                          int64_t n, bool finite)
{
    release->stepped += finite && n > 0;
    release->skipped += !finite;
    if (!finite && release->parameter < 0)
        release->parameter = parameter;
}

ng_status ng_optimizer_release(bool *stepped, ng_optimizer *optimizer,
                               int64_t parameter, const float *scale,
                               ng_error *error)
{
    ng_status status = ng_optimizer_find_parameter(optimizer, parameter, error);
    bool finite;

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

    status = ng_optimizer_look_at(&finite, optimizer, p, scale);
    if (status == NG_OK && finite)
        status = ng_optimizer_move(optimizer, p, scale);
    if (status == NG_OK)
        status = ng_optimizer_wait(optimizer); /* the gradient is freed */
    if (status != NG_OK)
        return say(status, error);
    optimizer->released[parameter] = true;
    count_release(&optimizer->release, parameter, p->n, finite);
    tell(stepped, finite);
    return ng_optimizer_drop_gradient(optimizer, parameter, error);
}

ng_status ng_optimizer_end_release(ng_release_report *report,
                                   ng_optimizer *optimizer, bool elsewhere,
                                   ng_error *error)
{
    if (optimizer == NULL)
        return null_pointer("release", error);
    if (!optimizer->releasing)
        return ng_fail(error, NG_BAD_VALUE, "release: none is under way");

    ng_release_report ended = optimizer->release;
    const bool any_stepped = ended.stepped > 0 || elsewhere;

    ended.advanced = any_stepped || ended.skipped == 0;
    ended.partial = any_stepped && ended.skipped > 0;
    optimizer->releasing = false;
    optimizer->skipped += !ended.advanced;
    optimizer->partial += ended.partial;
    if (ended.advanced)
        advance(optimizer);
    if (report != NULL)
        *report = ended;
    return NG_OK;
}
