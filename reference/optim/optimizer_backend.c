/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the arrays are, and who computes on them.
 */
#include "reference/optim/optimizer_backend.h"

#include <stdlib.h>
#include <string.h>

#include "reference/optim/optimizer_parts.h"
#include "reference/optim/ref_merge_weights.h"
#include "reference/optim/ref_split_weights.h"
#include "reference/optim/ref_step.h"

ng_status ng_optimizer_use_backend(ng_optimizer *optimizer,
                                   const ng_backend *backend, ng_error *error)
{
    if (optimizer == NULL || backend == NULL)
        return ng_fail(error, NG_BAD_POINTER, "optimizer: %s",
                       ng_status_text(NG_BAD_POINTER));
    if (optimizer->n_parameters > 0 || optimizer->backend != NULL)
        return ng_fail(error, NG_BAD_VALUE,
                       "optimizer: a parameter or a backend is there already");
    optimizer->scale =
        backend->alloc(backend->context, sizeof *optimizer->scale);
    if (optimizer->scale == NULL)
        return ng_fail(error, NG_NO_MEMORY, "optimizer: out of memory");
    optimizer->backend = backend;
    return NG_OK;
}

/* ---- memory -------------------------------------------------------------- */

void *ng_optimizer_take(ng_optimizer *optimizer, int64_t size)
{
    const ng_backend *b = optimizer->backend;
    void *data = NULL;

    if (size <= 0)
        return NULL;
    if (b == NULL)
        data = calloc((size_t)size, 1);
    else
        data = b->alloc(b->context, size);
    if (data != NULL && b != NULL && b->zero(b->context, data, size) != NG_OK) {
        b->free(b->context, data);
        data = NULL;
    }
    if (data == NULL)
        return NULL;
    optimizer->allocated += size;
    if (optimizer->allocated > optimizer->peak)
        optimizer->peak = optimizer->allocated;
    return data;
}

void ng_optimizer_give(ng_optimizer *optimizer, void *data, int64_t size)
{
    const ng_backend *b = optimizer->backend;

    if (data != NULL)
        optimizer->allocated -= size;
    if (b == NULL)
        free(data);
    else
        b->free(b->context, data);
}

ng_status ng_optimizer_read(void *to, const ng_optimizer *optimizer,
                            const void *from, int64_t bytes)
{
    const ng_backend *b = optimizer->backend;

    if (bytes == 0)
        return NG_OK;
    if (b != NULL)
        return b->download(b->context, to, from, bytes);
    memcpy(to, from, (size_t)bytes);
    return NG_OK;
}

ng_status ng_optimizer_write(void *to, const ng_optimizer *optimizer,
                             const void *from, int64_t bytes)
{
    const ng_backend *b = optimizer->backend;

    if (bytes == 0)
        return NG_OK;
    if (b != NULL)
        return b->upload(b->context, to, from, bytes);
    memcpy(to, from, (size_t)bytes);
    return NG_OK;
}

/* ---- arithmetic ---------------------------------------------------------- */

/* A parameter's gradient, the factor where the gradient is. */
static ng_status gradient_of(ng_gradient *g, const ng_optimizer *optimizer,
                             const ng_parameter *p, const float *scale)
{
    *g = (ng_gradient){p->gradient_dtype, p->gradient, scale};
    if (optimizer->backend == NULL || scale == NULL)
        return NG_OK;
    g->scale = optimizer->scale;
    return ng_optimizer_write(optimizer->scale, optimizer, scale,
                              sizeof *scale);
}

ng_status ng_optimizer_look_at(bool *finite, const ng_optimizer *optimizer,
                               const ng_parameter *p, const float *scale)
{
    const ng_backend *b = optimizer->backend;
    ng_gradient g;
    const ng_status status = gradient_of(&g, optimizer, p, scale);

    *finite = false;
    if (status != NG_OK)
        return status;
    return b != NULL ? b->is_finite(b->context, finite, &g, p->n)
                     : ng_ref_gradient_is_finite(finite, &g, p->n);
}

