/* SPDX-License-Identifier: Apache-2.0
 *
 * The loop over operations, variants, strata and cases. Work is cut into chunks
 * of consecutive cases, which are what shards share out, what threads run in
 * parallel, and what a resumed run skips.
 */
#include "conformance/checks/verify.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "conformance/checks/shrink.h"
#include "conformance/checks/verify_state.h"

enum { CHUNK_CASES = 32 };

static double seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Cases of a stratum that this plan runs, and the i-th of them: all, or a sample
 * drawn by the seed without repetition (an odd multiplier permutes the residues
 * of a power of two; numbers past the end are walked over). */
static int64_t cases_run(const ng_stratum *stratum, const ng_variant *variant,
                         const ng_verify_plan *plan)
{
    int64_t n = 0;

    if (stratum->level <= plan->level
        && (plan->stratum == NULL || strcmp(plan->stratum, stratum->name) == 0))
        n = stratum->count(variant, plan->level);
    if (plan->sample > 0 && stratum->level > 1 && n > plan->sample)
        n = plan->sample;
    return n;
}

static int64_t case_number(const ng_stratum *stratum, const ng_variant *variant,
                           const ng_verify_plan *plan, int64_t i)
{
    const int64_t n = stratum->count(variant, plan->level);
    uint64_t mask = 1, at;

    if (plan->sample == 0 || stratum->level <= 1 || n <= plan->sample)
        return i;
    while (mask < (uint64_t)n)
        mask *= 2;
    mask--;
    at = (uint64_t)i;
    do
        at = (at * UINT64_C(0x9E3779B97F4A7C15) + 2 * plan->seed + 1) & mask;
    while (at >= (uint64_t)n);
    return (int64_t)at;
}

/* Whether an output of the case is bounded and there is nothing to derive its
 * bound. */
static bool lacks_bounds(const ng_operation *operation, const ng_case *c,
                         const ng_verify_plan *plan)
{
    if (operation->bounded == NULL || plan->oracle != NULL
        || (operation->stated && plan->subject->trusted))
        return false;
    for (int i = 0; i < c->call.n_outputs; i++)
        if (operation->bounded(c->variant, c->call.output[i].name))
            return true;
    return false;
}

/* Whether the subject takes this variant at all. */
static bool covered(const ng_operation *operation, const ng_variant *variant,
                    const ng_verify_plan *plan)
{
    /* The types matter too: ask with the first case there is. */
    for (const ng_stratum *s = operation->strata; s->name != NULL; s++) {
        ng_case c;

        if (s->count(variant, plan->level) == 0)
            continue;
        ng_case_begin(&c, operation->name, variant, s->name, 0, plan->seed);
        s->fill(&c, 0);
        ng_foreign foreign = {.host = plan->host};

        c.call.foreign = plan->host != NULL ? &foreign : NULL;
        const bool yes = plan->subject->covers(&c.call)
                         && !lacks_bounds(operation, &c, plan);

        ng_case_end(&c);
        return yes;
    }
    return false;
}

bool ng_verify_wants(const ng_operation *operation, const ng_variant *variant,
                     const ng_verify_plan *plan)
{
    if (operation->offers != NULL && !operation->offers(variant))
        return false;
    for (int f = 0; f < plan->n_axes; f++)
        if (!ng_variant_matches(variant, plan->axes[f]))
            return false;
    return true;
}

/* Whether the case ran, to pass or to fail; if not, it is counted as such. */
static bool was_run(ng_operation_result *result, const ng_failure *failure)
{
    result->not_covered_cases += failure->not_covered;
    result->verdicts[failure->verdict.kind] +=
        failure->verdict.kind != NG_VERDICT_NONE;
    return !failure->not_covered
           && failure->verdict.kind != NG_VERDICT_GIVEN_UP;
}

static void keep_failure(ng_operation_result *result, const ng_failure *failure)
{
    result->failed_cases++;
    result->differences += failure->difference.count;
    if (result->n_failures < NG_MAX_KEPT_FAILURES)
        result->failure[result->n_failures++] = *failure;
}

/* Threads for a chunk. Beside a subject in another process there is one more
 * than processors: one waits for the subject, and the others would wait for
 * that one; and more threads than processors do not spin at the chunk's end,
 * where the subject needs the processor. */
