/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/optim/ref_stepping.h"

#include <stddef.h>

#include "reference/optim/ref_companding.h"
#include "reference/optim/ref_fp32.h"
#include "reference/optim/ref_optim_groups.h"
#include "reference/optim/ref_optim_views.h"

struct job {
    ng_ref_row *row;
    const ng_weights *theta;
    const ng_state *m, *v;
    const ng_gradient *g;
    int64_t n;
    const ng_step_constants *c;
    const ng_rules *rules;
};

static void load_state(float *x, const ng_state *state, int64_t group,
                       ng_ref_span span, int compand)
{
    for (int64_t i = span.begin; i < span.end; i++)
        if (state->coding == NG_STATE_FP32)
            x[i - span.begin] = ((const float *)state->data)[i];
        else
            x[i - span.begin] = ng_fp32_from_bits(ng_ref_expand_code(
                ((const uint8_t *)state->data)[i], state->scales[group],
                state->kind, state->coding, compand));
}

static void store_state(const ng_state *state, const float *x, int64_t group,
                        ng_ref_span span, int compand, ng_optim_counts *counts)
{
    const int n = (int)(span.end - span.begin);

    if (state->coding != NG_STATE_FP32) {
        ng_ref_compand_group(
            (uint8_t *)state->data + span.begin, &state->scales[group], x, n,
            state->kind, state->coding, compand, &counts->groups[state->kind]);
        return;
    }
    for (int i = 0; i < n; i++)
        ((float *)state->data)[span.begin + i] =
            ng_fp32_from_bits(ng_ref_computed_bits(x[i]));
}

static void step_group(const void *context, int64_t group,
                       ng_optim_counts *counts)
{
    const struct job *job = context;
    const ng_rules *rules = job->rules;
    const ng_ref_span span = ng_ref_span_of(group, job->n);
    float m[NG_STATE_GROUP] = {0}, v[NG_STATE_GROUP] = {0};

    if (job->m != NULL)
        load_state(m, job->m, group, span, rules->compand);
    if (job->v != NULL)
        load_state(v, job->v, group, span, rules->compand);
    for (int64_t i = span.begin; i < span.end; i++) {
        const int64_t at = i - span.begin;
        const uint32_t theta = ng_ref_load_weight(job->theta, i, rules->split);
        ng_ref_element element = {.theta = ng_fp32_from_bits(theta),
                                  .g = ng_ref_load_gradient(job->g, i),
                                  .m = m[at],
                                  .v = v[at]};

        job->row(&element, job->c, rules->step);
        m[at] = element.m;
        v[at] = element.v;
        counts->weights_saturated += ng_ref_store_weight(
            job->theta, i, ng_ref_computed_bits(element.theta), rules->split);
    }
    if (job->m != NULL)
        store_state(job->m, m, group, span, rules->compand, counts);
    if (job->v != NULL)
        store_state(job->v, v, group, span, rules->compand, counts);
}

/* A state that is wanted is there and of its kind. */
static ng_status check_kind(const ng_state *state, ng_state_kind kind,
                            int64_t n)
{
    const ng_status status =
        state != NULL ? ng_ref_check_state(state, n) : NG_OK;

    if (status != NG_OK)
        return status;
    return state != NULL && state->kind != kind ? NG_BAD_LAYOUT : NG_OK;
}

ng_status ng_ref_run_step(ng_ref_row *row, const ng_weights *theta,
                          const ng_state *m, const ng_state *v,
                          const ng_gradient *g, int64_t n,
                          const ng_step_constants *c,
                          const ng_optim_options *options)
{
    ng_status status;

    if ((status = ng_ref_check_optim(n, options)) != NG_OK
        || (status = ng_ref_check_weights(theta, n)) != NG_OK
        || (status = check_kind(m, NG_MOMENTUM, n)) != NG_OK
        || (status = check_kind(v, NG_VARIANCE, n)) != NG_OK
        || (status = ng_ref_check_gradient(g, n)) != NG_OK)
        return status;

    const struct job job = {row, theta, m, v,
                            g,   n,     c, ng_ref_optim_rules(options)};

    ng_ref_run_groups(step_group, &job, n, options);
    return NG_OK;
}
