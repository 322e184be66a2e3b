/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/subject/optim_functions.h"

#include <stdio.h>
#include <string.h>

typedef ng_status run(const ng_optim_functions *, const ng_call *, int what);

/* What an operation's name says beside the function that performs it. */
typedef struct row {
    const char *operation;
    run *run;
    int what;                   /* ng_state_kind or ng_optimizer_kind */
} row;

/* ---- from tensors to views ---- */

/* The tensor "SIDE.NAME", or null; side is 'x' or 'y'. */
static const ng_tensor *find(const ng_call *call, char side, const char *name)
{
    char full[NG_MAX_NAME];

    snprintf(full, sizeof full, "%c.%s", side, name);
    return side == 'x' ? ng_call_input(call, full)
                       : ng_call_output(call, full);
}

static ng_weights weights_of(const ng_call *call, char side)
{
    const ng_tensor *low = find(call, side, "low");
    const ng_tensor *correction = find(call, side, "correction");
    const ng_tensor *theta = find(call, side, "theta");
    ng_weights view = {.dtype = NG_FP32};

    if (low != NULL) {
        view.dtype = low->dtype;
        view.low = low->data;
    } else if (theta != NULL) {
        view.low = theta->data;
    }
    if (correction != NULL) {
        view.correction_bits = 8 * (int)ng_dtype_size(correction->dtype);
        view.correction = correction->data;
    }
    return view;
}

/* The state whose coded form is in "codes" and "scales". */
static ng_state coded_state(const ng_tensor *codes, const ng_tensor *scales,
                            ng_state_kind kind, bool linear)
{
    return (ng_state){.kind = kind,
                      .coding = linear ? NG_STATE_LINEAR : NG_STATE_COMPANDED,
                      .data = codes->data,
                      .scales = scales->data};
}

/* A state of a step, and how many elements it has; false if there is none. */
static bool state_of(ng_state *view, const ng_call *call, char side,
                     ng_state_kind kind)
{
    const char *name = kind == NG_MOMENTUM ? "momentum" : "variance";
    const ng_tensor *numbers = find(call, side, name);
    char codes[32], scales[32], linear[32];

    if (numbers != NULL) {
        *view = (ng_state){.kind = kind, .coding = NG_STATE_FP32,
                           .data = numbers->data};
        return true;
    }
    snprintf(codes, sizeof codes, "%s.codes", name);
    snprintf(scales, sizeof scales, "%s.scales", name);
    snprintf(linear, sizeof linear, "%s.linear", name);
    if (find(call, side, codes) == NULL)
        return false;
    *view = coded_state(find(call, side, codes), find(call, side, scales), kind,
                        ng_call_attribute(call, linear, 0) != 0);
    return true;
}

