/* SPDX-License-Identifier: Apache-2.0
 *
 * Mistakes can be tried: change one rule to one other value, or do what a
 * subject with a certain mistake would do, and see whether the specification
 * then gives what the subject gave, in how many of the failures that were kept.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/checks/explanation.h"
#include "conformance/checks/verify.h"

/* One in so many failures is looked at first: an explanation that holds for none
 * of those is dropped. */
enum { FIRST_LOOK = 8 };

/* A kept failure, its case, and what the subject gave for it. */
typedef struct evidence {
    ng_failure failure;         /* as the case fails when asked once more */
    ng_variant variant;
    ng_case c;
    ng_recorded recorded;
    bool usable;
} evidence;

typedef struct search {
    evidence *e;
    int n;
    const ng_verify_plan *plan;
    ng_explanation best;
    int explained;              /* by the best */
} search;

static void make_case(evidence *e, const ng_failure *kept)
{
    const ng_case_id *id = &kept->id;

    ng_case_begin(&e->c, id->operation->name, &e->variant, id->stratum->name,
                  id->index, id->seed);
    id->stratum->fill(&e->c, id->index);
    ng_case_spread(&e->c);
}

static void gather(evidence *e, const ng_failure *kept,
                   const ng_verify_plan *plan)
{
    ng_verify_plan asking = *plan;

    e->failure = *kept;
    if (kept->kind == NG_FAILURE_SUBJECT
        || !ng_variant_at(&e->variant, kept->id.operation->axes,
                          kept->id.operation->n_axes, plan->profile,
                          kept->id.variant))
        return;
    make_case(e, kept);
    if (e->c.failed)
        return;
    if (plan->recall != NULL) {
        e->usable = plan->recall(plan->recall_context, &e->recorded, &kept->id,
                                 &e->variant);
        return;
    }
    asking.turn = 0;
    asking.record = &e->recorded;
    ng_failure again = {.id = kept->id};

    e->usable = !ng_verify_made_case(&again, &e->c, &asking)
                && again.kind != NG_FAILURE_SUBJECT;
    if (e->usable)
        e->failure.kind = again.kind;
}

/* How many failures it explains: of those that a first look takes, or of the
 * others. */
static int count(const search *s, const ng_explanation *x, bool first_look)
{
    const int step = s->n > FIRST_LOOK ? s->n / FIRST_LOOK : 1;
    int explained = 0;

#pragma omp parallel for schedule(dynamic, 1) reduction(+ : explained)
    for (int i = 0; i < s->n; i++) {
        const evidence *e = &s->e[i];

        if ((i % step == 0) == first_look
            && (e->usable || x->by_failure != NG_KIND_NONE))
            explained += ng_explanation_holds(x, &e->failure, &e->c,
                                              &e->recorded, s->plan);
    }
    return explained;
}

/* What says how a failure came about, byte for byte, is worth twice as much as
 * what says where it is. */
static int worth(const ng_explanation *x, int explained)
{
    return ng_explanation_predicts(x) ? 2 * explained : explained;
}

/* Keep it if it explains more than the best so far. */
static void try(search *s, const ng_explanation *x)
{
    const int step = s->n > FIRST_LOOK ? s->n / FIRST_LOOK : 1;
    const int looked_at = (s->n + step - 1) / step;
    const int so_far = worth(&s->best, s->explained);
    int explained;

    if (worth(x, s->n) <= so_far)
        return;
    explained = count(s, x, true);
    if (explained == 0 || worth(x, explained + s->n - looked_at) <= so_far)
        return;
    explained += count(s, x, false);
    if (worth(x, explained) <= so_far)
        return;
    s->explained = explained;
    s->best = *x;
}

/* The value of the rule that the first usable failure was asked for. */
static int asked_of(const search *s, ng_rule rule)
{
    for (int i = 0; i < s->n; i++)
        if (s->e[i].usable)
            return ng_rules_get(s->plan->expected_rules != NULL
                                    ? s->plan->expected_rules
                                    : &s->e[i].variant.rules, rule);
    return 0;
}

/* Whether x explains every failure that can be asked of. */
static bool explains_all(const search *s, const ng_explanation *x)
{
    for (int i = 0; i < s->n; i++) {
        const evidence *e = &s->e[i];

        if (e->usable
            && !ng_explanation_holds(x, &e->failure, &e->c, &e->recorded,
                                     s->plan))
            return false;
    }
    return true;
}

