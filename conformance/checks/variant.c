/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/checks/variant.h"

#include <stdio.h>
#include <string.h>

int ng_variant_get(const ng_variant *variant, const char *axis, int otherwise)
{
    for (int a = 0; a < variant->n_axes; a++)
        if (strcmp(variant->axes[a].name, axis) == 0)
            return variant->value[a];
    return otherwise;
}

/* The values that an axis keeps under a profile, in order. */
static int values_left(int *value, const ng_axis *axis,
                       const ng_profile *profile)
{
    const bool pinned = axis->kind == NG_AXIS_RULE
                        && profile->pinned[axis->rule];
    const int own = pinned ? ng_rule_n_own(axis->rule) : 0;
    int n = 0;

    if (pinned && axis->n_values == own
        && ng_rules_get(&profile->rules, axis->rule) >= own)
        value[n++] = ng_rules_get(&profile->rules, axis->rule);
    for (int v = 0; v < axis->n_values; v++)
        if (!pinned
            || axis->value[v] == ng_rules_get(&profile->rules, axis->rule))
            value[n++] = axis->value[v];
    return n;
}

bool ng_variant_at(ng_variant *variant, const ng_axis *axes, int n_axes,
                   const ng_profile *profile, int64_t i)
{
    variant->rules = profile->rules;
    variant->n_axes = n_axes;
    variant->axes = axes;
    for (int a = n_axes - 1; a >= 0; a--) {     /* the last axis runs fastest */
        int value[NG_MAX_AXIS_VALUES];
        const int n = values_left(value, &axes[a], profile);

        if (n == 0)
            return false;
        variant->value[a] = value[i % n];
        if (axes[a].kind == NG_AXIS_RULE)
            ng_rules_set(&variant->rules, axes[a].rule, value[i % n]);
        i /= n;
    }
    return i == 0;
}

const char *ng_axis_label(const ng_axis *axis, int value)
{
    switch (axis->kind) {
    case NG_AXIS_RULE:
        return ng_rule_value_name(axis->rule, value);
    case NG_AXIS_DTYPE:
        return ng_dtype_name((ng_dtype)value);
    default:
        return value != 0 ? "yes" : "no";
    }
}

bool ng_variant_matches(const ng_variant *variant, const char *name_value)
{
    const size_t length = strcspn(name_value, "=");

    for (int a = 0; a < variant->n_axes; a++) {
        const ng_axis *axis = &variant->axes[a];

        if (strncmp(axis->name, name_value, length) == 0
            && axis->name[length] == '\0')
            return strcmp(ng_axis_label(axis, variant->value[a]),
                          name_value + length + 1) == 0;
    }
    return true;
}

int ng_variant_print(char *text, size_t size, const ng_variant *variant)
{
    int length = 0;

    if (variant->n_axes == 0)
        return snprintf(text, size, "-");
    for (int a = 0; a < variant->n_axes; a++) {
        const ng_axis *axis = &variant->axes[a];
        const size_t used = (size_t)length < size ? (size_t)length : size;

        length += snprintf(text + used, size - used, "%s%s=%s",
                           a > 0 ? "," : "", axis->name,
                           ng_axis_label(axis, variant->value[a]));
    }
    return length;
}
