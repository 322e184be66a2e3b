/* SPDX-License-Identifier: Apache-2.0
 *
 * What an optimizer tells of itself, and its gradients.
 */
#include "reference/optim/optimizer.h"

#include <stddef.h>

#include "formats/layout.h"
#include "reference/optim/optimizer_parts.h"

ng_optimizer_kind ng_optimizer_kind_of(const ng_optimizer *optimizer)
{
    return optimizer->kind;
}

const ng_rules *ng_optimizer_rules(const ng_optimizer *optimizer)
{
    return &optimizer->rules;
}

int64_t ng_optimizer_n_groups(const ng_optimizer *optimizer)
{
    return optimizer->n_groups;
}

int64_t ng_optimizer_n_parameters(const ng_optimizer *optimizer)
{
    return optimizer->n_parameters;
}

ng_hyper *ng_optimizer_hyper(ng_optimizer *optimizer, int64_t group)
{
    return group >= 0 && group < optimizer->n_groups
               ? &optimizer->groups[group].settings.hyper
               : NULL;
}

const ng_parameter *ng_optimizer_parameter(const ng_optimizer *optimizer,
                                           int64_t parameter)
{
    return parameter >= 0 && parameter < optimizer->n_parameters
               ? optimizer->parameters[parameter]
               : NULL;
}

uint64_t ng_optimizer_steps(const ng_optimizer *optimizer, int64_t group)
{
    return group >= 0 && group < optimizer->n_groups
               ? optimizer->groups[group].steps
               : 0;
}

uint64_t ng_optimizer_skipped(const ng_optimizer *optimizer)
{
    return optimizer->skipped;
}

uint64_t ng_optimizer_partial(const ng_optimizer *optimizer)
{
    return optimizer->partial;
}

ng_optim_counts ng_optimizer_counts(const ng_optimizer *optimizer)
{
    return optimizer->counts;
}

ng_status ng_optimizer_gradient(void **data, ng_optimizer *optimizer,
                                int64_t parameter, ng_error *error)
{
    const ng_status status =
        ng_optimizer_find_parameter(optimizer, parameter, error);

    if (status != NG_OK)
        return status;
    if (data == NULL)
        return ng_fail(error, NG_BAD_POINTER, "gradient: %s",
                       ng_status_text(NG_BAD_POINTER));

    ng_parameter *p = optimizer->parameters[parameter];
    const int64_t size = p->n * (int64_t)ng_dtype_size(p->gradient_dtype);

    if (p->gradient == NULL && size > 0) {
        p->gradient = ng_optimizer_take(optimizer, size);
        if (p->gradient == NULL)
            return ng_fail(error, NG_NO_MEMORY, "gradient: %s: out of memory",
                           p->name);
    }
    *data = p->gradient;
    return NG_OK;
}

ng_status ng_optimizer_drop_gradient(ng_optimizer *optimizer, int64_t parameter,
                                     ng_error *error)
{
    const ng_status status =
        ng_optimizer_find_parameter(optimizer, parameter, error);

    if (status != NG_OK)
        return status;

    ng_parameter *p = optimizer->parameters[parameter];

    ng_optimizer_give(optimizer, p->gradient,
                      p->n * (int64_t)ng_dtype_size(p->gradient_dtype));
    p->gradient = NULL;
    return NG_OK;
}

static int64_t state_bytes(const ng_state *state, int64_t n)
{
    if (state->data == NULL)
        return 0;
    return state->coding == NG_STATE_FP32 ? 4 * n : n;
}

static int64_t scale_bytes(const ng_state *state, int64_t n)
{
    return state->data != NULL && state->coding != NG_STATE_FP32
               ? ng_ceil_div(n, NG_STATE_GROUP) * (int64_t)sizeof *state->scales
               : 0;
}

ng_optimizer_bytes ng_parameter_bytes(const ng_parameter *p)
{
    return (ng_optimizer_bytes){
        .parameters = p->n,
        .weights = p->n * (int64_t)ng_dtype_size(p->weights.dtype),
        .correction = p->n * (p->weights.correction_bits / 8),
        .momentum = state_bytes(&p->momentum, p->n),
        .variance = state_bytes(&p->variance, p->n),
        .scales =
            scale_bytes(&p->momentum, p->n) + scale_bytes(&p->variance, p->n),
        .gradients = p->gradient != NULL
                         ? p->n * (int64_t)ng_dtype_size(p->gradient_dtype)
                         : 0,
    };
}

ng_status ng_optimizer_bytes_of(ng_optimizer_bytes *bytes,
                                const ng_optimizer *optimizer)
{
    ng_optimizer_bytes sum = {0};

    if (bytes == NULL || optimizer == NULL)
        return NG_BAD_POINTER;
    for (int64_t i = 0; i < optimizer->n_parameters; i++) {
        const ng_optimizer_bytes one =
            ng_parameter_bytes(optimizer->parameters[i]);

        sum.parameters += one.parameters;
        sum.weights += one.weights;
        sum.correction += one.correction;
        sum.momentum += one.momentum;
        sum.variance += one.variance;
        sum.scales += one.scales;
        sum.gradients += one.gradients;
    }
    sum.total = sum.weights + sum.correction + sum.momentum + sum.variance
                + sum.scales + sum.gradients;
    *bytes = sum;
    return NG_OK;
}

int64_t ng_optimizer_allocated(const ng_optimizer *optimizer)
{
    return optimizer->allocated;
}

int64_t ng_optimizer_peak(const ng_optimizer *optimizer)
{
    return optimizer->peak;
}