/* The subject follows known rules: those of them in which it parts from what it
 * was asked for, without such as explain nothing more. One that parts in several
 * at once may look like one with some mistake, which it has not. */
static void try_known_rules(search *s)
{
    ng_explanation all = {.is_rules = true};
    int n = 0, last = 0;

    for (int r = 0; r < NG_N_RULES; r++) {
        const ng_rule rule = (ng_rule)r;

        ng_rules_set(&all.rules, rule, ng_rules_get(s->plan->acts_like, rule));
        all.parts[r] = ng_rules_get(&all.rules, rule) != asked_of(s, rule);
    }
    if (!explains_all(s, &all))
        return;
    for (int r = 0; r < NG_N_RULES; r++) {
        ng_explanation less = all;

        if (!all.parts[r])
            continue;
        less.parts[r] = false;
        ng_rules_set(&less.rules, (ng_rule)r, asked_of(s, (ng_rule)r));
        if (explains_all(s, &less)) {
            all = less;
            continue;
        }
        n++;
        last = r;
    }
    if (n > 1)
        try(s, &all);
    else if (n == 1)
        try(s, &(ng_explanation){.is_rule = true, .rule = (ng_rule)last,
                                 .asked = asked_of(s, (ng_rule)last),
                                 .value = ng_rules_get(&all.rules,
                                                       (ng_rule)last)});
    if (s->explained > 0)
        s->best.kind = ng_fault_kind_of_rule(
            (ng_rule)last, asked_of(s, (ng_rule)last),
            ng_rules_get(&all.rules, (ng_rule)last));
}

static void try_rules(search *s)
{
    for (int r = 0; r < NG_N_RULES; r++)
        for (int value = 0; value < ng_rule_n_values((ng_rule)r); value++) {
            const int asked = asked_of(s, (ng_rule)r);

            try(s, &(ng_explanation){
                       .is_rule = true, .rule = (ng_rule)r, .asked = asked,
                       .value = value,
                       .kind = ng_fault_kind_of_rule((ng_rule)r, asked,
                                                     value)});
        }
}

static void try_hypotheses(search *s)
{
    static const ng_hypotheses *const families[] = {
        &ng_layout_hypotheses,    &ng_special_hypotheses,
        &ng_rounding_hypotheses,  &ng_scale_hypotheses,
        &ng_alignment_hypotheses, &ng_index_hypotheses,
        &ng_optim_hypotheses};

    for (size_t f = 0; f < sizeof families / sizeof *families; f++)
        for (int i = 0; i < families[f]->n; i++)
            try(s, &(ng_explanation){.hypothesis = &families[f]->list[i],
                                     .kind = families[f]->list[i].kind});
}

static void try_the_rest(search *s)
{
    static const ng_fault_kind kinds[] = {NG_KIND_UNSTABLE, NG_KIND_OUTSIDE,
                                          NG_KIND_NOT_REFUSED,
                                          NG_KIND_UNWRITTEN};

    for (int i = 0; i < ng_place_patterns.n; i++)
        try(s, &(ng_explanation){.pattern = &ng_place_patterns.list[i],
                                 .kind = ng_place_patterns.list[i].kind});
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        try(s, &(ng_explanation){.by_failure = kinds[i], .kind = kinds[i]});
}

void ng_diagnose(ng_operation_result *result, const ng_verify_plan *plan)
{
    search s = {.n = result->n_failures, .plan = plan};
    char words[384];

    result->diagnosis[0] = '\0';
    s.e = calloc((size_t)s.n + 1, sizeof *s.e);
    if (s.e == NULL)
        return;
    for (int i = 0; i < s.n; i++)
        gather(&s.e[i], &result->failure[i], plan);
    if (plan->acts_like != NULL)
        try_known_rules(&s);
    if (s.explained == 0) {
        try_rules(&s);
        try_hypotheses(&s);
        try_the_rest(&s);
    }
    result->explanation = s.best;
    if (s.explained > 0) {
        ng_explanation_words(words, sizeof words, &s.best);
        if (s.n == 1)
            snprintf(result->diagnosis, sizeof result->diagnosis,
                     "%s, which explains the one failure kept", words);
        else
            snprintf(result->diagnosis, sizeof result->diagnosis,
                     "%s, which explains %d of the %d failures kept", words,
                     s.explained, s.n);
    }
    for (int i = 0; i < s.n; i++) {
        ng_outputs_free(&s.e[i].recorded.outputs);
        ng_case_end(&s.e[i].c);
    }
    free(s.e);
}
