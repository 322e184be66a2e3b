/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/cli/rules_option.h"

#include <stdio.h>
#include <string.h>

ng_status ng_rules_apply(ng_rules *rules, const char *assignment,
                         ng_error *error)
{
    const char *equals = strchr(assignment, '=');
    char name[64] = "";
    ng_rule rule;
    int value;

    if (equals == NULL || (size_t)(equals - assignment) >= sizeof name)
        return ng_fail(error, NG_BAD_RULES, "--set: %s: not RULE=VALUE",
                       assignment);
    memcpy(name, assignment, (size_t)(equals - assignment));
    if (!ng_rule_find(name, &rule))
        return ng_fail(error, NG_BAD_RULES,
                       "--set: %s: no such rule "
                       "(narrowgauge ops --rules lists them)",
                       name);
    if (!ng_rule_value_find(rule, equals + 1, &value))
        return ng_fail(error, NG_BAD_RULES,
                       "--set: %s: no such value: %s "
                       "(narrowgauge ops --rules lists them)",
                       name, equals + 1);
    ng_rules_set(rules, rule, value);
    return NG_OK;
}

void ng_rules_text(char *text, size_t size, const ng_rules *rules, bool all)
{
    size_t used = 0;

    text[0] = '\0';
    for (int i = 0; i < NG_N_RULES; i++) {
        const ng_rule rule = (ng_rule)i;
        const int value = ng_rules_get(rules, rule);

        if (used < size
            && (all || value != ng_rules_get(&ng_default_rules, rule)))
            used += (size_t)snprintf(text + used, size - used, "%s%s=%s",
                                     used > 0 ? " " : "", ng_rule_name(rule),
                                     ng_rule_value_name(rule, value));
    }
}
