/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/checks/shrink.h"

#include <stdio.h>
#include <string.h>

#include "conformance/checks/small_file.h"

enum { MAX_STARTS = 32, MAX_ROUNDS = 4 };

/* Whether a failure of the small case is the one that is looked for. */
static bool is_the_same(const ng_search *s, const ng_failure *failure,
                        const ng_case *c, const ng_recorded *recorded)
{
    if (failure->kind == NG_FAILURE_SUBJECT
        && failure->verdict.kind != s->first.verdict.kind)
        return false;
    if (ng_explanation_is_some(s->explanation))
        return ng_explanation_holds(s->explanation, failure, c, recorded,
                                    s->plan);
    return failure->kind == s->first.kind
           && strcmp(failure->tensor, s->first.tensor) == 0;
}

bool ng_search_try(ng_search *s, ng_small *candidate)
{
    ng_failure failure = {.id = s->first.id};
    ng_recorded recorded = {.status = NG_OK};
    ng_verify_plan plan = *s->plan;
    ng_case c;
    bool same = false;

    plan.turn = 0;
    plan.measure = NULL;
    if (plan.recall != NULL)
        plan.recorded = &recorded;
    else
        plan.record = &recorded;
    if (s->tries < NG_SHRINK_TRIES) {
        s->tries++;
        same = ng_small_make(&c, candidate, &failure.id, s->variant)
               && (plan.recall == NULL
                   || ng_explanation_give(&recorded, s->explanation, &c, &plan))
               && !ng_verify_made_case(&failure, &c, &plan)
               && is_the_same(s, &failure, &c, &recorded);
        ng_outputs_free(&recorded.outputs);
        ng_case_end(&c);
    }
    if (!same) {
        ng_small_free(candidate);
        return false;
    }
    ng_small_free(&s->best);
    s->best = *candidate;
    s->failure = failure;
    return true;
}

/* What can be left out: one of the sizes, or groups. */
enum { GROUPS = NG_N_SIZES, MANY = 24 };

static int64_t how_many(const ng_search *s, int what)
{
    return what == GROUPS ? s->best.n_groups : s->best.size[what];
}

static bool try_without(ng_search *s, int what, int64_t first, int64_t n)
{
    ng_small small;

    if (s->tries >= NG_SHRINK_TRIES || first + n > how_many(s, what)
        || ((what == NG_COLS || what == NG_LINES) && n == how_many(s, what)))
        return false;
    return (what == GROUPS
                ? ng_small_without_groups(&small, &s->best, first, n)
                : ng_small_without(&small, &s->best, (ng_size)what, first, n))
           && ng_search_try(s, &small);
}

/* Powers of two, so that what comes in blocks can leave in blocks. Of many only
 * the two ends, while the piece is small. */
static bool drop(ng_search *s, int what)
{
    int64_t n = 1;
    bool any = false;

    while (2 * n <= how_many(s, what))
        n *= 2;
    for (; n >= 1; n /= 2) {
        int64_t step = n;

        if (how_many(s, what) / n > MANY) {
            while (try_without(s, what, how_many(s, what) - n, n))
                any = true;
            step = how_many(s, what); /* and what is before it */
        }
        for (int64_t first = 0; first + n <= how_many(s, what);)
            if (try_without(s, what, first, n))
                any = true;
            else
                first += step > 0 ? step : 1;
    }
    return any;
}

static bool drop_all(ng_search *s)
{
    ng_small small;
    bool any = false;

    for (int what = GROUPS; what >= 0; what--)
        any |= drop(s, what);
    if (s->tries < NG_SHRINK_TRIES && ng_small_dense(&small, &s->best))
        any |= ng_search_try(s, &small);
    return any;
}

/* The case of a kept failure, in the simplest form in which it fails: dense
 * before gaps, zero bits before ones where nothing may be read. */
static bool start(ng_search *s, const ng_case *c)
{
    /* Nothing, NaN, the largest scale, the largest FP8 code. */
    static const unsigned char padding[4] = {0, 0xFF, 0xFE, 0x7E};
    ng_small whole, small;
    bool started = false;

    if (!ng_small_of(&whole, c))
        return false;
    for (int way = 0; !started && way < (whole.odd_layout ? 8 : 4); way++) {
        if (!ng_small_copy(&small, &whole))
            break;
        small.odd_layout = way / 4 != 0;
        small.padding = padding[way % 4];
        started = ng_search_try(s, &small);
    }
    ng_small_free(&whole);
    return started;
}

