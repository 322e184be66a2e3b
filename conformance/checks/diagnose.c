/* SPDX-License-Identifier: Apache-2.0
 *
 * Rules are data, so the broken one can be searched for: change one rule to one
 * other value, and see whether the specification then gives what the subject
 * gave, in every failure that was kept.
 */
#include <stdio.h>
#include <string.h>

#include "conformance/checks/verify.h"

/* How many kept failures pass when the expected side follows other rules. */
static int explained_by(const ng_operation_result *result,
                        const ng_verify_plan *plan, ng_rule rule, int value)
{
    int explained = 0;

#pragma omp parallel for schedule(dynamic, 1) reduction(+ : explained)
    for (int i = 0; i < result->n_failures; i++) {
        const ng_case_id *id = &result->failure[i].id;
        ng_variant variant;
        ng_failure failure;
        ng_events events = {0};
        int64_t elements;

        if (!ng_variant_at(&variant, id->operation->axes, id->operation->n_axes,
                           plan->profile, id->variant))
            continue;

        /* The subject is still asked for what it was asked for; only what is
         * expected of it changes. */
        ng_verify_plan other = *plan;
        ng_rules expected_rules = variant.rules;

        ng_rules_set(&expected_rules, rule, value);
        other.expected_rules = &expected_rules;
        explained += ng_verify_case(&failure, &events, &elements, id, &variant,
                                    &other);
    }
    return explained;
}

void ng_diagnose(ng_operation_result *result, const ng_verify_plan *plan)
{
    int best = 0;

    result->diagnosis[0] = '\0';
    for (int r = 0; r < NG_N_RULES && best < result->n_failures; r++)
        for (int value = 0; value < ng_rule_n_values((ng_rule)r); value++) {
            const int explained = explained_by(result, plan, (ng_rule)r, value);

            if (explained <= best)
                continue;
            best = explained;
            snprintf(result->diagnosis, sizeof result->diagnosis,
                     "rule %s (%s): acts like \"%s\", which explains %d of the "
                     "%d failures kept", ng_rule_name((ng_rule)r),
                     ng_rule_meaning((ng_rule)r),
                     ng_rule_value_name((ng_rule)r, value), explained,
                     result->n_failures);
        }
}