static int n_threads(const ng_verify_plan *plan)
{
#ifdef _OPENMP
    return omp_get_max_threads() + (plan->host != NULL ? 1 : 0);
#else
    (void)plan;
    return 1;
#endif
}

/* Run cases first .. last - 1 of a stratum and add them to *result. */
static void run_chunk(ng_operation_result *result, const ng_case_id *base,
                      const ng_variant *variant, const ng_verify_plan *plan,
                      int64_t first, int64_t last)
{
    const int n = (int)(last - first);
    ng_failure *failure = calloc((size_t)n, sizeof *failure);
    ng_measurement *measured = calloc((size_t)n, sizeof *measured);
    bool passed[CHUNK_CASES];
    ng_events events[CHUNK_CASES] = {{{0}}};
    int64_t elements[CHUNK_CASES];

    if (failure == NULL || measured == NULL) {
        ng_failure lost = {.id = *base, .kind = NG_FAILURE_STATUS,
                           .got_status = NG_NO_MEMORY};

        keep_failure(result, &lost);
        free(failure);
        free(measured);
        return;
    }
    ng_host_restart_turns(plan->host);
#pragma omp parallel for schedule(dynamic, 1) num_threads(n_threads(plan))
    for (int i = 0; i < n; i++) {
        ng_case_id id = *base;
        ng_verify_plan mine = *plan;

        mine.turn = i + 1;
        mine.measure = &measured[i];
        id.index = case_number(id.stratum, variant, plan, first + i);
        passed[i] = ng_verify_case(&failure[i], &events[i], &elements[i], &id,
                                   variant, &mine);
        ng_host_end_turn(plan->host, mine.turn);
    }
    for (int i = 0; i < n; i++) {       /* in order: the same text every time */
        if (!was_run(result, &failure[i]))
            continue;
        result->cases++;
        result->elements += elements[i];
        ng_events_add(&result->events, &events[i]);
        ng_judgement_add(&result->judged, &failure[i].judged);
        ng_measurement_add(&result->measured, &measured[i]);
        if (!passed[i])
            keep_failure(result, &failure[i]);
    }
    free(failure);
    free(measured);
}

static void add_tally(ng_tally *sum, const ng_operation_result *part)
{
    sum->cases += part->cases;
    sum->failed_cases += part->failed_cases;
    sum->differences += part->differences;
    sum->inputs += part->measured.inputs;
    sum->outputs += part->measured.outputs;
}

void ng_verify_tally(ng_operation_result *sum, const ng_operation_result *part,
                     const ng_case_id *id, const ng_variant *variant)
{
    const int64_t number = id->stratum - id->operation->strata;

    if (number >= NG_MAX_STRATA)
        abort();                        /* a table's own mistake */
    add_tally(&sum->stratum[number], part);
    for (int a = 0; a < variant->n_axes; a++)
        for (int v = 0; v < variant->axes[a].n_values; v++)
            if (variant->axes[a].value[v] == variant->value[a])
                add_tally(&sum->value[a][v], part);
}

typedef struct walk {
    const ng_verify_plan *plan;
    ng_verify_state *state;
    int64_t chunk, done, total; /* chunks over all operations; cases */
} walk;

static ng_status walk_stratum(walk *w, ng_operation_result *result,
                              const ng_case_id *id, const ng_variant *variant,
                              ng_error *error)
{
    const ng_verify_plan *plan = w->plan;
    const int64_t n = cases_run(id->stratum, variant, plan);

    for (int64_t first = 0; first < n; first += CHUNK_CASES) {
        const int64_t last = first + CHUNK_CASES < n ? first + CHUNK_CASES : n;
        ng_chunk_id chunk = {.id = *id, .first = first, .last = last};

        if (w->chunk++ % plan->n_shards != plan->shard)
            continue;
        if (plan->stop_after > 0 && result->failed_cases >= plan->stop_after)
            return NG_OK;

        /* Apart from what came before, so that its own counts can be told. */
        ng_operation_result *part = calloc(1, sizeof *part);
        ng_status status = NG_OK;

        if (part == NULL)
            return ng_fail(error, NG_NO_MEMORY, "verify: out of memory");
        if (!ng_verify_state_skip(w->state, &chunk, part)) {
            run_chunk(part, id, variant, plan, first, last);
            status = ng_verify_state_add(w->state, &chunk, part, error);
        }
        ng_verify_tally(result, part, id, variant);
        ng_verify_merge(result, part);
        free(part);
        if (status != NG_OK)
            return status;
        w->done += last - first;
        if (plan->progress != NULL)
            plan->progress(plan->context, id->operation->name, w->done,
                           w->total);
    }
    return NG_OK;
}

