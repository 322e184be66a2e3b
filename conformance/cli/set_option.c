/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/cli/set_option.h"

#include <stdio.h>
#include <string.h>

#include "conformance/cli/command.h"
#include "conformance/cli/complain.h"

void ng_set_option(const char **set, int *n, const struct argp_state *state,
                   const char *value)
{
    if (strchr(value, '=') == NULL)
        ng_command_refuse(state, "--set: %s: not NAME=VALUE", value);
    ng_command_list(set, n, NG_MAX_SET, state, "--set", value);
}

/* Does any operation have an axis of that name, and one with that value? */
static bool axis_exists(const char *name_value, bool *with_value)
{
    const size_t length = strcspn(name_value, "=");
    const ng_operation *operation;
    bool found = false;

    *with_value = false;
    for (int i = 0; (operation = ng_operation_at(i)) != NULL; i++)
        for (int x = 0; x < operation->n_axes; x++) {
            const ng_axis *axis = &operation->axes[x];
            ng_variant alone = {.n_axes = 1, .axes = axis};

            if (strncmp(axis->name, name_value, length) != 0
                || axis->name[length] != '\0')
                continue;
            found = true;
            for (int v = 0; v < axis->n_values; v++) {
                alone.value[0] = axis->value[v];
                *with_value |= ng_variant_matches(&alone, name_value);
            }
        }
    return found;
}

/* Rules are pinned in the profile, axes filter variants. */
int ng_set_apply(ng_profile *profile, ng_verify_plan *plan, const char *command,
                 const char *const *set, int n)
{
    static const char *filter[NG_MAX_SET];

    plan->axes = filter;
    for (int i = 0; i < n && i < NG_MAX_SET; i++) {
        char name[64];
        const char *value = strchr(set[i], '=') + 1;
        ng_rule rule;
        bool with_value;
        int number;

        snprintf(name, sizeof name, "%.*s", (int)(value - set[i] - 1), set[i]);
        if (ng_rule_find(name, &rule)) {
            if (!ng_rule_value_find(rule, value, &number))
                return ng_complain(NG_EXIT_USAGE, command,
                                   "--set: %s: no such value (narrowgauge ops "
                                   "--rules lists them)",
                                   set[i]);
            ng_rules_set(&profile->rules, rule, number);
            profile->pinned[rule] = true;
        } else if (axis_exists(set[i], &with_value) && with_value) {
            filter[plan->n_axes++] = set[i];
        } else {
            return ng_complain(
                NG_EXIT_USAGE, command, "--set: %s: no such %s", set[i],
                axis_exists(set[i], &with_value) ? "value" : "rule or axis");
        }
    }
    return NG_EXIT_OK;
}
