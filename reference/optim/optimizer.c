/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/optim/optimizer.h"

#include <stdlib.h>

#include "reference/optim/optimizer_parts.h"
#include "reference/optim/ref_optim_views.h"
#include "reference/optim/ref_step_constants.h"

static ng_status no_memory(ng_error *error)
{
    return ng_fail(error, NG_NO_MEMORY, "optimizer: out of memory");
}

static ng_status null_pointer(ng_error *error)
{
    return ng_fail(error, NG_BAD_POINTER, "optimizer: %s",
                   ng_status_text(NG_BAD_POINTER));
}

ng_status ng_optimizer_create(ng_optimizer **out, ng_optimizer_kind kind,
                              const ng_rules *rules, ng_error *error)
{
    const ng_rules *chosen = rules != NULL ? rules : &ng_default_rules;

    if (out == NULL)
        return null_pointer(error);
    if ((unsigned)kind >= NG_N_OPTIMIZERS)
        return ng_fail(error, NG_BAD_VALUE, "optimizer: kind: no such one");
    if (!ng_rules_valid(chosen))
        return ng_fail(error, NG_BAD_RULES, "optimizer: rules: %s",
                       ng_status_text(NG_BAD_RULES));

    ng_optimizer *optimizer = calloc(1, sizeof *optimizer);

    if (optimizer == NULL)
        return no_memory(error);
    optimizer->kind = kind;
    optimizer->rules = *chosen;
    *out = optimizer;
    return NG_OK;
}

void ng_optimizer_free(ng_optimizer *optimizer)
{
    if (optimizer == NULL)
        return;
    for (int64_t i = 0; i < optimizer->n_parameters; i++)
        ng_optimizer_free_parameter(optimizer, optimizer->parameters[i]);
    if (optimizer->backend != NULL)
        optimizer->backend->free(optimizer->backend->context, optimizer->scale);
    free(optimizer->parameters);
    free(optimizer->released);
    free(optimizer->groups);
    free(optimizer);
}

static ng_status bad_setting(const char *field, ng_status status,
                             ng_error *error)
{
    return ng_fail(error, status, "group: %s: %s", field,
                   ng_status_text(status));
}

/* The settings, judged by the checks of the views that they will make. */
static ng_status check_settings(const ng_optimizer *optimizer,
                                const ng_group_settings *settings,
                                ng_error *error)
{
    const ng_optim_options options = {.rules = &optimizer->rules};
    const ng_weights weights = {.dtype = settings->weights,
                                .correction_bits = settings->correction_bits};
    const ng_state m = {.kind = NG_MOMENTUM, .coding = settings->momentum};
    const ng_state v = {.kind = NG_VARIANCE, .coding = settings->variance};
    const ng_gradient g = {.dtype = settings->gradients};
    ng_step_constants constants;
    ng_error cause = {{0}};
    ng_status status;

    if ((status = ng_ref_check_weights(&weights, 0)) != NG_OK)
        return bad_setting(status == NG_BAD_LAYOUT ? "correction_bits"
                                                   : "weights",
                           status, error);
    if ((status = ng_ref_check_state(&m, 0)) != NG_OK)
        return bad_setting("momentum", status, error);
    if ((status = ng_ref_check_state(&v, 0)) != NG_OK)
        return bad_setting("variance", status, error);
    if ((status = ng_ref_check_gradient(&g, 0)) != NG_OK)
        return bad_setting("gradients", status, error);
    status = ng_ref_step_constants(&constants, optimizer->kind,
                                   &settings->hyper, 1, &options, &cause);
    return status == NG_OK ? NG_OK
                           : ng_fail(error, status, "group: %s", cause.text);
}

ng_status ng_optimizer_add_group(int64_t *group, ng_optimizer *optimizer,
                                 const ng_group_settings *settings,
                                 ng_error *error)
{
    if (optimizer == NULL || settings == NULL)
        return null_pointer(error);

    const ng_status status = check_settings(optimizer, settings, error);

    if (status != NG_OK)
        return status;
    if (optimizer->releasing)
        return ng_fail(error, NG_BAD_VALUE, "group: a release is under way");

    ng_group *groups = realloc(
        optimizer->groups, (size_t)(optimizer->n_groups + 1) * sizeof *groups);

    if (groups == NULL)
        return no_memory(error);
    groups[optimizer->n_groups] = (ng_group){.settings = *settings};
    optimizer->groups = groups;
    if (group != NULL)
        *group = optimizer->n_groups;
    optimizer->n_groups++;
    return NG_OK;
}