static ng_status walk_operation(walk *w, ng_operation_result *result,
                                const ng_operation *operation, ng_error *error)
{
    const ng_verify_plan *plan = w->plan;
    const double start = seconds_now();
    ng_case_id id = {.operation = operation, .seed = plan->seed};
    ng_variant variant;

    for (id.variant = 0; ng_variant_at(&variant, operation->axes,
                                       operation->n_axes, plan->profile,
                                       id.variant);
         id.variant++) {
        if (!ng_verify_wants(operation, &variant, plan))
            continue;
        if (!covered(operation, &variant, plan)) {
            result->not_covered++;
            continue;
        }
        result->variants++;
        for (id.stratum = operation->strata; id.stratum->name != NULL;
             id.stratum++) {
            const ng_status status =
                walk_stratum(w, result, &id, &variant, error);

            if (status != NG_OK)
                return status;
        }
    }
    result->seconds += seconds_now() - start;
    return NG_OK;
}

/* How many cases this shard will run, for the progress bar. */
static int64_t count_cases(const ng_operation *const *list, int n,
                           const ng_verify_plan *plan)
{
    int64_t total = 0;

    for (int i = 0; i < n; i++) {
        ng_variant variant;

        for (int64_t v = 0; ng_variant_at(&variant, list[i]->axes,
                                          list[i]->n_axes, plan->profile, v);
             v++) {
            if (!ng_verify_wants(list[i], &variant, plan)
                || !covered(list[i], &variant, plan))
                continue;
            for (const ng_stratum *s = list[i]->strata; s->name != NULL; s++)
                total += cases_run(s, &variant, plan);
        }
    }
    return total / plan->n_shards;
}

void ng_verify_merge(ng_operation_result *sum, const ng_operation_result *part)
{
    sum->cases += part->cases;
    sum->elements += part->elements;
    sum->failed_cases += part->failed_cases;
    sum->differences += part->differences;
    sum->not_covered_cases += part->not_covered_cases;
    for (int v = 0; v < NG_N_VERDICTS; v++)
        sum->verdicts[v] += part->verdicts[v];
    ng_events_add(&sum->events, &part->events);
    ng_judgement_add(&sum->judged, &part->judged);
    ng_measurement_add(&sum->measured, &part->measured);
    for (int i = 0; i < part->n_failures; i++)
        if (sum->n_failures < NG_MAX_KEPT_FAILURES)
            sum->failure[sum->n_failures++] = part->failure[i];
}

/* Thousands of small cases, one after the other: on one thread, for the time
 * that threads take to meet is longer than each. */
ng_status ng_verify_explain(ng_operation_result *result,
                            const ng_verify_plan *plan, ng_error *error)
{
#ifdef _OPENMP
    const int n = omp_get_max_threads();

    omp_set_num_threads(1);
#endif
    ng_diagnose(result, plan);

    const ng_status status = ng_shrink(result, plan, error);
#ifdef _OPENMP
    omp_set_num_threads(n);
#endif
    return status;
}

ng_status ng_verify(ng_operation_result *result, const ng_operation *const *list,
                    int n, const ng_verify_plan *plan, ng_error *error)
{
    walk w = {.plan = plan};
    ng_status status = NG_OK;

    memset(result, 0, (size_t)n * sizeof *result);
    for (int i = 0; i < n; i++)
        result[i].operation = list[i];
    /* Whether a program is still the same nobody can tell: it begins anew. */
    if (plan->state_path != NULL
        && (plan->host == NULL || ng_host_library(plan->host) != NULL))
        status = ng_verify_state_open(&w.state, plan, error);
    w.total = count_cases(list, n, plan);
    for (int i = 0; i < n && status == NG_OK; i++) {
        status = walk_operation(&w, &result[i], list[i], error);
        if (status == NG_OK && result[i].n_failures > 0
            && !plan->unexplained)
            status = ng_verify_explain(&result[i], plan, error);
    }
    ng_verify_state_close(w.state);
    return status;
}
