/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/train/study_coding.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "formats/layout.h"
#include "formats/profile.h"
#include "reference/optim/ref_compand.h"
#include "reference/optim/ref_expand.h"
#include "reference/train/train_log.h"

typedef struct way {
    ng_state_coding coding;
    const char *profile;
} way;

static const way ways[] = {{NG_STATE_COMPANDED, "ng"},
                           {NG_STATE_COMPANDED, "flashoptim"},
                           {NG_STATE_LINEAR, "ng"},
                           {NG_STATE_LINEAR, "flashoptim"}};

/* All states, end to end, true and decoded. */
typedef struct states {
    int64_t n;
    float *x[NG_N_STATE_KINDS], *y[NG_N_STATE_KINDS];
    double *error; /* relative ones, to be sorted */
} states;

static bool take(states *s, const ng_optimizer *optimizer)
{
    for (int64_t i = 0; i < ng_optimizer_n_parameters(optimizer); i++)
        s->n += ng_optimizer_parameter(optimizer, i)->n;
    for (int kind = 0; kind < NG_N_STATE_KINDS; kind++) {
        s->x[kind] = calloc((size_t)s->n + 1, sizeof **s->x);
        s->y[kind] = calloc((size_t)s->n + 1, sizeof **s->y);
        if (s->x[kind] == NULL || s->y[kind] == NULL)
            return false;
    }
    s->error = calloc((size_t)s->n + 1, sizeof *s->error);
    return s->error != NULL;
}

static void give(states *s)
{
    for (int kind = 0; kind < NG_N_STATE_KINDS; kind++) {
        free(s->x[kind]);
        free(s->y[kind]);
    }
    free(s->error);
}

static bool has(const ng_parameter *p, int kind)
{
    return kind == NG_MOMENTUM ? p->has_momentum : p->has_variance;
}

/* Code and decode one parameter's state into y. */
static ng_status pass(float *y, const float *x, int64_t n, ng_state_kind kind,
                      ng_state_coding coding, const ng_rules *rules)
{
    const ng_optim_options options = {.rules = rules};
    ng_state state = {kind, coding, malloc((size_t)n + 1),
                      malloc((size_t)ng_ceil_div(n, NG_STATE_GROUP) * 2 + 1)};
    ng_status status = state.data == NULL || state.scales == NULL
                           ? NG_NO_MEMORY
                           : ng_ref_compand(&state, x, n, &options);

    if (status == NG_OK)
        status = ng_ref_expand(y, &state, n, &options);
    free(state.data);
    free(state.scales);
    return status;
}

