/* SPDX-License-Identifier: Apache-2.0
 *
 * Parameters and their arrays.
 */
#include "reference/optim/optimizer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/layout.h"
#include "reference/optim/optimizer_parts.h"

static ng_status no_memory(ng_error *error)
{
    return ng_fail(error, NG_NO_MEMORY, "optimizer: out of memory");
}

static ng_status null_pointer(ng_error *error)
{
    return ng_fail(error, NG_BAD_POINTER, "optimizer: %s",
                   ng_status_text(NG_BAD_POINTER));
}

void ng_optimizer_free_parameter(ng_optimizer *optimizer, ng_parameter *p)
{
    const ng_optimizer_bytes size = ng_parameter_bytes(p);
    const int64_t scales = ng_ceil_div(p->n, NG_STATE_GROUP) * 2;

    ng_optimizer_give(optimizer, p->weights.low, size.weights);
    ng_optimizer_give(optimizer, p->weights.correction, size.correction);
    ng_optimizer_give(optimizer, p->momentum.data, size.momentum);
    ng_optimizer_give(optimizer, p->variance.data, size.variance);
    ng_optimizer_give(optimizer, p->momentum.scales, scales);
    ng_optimizer_give(optimizer, p->variance.scales, scales);
    ng_optimizer_give(optimizer, p->gradient, size.gradients);
    free(p);
}

static ng_status check_name(const ng_optimizer *optimizer, const char *name,
                            ng_error *error)
{
    const char *fault = ng_tensor_name_fault(name);

    if (fault != NULL)
        return ng_fail(error, NG_BAD_VALUE, "parameter: name: %s", fault);
    if (strlen(name) > NG_OPTIMIZER_MAX_NAME)
        return ng_fail(error, NG_BAD_VALUE,
                       "parameter: name: longer than %d bytes",
                       NG_OPTIMIZER_MAX_NAME);
    if (strstr(name, "::") != NULL)
        return ng_fail(error, NG_BAD_VALUE, "parameter: name: %s: has \"::\"",
                       name);
    for (int64_t i = 0; i < optimizer->n_parameters; i++)
        if (strcmp(optimizer->parameters[i]->name, name) == 0)
            return ng_fail(error, NG_BAD_VALUE,
                           "parameter: name: %s: given twice", name);
    return NG_OK;
}

static bool wants_momentum(ng_optimizer_kind kind, const ng_hyper *hyper)
{
    return (kind != NG_SGD && kind != NG_SGDW)
           || (float)hyper->momentum != 0.0f;
}

static bool take_state(ng_optimizer *optimizer, ng_state *state, int64_t n)
{
    const bool coded = state->coding != NG_STATE_FP32;

    state->data = ng_optimizer_take(optimizer, coded ? n : 4 * n);
    if (coded)
        state->scales =
            ng_optimizer_take(optimizer, ng_ceil_div(n, NG_STATE_GROUP) * 2);
    return n == 0 || (state->data != NULL && (!coded || state->scales != NULL));
}

/* Fill in a parameter's arrays: zeros, which are the states' beginning. */
static bool take_arrays(ng_optimizer *optimizer, ng_parameter *p,
                        const ng_group_settings *settings)
{
    p->weights = (ng_weights){.dtype = settings->weights,
                              .correction_bits = settings->correction_bits};
    p->momentum = (ng_state){.kind = NG_MOMENTUM, .coding = settings->momentum};
    p->variance = (ng_state){.kind = NG_VARIANCE, .coding = settings->variance};
    p->gradient_dtype = settings->gradients;

    const ng_optimizer_bytes size = ng_parameter_bytes(p);

    p->weights.low = ng_optimizer_take(optimizer, size.weights);
    p->weights.correction = ng_optimizer_take(optimizer, size.correction);
    if (p->n > 0
        && (p->weights.low == NULL
            || (size.correction > 0 && p->weights.correction == NULL)))
        return false;
    p->has_momentum = wants_momentum(optimizer->kind, &settings->hyper);
    p->has_variance = optimizer->kind == NG_ADAM || optimizer->kind == NG_ADAMW;
    return (!p->has_momentum || take_state(optimizer, &p->momentum, p->n))
           && (!p->has_variance || take_state(optimizer, &p->variance, p->n));
}

/* Room for one more parameter. */
static bool grow(ng_optimizer *optimizer)
{
    const size_t n = (size_t)optimizer->n_parameters + 1;
    ng_parameter **parameters =
        realloc(optimizer->parameters, n * sizeof *parameters);

    if (parameters == NULL)
        return false;
    optimizer->parameters = parameters;

    bool *released = realloc(optimizer->released, n * sizeof *released);

    if (released == NULL)
        return false;
    optimizer->released = released;
    return true;
}

ng_status ng_optimizer_add_parameter(int64_t *parameter,
                                     ng_optimizer *optimizer, int64_t group,
                                     const char *name, int rank,
                                     const int64_t *shape, const float *theta,
                                     ng_error *error)
{
    int64_t units = 0, bytes = 0;
    ng_status status;

    if (optimizer == NULL || name == NULL || (rank > 0 && shape == NULL))
        return null_pointer(error);
    if (group < 0 || group >= optimizer->n_groups)
        return ng_fail(error, NG_BAD_SHAPE, "parameter: group: no such one");
    if (optimizer->releasing)
        return ng_fail(error, NG_BAD_VALUE,
                       "parameter: a release is under way");
    if ((status = check_name(optimizer, name, error)) != NG_OK)
        return status;
    if (!ng_tensor_shape_fits(NG_FP32, rank, shape))
        return ng_fail(error, NG_BAD_SHAPE, "parameter: shape: %s: bad", name);

    const ng_tensor tensor = ng_tensor_dense(name, NG_FP32, rank, shape, NULL);

    (void)ng_tensor_extent(&units, &bytes, &tensor); /* it fits */
    if (!grow(optimizer))
        return no_memory(error);

    ng_parameter *p = calloc(1, sizeof *p);

    if (p == NULL)
        return no_memory(error);
    strcpy(p->name, name);
    p->group = group;
    p->rank = rank;
    for (int axis = 0; axis < rank; axis++)
        p->shape[axis] = shape[axis];
    p->n = units;
    if (!take_arrays(optimizer, p, &optimizer->groups[group].settings)) {
        ng_optimizer_free_parameter(optimizer, p);
        return no_memory(error);
    }
    optimizer->parameters[optimizer->n_parameters] = p;
    optimizer->released[optimizer->n_parameters] = false;
    if (parameter != NULL)
        *parameter = optimizer->n_parameters;
    optimizer->n_parameters++;
    return theta == NULL
               ? NG_OK
               : ng_optimizer_import(optimizer, optimizer->n_parameters - 1,
                                     theta, error);
}

ng_status ng_optimizer_find_parameter(const ng_optimizer *optimizer,
                                      int64_t parameter, ng_error *error)
{
    if (optimizer == NULL)
        return null_pointer(error);
    if (parameter < 0 || parameter >= optimizer->n_parameters)
        return ng_fail(error, NG_BAD_SHAPE,
                       "parameter: there is no number %" PRId64, parameter);
    return NG_OK;
}
