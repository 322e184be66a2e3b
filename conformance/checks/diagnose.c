/* SPDX-License-Identifier: Apache-2.0
 *
 * Rules are data, so the broken one can be searched for: change one rule to one
 * other value, and see whether the specification then gives what the subject
 * gave, in every failure that was kept.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/checks/rule_words.h"
#include "conformance/checks/verify.h"

/* A kept failure, with what the subject gave: only what is expected of it
 * changes here. */
typedef struct evidence {
    ng_variant variant;
    ng_recorded recorded;
    bool usable;
} evidence;

static void gather(evidence *e, const ng_failure *kept,
                   const ng_verify_plan *plan)
{
    ng_verify_plan asking = *plan;
    ng_failure failure;
    ng_events events = {0};
    int64_t elements;

    *e = (evidence){.usable = false};
    if (kept->kind == NG_FAILURE_SUBJECT
        || !ng_variant_at(&e->variant, kept->id.operation->axes,
                          kept->id.operation->n_axes, plan->profile,
                          kept->id.variant))
        return;
    if (plan->recall != NULL) {
        e->usable = plan->recall(plan->recall_context, &e->recorded, &kept->id,
                                 &e->variant);
        return;
    }
    asking.turn = 0;
    asking.record = &e->recorded;
    e->usable = !ng_verify_case(&failure, &events, &elements, &kept->id,
                                &e->variant, &asking)
                && failure.kind != NG_FAILURE_SUBJECT;
}

/* The rules that the failure was judged by. */
static const ng_rules *base_of(const evidence *e, const ng_verify_plan *plan)
{
    return plan->expected_rules != NULL ? plan->expected_rules
                                        : &e->variant.rules;
}

/* How many kept failures pass when the expected side follows other rules. */
static int explained_by(const ng_operation_result *result,
                        const evidence *evidence_of, const ng_verify_plan *plan,
                        ng_rule rule, int value)
{
    int explained = 0;

#pragma omp parallel for schedule(dynamic, 1) reduction(+ : explained)
    for (int i = 0; i < result->n_failures; i++) {
        const evidence *e = &evidence_of[i];
        ng_verify_plan other = *plan;
        ng_rules expected_rules = *base_of(e, plan);
        ng_failure failure;
        ng_events events = {0};
        int64_t elements;

        if (!e->usable)
            continue;
        ng_rules_set(&expected_rules, rule, value);
        other.host = NULL;
        other.expected_rules = &expected_rules;
        other.recorded = &e->recorded;
        explained += ng_verify_case(&failure, &events, &elements,
                                    &result->failure[i].id, &e->variant,
                                    &other);
    }
    return explained;
}

/* The value of the rule that the first usable failure was asked for. */
static int asked_of(const evidence *e, int n, const ng_verify_plan *plan,
                    ng_rule rule)
{
    for (int i = 0; i < n; i++)
        if (e[i].usable)
            return ng_rules_get(base_of(&e[i], plan), rule);
    return 0;
}

void ng_diagnose(ng_operation_result *result, const ng_verify_plan *plan)
{
    evidence *e = calloc((size_t)result->n_failures + 1, sizeof *e);
    char words[96];
    int best = 0;

    result->diagnosis[0] = '\0';
    for (int i = 0; e != NULL && i < result->n_failures; i++)
        gather(&e[i], &result->failure[i], plan);
    for (int r = 0; e != NULL && r < NG_N_RULES && best < result->n_failures;
         r++)
        for (int value = 0; value < ng_rule_n_values((ng_rule)r); value++) {
            const int explained =
                explained_by(result, e, plan, (ng_rule)r, value);

            if (explained <= best)
                continue;
            best = explained;
            ng_rule_words(words, sizeof words, (ng_rule)r,
                          asked_of(e, result->n_failures, plan,
                                   (ng_rule)r), value);
            snprintf(result->diagnosis, sizeof result->diagnosis,
                     "%s: rule %s (%s): acts like \"%s\", which explains %d of the "
                     "%d failures kept", words, ng_rule_name((ng_rule)r),
                     ng_rule_meaning((ng_rule)r),
                     ng_rule_value_name((ng_rule)r, value), explained,
                     result->n_failures);
        }
    for (int i = 0; e != NULL && i < result->n_failures; i++)
        ng_outputs_free(&e[i].recorded.outputs);
    free(e);
}