/* Fill in x, and y by a way of coding. */
static ng_status code_all(states *s, const ng_optimizer *optimizer,
                          const way *how, const ng_rules *rules)
{
    int64_t at = 0;

    for (int64_t i = 0; i < ng_optimizer_n_parameters(optimizer); i++) {
        const ng_parameter *p = ng_optimizer_parameter(optimizer, i);

        for (int kind = 0; kind < NG_N_STATE_KINDS; kind++) {
            const ng_state *state =
                kind == NG_MOMENTUM ? &p->momentum : &p->variance;

            if (!has(p, kind))
                continue;
            if (state->coding != NG_STATE_FP32)
                return NG_BAD_DTYPE;
            for (int64_t j = 0; j < p->n; j++)
                s->x[kind][at + j] = ((const float *)state->data)[j];

            const ng_status status =
                pass(s->y[kind] + at, s->x[kind] + at, p->n,
                     (ng_state_kind)kind, how->coding, rules);

            if (status != NG_OK)
                return status;
        }
        at += p->n;
    }
    return NG_OK;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Element i of a row: the true value and the decoded one. Returns whether it
 * takes part; *flushed as study_coding.h has it. */
typedef bool row_value(double *x, double *y, bool *flushed, const states *s,
                       int64_t i, double eps);

static bool momentum(double *x, double *y, bool *flushed, const states *s,
                     int64_t i, double eps)
{
    (void)eps;
    *x = (double)s->x[NG_MOMENTUM][i];
    *y = (double)s->y[NG_MOMENTUM][i];
    *flushed = *y == 0.0;
    return *x != 0.0;
}

static bool variance(double *x, double *y, bool *flushed, const states *s,
                     int64_t i, double eps)
{
    (void)eps;
    *x = (double)s->x[NG_VARIANCE][i];
    *y = (double)s->y[NG_VARIANCE][i];
    *flushed = *y == 0.0;
    return *x != 0.0;
}

static bool update(double *x, double *y, bool *flushed, const states *s,
                   int64_t i, double eps)
{
    const double m = (double)s->x[NG_MOMENTUM][i];
    const double v = (double)s->x[NG_VARIANCE][i];
    const double coded_m = (double)s->y[NG_MOMENTUM][i];
    const double coded_v = (double)s->y[NG_VARIANCE][i];

    *x = m / (sqrt(v) + eps);
    *y = coded_m / (sqrt(coded_v) + eps);
    *flushed = coded_v == 0.0 && coded_m != 0.0;
    return m != 0.0 && v != 0.0;
}

static json_t *quantiles(const double *sorted, int64_t n)
{
    static const struct {
        const char *name;
        int64_t per_mille;
    } wanted[] = {
        {"p50", 500}, {"p90", 900}, {"p99", 990}, {"p999", 999}, {"max", 1000}};
    json_t *object = json_object(); /* null: nothing can be set in it */

    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const int64_t rank = ng_ceil_div(n * wanted[i].per_mille, 1000);

        if (json_object_set_new(
                object, wanted[i].name,
                ng_json_number(rank > 0 ? sorted[rank - 1] : 0.0))
            != 0) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

static json_t *measure(states *s, const char *name, row_value *value,
                       const way *how, int64_t step, double eps)
{
    int64_t n = 0, n_flushed = 0;
    double signal = 0.0, noise = 0.0;

    for (int64_t i = 0; i < s->n; i++) {
        double x, y;
        bool flushed;

        if (!value(&x, &y, &flushed, s, i, eps))
            continue;
        s->error[n++] = fabs(y - x) / fabs(x);
        n_flushed += flushed;
        signal += x * x;
        noise += (y - x) * (y - x);
    }
    qsort(s->error, (size_t)n, sizeof *s->error, ascending);
    return json_pack(
        "{s:I, s:s, s:s, s:s, s:I, s:o, s:o, s:o}", "step", (json_int_t)step,
        "state", name, "coding",
        how->coding == NG_STATE_LINEAR ? "linear" : "companded", "profile",
        how->profile, "elements", (json_int_t)n, "flushed",
        ng_json_number(n > 0 ? (double)n_flushed / (double)n : 0.0),
        "relative_error", quantiles(s->error, n), "snr_db",
        ng_json_number(10.0 * log10(signal / noise)));
}

static ng_status measure_way(json_t *rows, states *s,
                             const ng_optimizer *optimizer, const way *how,
                             int64_t step, double eps, ng_error *error)
{
    const ng_parameter *first = ng_optimizer_parameter(optimizer, 0);
    ng_profile profile;
    ng_status status = ng_profile_load(&profile, how->profile, error);

    if (status != NG_OK)
        return status;
    status = code_all(s, optimizer, how, &profile.rules);
    if (status != NG_OK)
        return ng_fail(error, status, "coding: %s", ng_status_text(status));

    int failed = 0;

    if (first->has_momentum)
        failed |= json_array_append_new(
            rows, measure(s, "momentum", momentum, how, step, eps));
    if (first->has_variance)
        failed |= json_array_append_new(
            rows, measure(s, "variance", variance, how, step, eps));
    if (first->has_momentum && first->has_variance)
        failed |= json_array_append_new(
            rows, measure(s, "update", update, how, step, eps));
    return failed ? ng_fail(error, NG_NO_MEMORY, "coding: out of memory")
                  : NG_OK;
}

ng_status ng_study_measure_coding(json_t *rows, const ng_optimizer *optimizer,
                                  int64_t step, double eps, ng_error *error)
{
    states s = {0};
    ng_status status = NG_OK;

    if (ng_optimizer_n_parameters(optimizer) == 0)
        return NG_OK;
    if (!take(&s, optimizer)) {
        (void)ng_fail(error, NG_NO_MEMORY, "coding: out of memory");
        status = NG_NO_MEMORY;
    }
    for (size_t i = 0; i < sizeof ways / sizeof *ways && status == NG_OK; i++)
        status = measure_way(rows, &s, optimizer, &ways[i], step, eps, error);
    give(&s);
    return status;
}