static double number_of(const ng_call *call, const char *name)
{
    const int64_t bits = ng_call_attribute(call, name, 0);
    double x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

static ng_hyper hyper_of(const ng_call *call)
{
    return (ng_hyper){
        .lr = number_of(call, "lr"), .lr0 = number_of(call, "lr0"),
        .beta1 = number_of(call, "beta1"), .beta2 = number_of(call, "beta2"),
        .momentum = number_of(call, "momentum"),
        .dampening = number_of(call, "dampening"),
        .eps = number_of(call, "eps"),
        .weight_decay = number_of(call, "weight_decay"),
        .nesterov = ng_call_attribute(call, "nesterov", 0) != 0,
        .lr_decoupled = ng_call_attribute(call, "lr_decoupled", 0) != 0};
}

/* ---- what happened ---- */

_Static_assert(sizeof(ng_optim_counts) == NG_N_OPTIM_COUNTS * sizeof(uint64_t),
               "y.counts is an ng_optim_counts");

/* Where a function adds its counts: *own, or the call's array, from zero. */
static ng_optim_counts *counts_for(const ng_optim_functions *table,
                                   const ng_call *call, ng_optim_counts *own)
{
    const ng_tensor *y = ng_call_output(call, "y.counts");

    if (table->move == NULL)
        return own;
    if (y == NULL
        || table->move(y->data, NULL, (int64_t)sizeof *own) != NG_OK)
        return NULL;
    return y->data;
}

static void deliver_counts(const ng_optim_functions *table,
                           const ng_call *call, const ng_optim_counts *counts)
{
    if (table->move != NULL)
        return;

    const ng_tensor *y = ng_call_output(call, "y.counts");
    const ng_group_counts *m = &counts->groups[NG_MOMENTUM];
    const ng_group_counts *v = &counts->groups[NG_VARIANCE];
    const uint64_t list[NG_N_OPTIM_COUNTS] = {
        counts->weights_saturated, m->nan, m->saturated, m->lost,
        v->nan, v->saturated, v->lost};

    if (y != NULL)
        memcpy(y->data, list, sizeof list);
    if (call->events == NULL)
        return;
    call->events->count[NG_EVENT_SATURATED] +=
        counts->weights_saturated + m->saturated + v->saturated;
    call->events->count[NG_EVENT_NAN] += m->nan + v->nan;
    call->events->count[NG_EVENT_FLUSHED] += m->lost + v->lost;
}

/* ---- operations ---- */

static ng_status split_weights(const ng_optim_functions *table,
                               const ng_call *call, int what)
{
    const ng_tensor *x = ng_call_input(call, "x");
    const ng_weights y = weights_of(call, 'y');
    ng_optim_counts counts = {0};
    const ng_optim_options options = {&call->rules,
                                      counts_for(table, call, &counts)};
    const ng_status status =
        table->split_weights(&y, x->data, x->shape[0], &options);

    (void)what;
    if (status == NG_OK)
        deliver_counts(table, call, &counts);
    return status;
}

static ng_status merge_weights(const ng_optim_functions *table,
                               const ng_call *call, int what)
{
    const ng_tensor *y = ng_call_output(call, "y");
    const ng_weights x = weights_of(call, 'x');
    const ng_optim_options options = {&call->rules, NULL};

    (void)what;
    return table->merge_weights(y->data, &x, y->shape[0], &options);
}

static ng_status compand(const ng_optim_functions *table, const ng_call *call,
                         int what)
{
    const ng_tensor *x = ng_call_input(call, "x");
    const ng_state y = coded_state(
        find(call, 'y', "codes"), find(call, 'y', "scales"),
        (ng_state_kind)what, ng_call_attribute(call, "linear", 0) != 0);
    ng_optim_counts counts = {0};
    const ng_optim_options options = {&call->rules,
                                      counts_for(table, call, &counts)};
    const ng_status status = table->compand(&y, x->data, x->shape[0], &options);

    if (status == NG_OK)
        deliver_counts(table, call, &counts);
    return status;
}

static ng_status expand(const ng_optim_functions *table, const ng_call *call,
                        int what)
{
    const ng_tensor *y = ng_call_output(call, "y");
    const ng_state x = coded_state(
        find(call, 'x', "codes"), find(call, 'x', "scales"),
        (ng_state_kind)what, ng_call_attribute(call, "linear", 0) != 0);
    const ng_optim_options options = {&call->rules, NULL};

    return table->expand(y->data, &x, y->shape[0], &options);
}

static ng_status step_constants(const ng_optim_functions *table,
                                const ng_call *call, int what)
{
    const ng_optim_options options = {&call->rules, NULL};
    const ng_hyper hyper = hyper_of(call);
    ng_step_constants c;
    const ng_status status = table->step_constants(
        &c, (ng_optimizer_kind)ng_call_attribute(call, "kind", 0), &hyper,
        (uint64_t)ng_call_attribute(call, "t", 0), &options, NULL);

    (void)what;
    if (status == NG_OK) {
        const float list[NG_N_STEP_CONSTANTS] = {
            c.lr, c.mu, c.cd, c.b1, c.c1, c.b2, c.c2,
            c.eps, c.w, c.d, c.al, c.ka, c.bc1, c.bc2};

        memcpy(ng_call_output(call, "y")->data, list, sizeof list);
    }
    return status;
}

/* Outputs that have an input of their name begin as it is: a step works in
 * place. */
static ng_status copy_states(const ng_optim_functions *table,
                             const ng_call *call)
{
    ng_status status = NG_OK;

    for (int i = 0; i < call->n_outputs && status == NG_OK; i++) {
        const ng_tensor *y = &call->output[i];
        const ng_tensor *x = find(call, 'x', y->name + 2);
        int64_t units, bytes;

        if (x == NULL || ng_tensor_extent(&units, &bytes, x) != NG_OK
            || bytes == 0)
            continue;
        if (table->move != NULL)
            status = table->move(y->data, x->data, bytes);
        else
            memcpy(y->data, x->data, (size_t)bytes);
    }
    return status;
}

static ng_status step(const ng_optim_functions *table, const ng_call *call,
                      int what)
{
    const ng_tensor *grad = ng_call_input(call, "grad");
    const ng_tensor *scale = ng_call_input(call, "grad.scale");
    const ng_gradient g = {grad->dtype, grad->data,
                           scale != NULL ? scale->data : NULL};
    const ng_hyper hyper = hyper_of(call);
    ng_optim_counts counts = {0};
    const ng_optim_options options = {&call->rules,
                                      counts_for(table, call, &counts)};
    const ng_weights theta = weights_of(call, 'y');
    ng_state m, v;
    const bool has_m = state_of(&m, call, 'y', NG_MOMENTUM);
    const bool has_v = state_of(&v, call, 'y', NG_VARIANCE);
    ng_step_constants c;
    ng_status status;

    status = table->step_constants(&c, (ng_optimizer_kind)what, &hyper,
                                   (uint64_t)ng_call_attribute(call, "t", 1),
                                   &options, NULL);
    if (status != NG_OK)
        return status;
    status = copy_states(table, call);
    if (status != NG_OK)
        return status;
    status = table->step(&theta, has_m ? &m : NULL, has_v ? &v : NULL, &g,
                         grad->shape[0], &c, &options);
    if (status == NG_OK)
        deliver_counts(table, call, &counts);
    return status;
}

static const row rows[] = {
    {"split_weights", split_weights, 0},
    {"merge_weights", merge_weights, 0},
    {"compand_momentum", compand, NG_MOMENTUM},
    {"compand_variance", compand, NG_VARIANCE},
    {"expand_momentum", expand, NG_MOMENTUM},
    {"expand_variance", expand, NG_VARIANCE},
    {"step_constants", step_constants, 0},
    {"step_sgd", step, NG_SGD},
    {"step_sgdw", step, NG_SGDW},
    {"step_adam", step, NG_ADAM},
    {"step_adamw", step, NG_ADAMW},
    {"step_lion", step, NG_LION},
};

static bool has(const ng_optim_functions *table, run *function)
{
    return (function == split_weights && table->split_weights != NULL)
           || (function == merge_weights && table->merge_weights != NULL)
           || (function == compand && table->compand != NULL)
           || (function == expand && table->expand != NULL)
           || (function == step_constants && table->step_constants != NULL)
           || (function == step && table->step != NULL
               && table->step_constants != NULL);
}

static const row *row_of(const ng_optim_functions *table, const ng_call *call)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].operation, call->operation) == 0)
            return has(table, rows[i].run) ? &rows[i] : NULL;
    return NULL;
}

bool ng_optim_functions_cover(const ng_optim_functions *table,
                              const ng_call *call)
{
    return row_of(table, call) != NULL;
}

ng_status ng_optim_functions_run(const ng_optim_functions *table,
                                 const ng_call *call)
{
    const row *r = row_of(table, call);

    return r != NULL ? r->run(table, call, r->what) : NG_NOT_COVERED;
}