static bool find_start(ng_search *s, ng_variant *variant,
                       const ng_operation_result *result)
{
    bool started = false;
    int starts = 0;

    for (int i = 0; !started && i < result->n_failures && starts < MAX_STARTS;
         i++) {
        const ng_failure *failure = &result->failure[i];
        const ng_case_id *id = &failure->id;
        ng_case c;

        if (failure->kind == NG_FAILURE_SUBJECT
            && failure->verdict.kind != NG_VERDICT_OUTSIDE
            && failure->verdict.kind != NG_VERDICT_INPUT
            && failure->verdict.kind != NG_VERDICT_PRINTED)
            continue;
        if (!ng_variant_at(variant, id->operation->axes, id->operation->n_axes,
                           s->plan->profile, id->variant))
            continue;
        s->first = *failure;
        ng_case_begin(&c, id->operation->name, variant, id->stratum->name,
                      id->index, id->seed);
        id->stratum->fill(&c, id->index);
        started = start(s, &c);
        starts++;
        ng_case_end(&c);
    }
    return started;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/* Of several rules in which the subject parts, say the one that the small case
 * takes: the case still fails so under it alone. */
static void name_the_rule(ng_operation_result *result, ng_search *s)
{
    const ng_explanation *all = &result->explanation;
    const size_t used = strlen(result->diagnosis);
    char words[384];

    if (s->plan->recall != NULL) /* nobody to ask: any rule would answer yes */
        return;
    for (int r = 0; all->is_rules && r < NG_N_RULES; r++) {
        const ng_rule rule = (ng_rule)r;
        const ng_rules *asked = s->plan->expected_rules != NULL
                                    ? s->plan->expected_rules
                                    : &s->variant->rules;
        const ng_explanation one = {.is_rule = true,
                                    .rule = rule,
                                    .asked = ng_rules_get(asked, rule),
                                    .value = ng_rules_get(&all->rules, rule)};
        ng_small same;

        if (!all->parts[r] || !ng_small_copy(&same, &s->best))
            continue;
        s->explanation = &one;
        s->tries = 0;
        const bool alone = ng_search_try(s, &same);

        s->explanation = all;
        if (!alone)
            continue;
        ng_explanation_words(words, sizeof words, &one);
        snprintf(result->diagnosis + used, sizeof result->diagnosis - used,
                 "; the input below by one: %s", words);
        return;
    }
}

ng_status ng_shrink(ng_operation_result *result, const ng_verify_plan *plan,
                    ng_error *error)
{
    ng_variant variant;
    ng_search s = {
        .plan = plan, .variant = &variant, .explanation = &result->explanation};
    ng_status status = NG_OK;
    char path[4096];
    bool any;

    result->shrunk[0] = result->small_case[0] = '\0';
    if ((plan->recall != NULL && !ng_explanation_predicts(&result->explanation))
        || !find_start(&s, &variant, result))
        return NG_OK;
    ng_search_calm(&s);
    for (int round = 0; round < MAX_ROUNDS; round++) {
        any = drop_all(&s);
        if (round > 0 && !any)
            break;
        ng_search_simplify(&s);
    }
    name_the_rule(result, &s);
    ng_search_words(result->shrunk, sizeof result->shrunk, &s);
    if (plan->recall != NULL)
        strncat(result->shrunk, ", if it does so here too",
                sizeof result->shrunk - strlen(result->shrunk) - 1);
    if (plan->small_cases != NULL) {
        snprintf(path, sizeof path, "%s/%s.safetensors", plan->small_cases,
                 result->operation->name);
        status = ng_small_write(path, plan->small_cases, &s.best, &s.failure,
                                &variant, plan->profile, error);
        snprintf(result->small_case, sizeof result->small_case,
                 "%s/%s.safetensors", last_part(plan->small_cases),
                 result->operation->name);
    }
    ng_small_free(&s.best);
    return status;
}