ng_status ng_optimizer_move(ng_optimizer *optimizer, const ng_parameter *p,
                            const float *scale)
{
    const ng_backend *b = optimizer->backend;
    const ng_step_constants *c = &optimizer->groups[p->group].constants;
    const ng_optim_options options = {.rules = &optimizer->rules,
                                      .counts = &optimizer->counts};
    ng_gradient g;
    const ng_status status = gradient_of(&g, optimizer, p, scale);

    if (status != NG_OK)
        return status;
    if (b == NULL)
        return ng_ref_step(&p->weights, &p->momentum, &p->variance, &g, p->n, c,
                           &options);
    return b->step(b->context, &p->weights, &p->momentum, &p->variance, &g,
                   p->n, c, &optimizer->rules, &optimizer->counts);
}

ng_status ng_optimizer_wait(const ng_optimizer *optimizer)
{
    const ng_backend *b = optimizer->backend;

    return b != NULL ? b->wait(b->context) : NG_OK;
}

/* ---- weights ------------------------------------------------------------- */

static ng_status say(ng_status status, const ng_parameter *p, ng_error *error)
{
    return status == NG_OK ? NG_OK
                           : ng_fail(error, status, "parameter: %s: %s",
                                     p->name, ng_status_text(status));
}

static ng_status merge(float *theta, const ng_optimizer *optimizer,
                       const ng_parameter *p)
{
    const ng_backend *b = optimizer->backend;
    const ng_optim_options options = {.rules = &optimizer->rules};

    return b != NULL ? b->merge(b->context, theta, &p->weights, p->n,
                                &optimizer->rules)
                     : ng_ref_merge_weights(theta, &p->weights, p->n, &options);
}

static ng_status split(ng_optimizer *optimizer, const ng_parameter *p,
                       const float *theta)
{
    const ng_backend *b = optimizer->backend;
    const ng_optim_options options = {.rules = &optimizer->rules,
                                      .counts = &optimizer->counts};

    return b != NULL ? b->split(b->context, &p->weights, theta, p->n,
                                &optimizer->rules, &optimizer->counts)
                     : ng_ref_split_weights(&p->weights, theta, p->n, &options);
}

ng_status ng_optimizer_export_there(float *theta, const ng_optimizer *optimizer,
                                    int64_t parameter, ng_error *error)
{
    const ng_status status =
        ng_optimizer_find_parameter(optimizer, parameter, error);

    return status == NG_OK
               ? say(merge(theta, optimizer, optimizer->parameters[parameter]),
                     optimizer->parameters[parameter], error)
               : status;
}

/* Where the backend has its own memory the FP32 numbers pass through it. */
ng_status ng_optimizer_export(float *theta, const ng_optimizer *optimizer,
                              int64_t parameter, ng_error *error)
{
    ng_status status = ng_optimizer_find_parameter(optimizer, parameter, error);

    if (status != NG_OK)
        return status;

    const ng_parameter *p = optimizer->parameters[parameter];
    const ng_backend *b = optimizer->backend;
    const int64_t bytes = p->n * (int64_t)sizeof *theta;

    if (b == NULL || p->n == 0 || theta == NULL)
        return ng_optimizer_export_there(theta, optimizer, parameter, error);

    float *there = b->alloc(b->context, bytes);

    status = there != NULL ? merge(there, optimizer, p) : NG_NO_MEMORY;
    if (status == NG_OK)
        status = b->download(b->context, theta, there, bytes);
    b->free(b->context, there);
    return say(status, p, error);
}

ng_status ng_optimizer_import(ng_optimizer *optimizer, int64_t parameter,
                              const float *theta, ng_error *error)
{
    ng_status status = ng_optimizer_find_parameter(optimizer, parameter, error);

    if (status != NG_OK)
        return status;

    const ng_parameter *p = optimizer->parameters[parameter];
    const ng_backend *b = optimizer->backend;
    const int64_t bytes = p->n * (int64_t)sizeof *theta;

    if (b == NULL || p->n == 0 || theta == NULL)
        return say(split(optimizer, p, theta), p, error);

    float *there = b->alloc(b->context, bytes);

    status = there != NULL ? b->upload(b->context, there, theta, bytes)
                           : NG_NO_MEMORY;
    if (status == NG_OK)
        status = split(optimizer, p, there);
    if (status == NG_OK)
        status = b->wait(b->context);
    b->free(b->context, there);
    return say(status, p, error);
}
