/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "conformance/checks/operation.h"
#include "conformance/cli/command.h"
#include "conformance/cli/complain.h"
#include "conformance/subject/subject.h"

typedef enum listing { OPERATIONS, PROFILES, RULES, SUBJECTS } listing;

typedef struct arguments {
    listing what;
    bool json;
    const char *name;
} arguments;

static const struct argp_option options[] = {
    {"profiles", 'p', NULL, 0, "List the profiles and the rules each pins", 0},
    {"rules", 'r', NULL, 0, "List the rules and their values", 0},
    {"subjects", 's', NULL, 0, "List the subjects of this build", 0},
    {"json", 'j', NULL, 0, "Print JSON", 0},
    {0}
};

static error_t parse(int key, char *value, struct argp_state *state)
{
    arguments *a = state->input;

    switch (key) {
    case 'p': a->what = PROFILES; break;
    case 'r': a->what = RULES; break;
    case 's': a->what = SUBJECTS; break;
    case 'j': a->json = true; break;
    case ARGP_KEY_ARG:
        if (a->name != NULL)
            ng_command_refuse(state, "%s: one operation at a time", value);
        a->name = value;
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp argp = {
    options, parse, "[OPERATION]",
    "List every operation with its class and signature; or one, with its axes "
    "and the strata of inputs that a check draws on."
    "\vExamples:\n"
    "  narrowgauge ops\n"
    "  narrowgauge ops quantize_mxfp4\n"
    "  narrowgauge ops --profiles",
    NULL, NULL, NULL};

static const char *axis_value_name(const ng_axis *axis, int value)
{
    return axis->kind == NG_AXIS_RULE ? ng_rule_value_name(axis->rule, value)
           : axis->kind == NG_AXIS_DTYPE ? ng_dtype_name((ng_dtype)value)
           : value != 0 ? "yes" : "no";
}

static json_t *axes_json(const ng_operation *operation)
{
    json_t *axes = json_object();

    for (int a = 0; a < operation->n_axes; a++) {
        const ng_axis *axis = &operation->axes[a];
        json_t *values = json_array();

        for (int v = 0; v < axis->n_values; v++)
            json_array_append_new(values, json_string(axis_value_name(
                                              axis, axis->value[v])));
        json_object_set_new(axes, axis->name, values);
    }
    return axes;
}

/* The subjects of this build that offer the operation in its first variant. */
static json_t *offered_by(const ng_operation *operation)
{
    json_t *names = json_array();
    const ng_subject *subject;

    for (int i = 0; (subject = ng_subject_at(i)) != NULL; i++) {
        const ng_call call = {.operation = operation->name,
                              .rules = ng_default_rules};

        if (subject->covers(&call))
            json_array_append_new(names, json_string(subject->name));
    }
    return names;
}

static json_t *operation_json(const ng_operation *operation)
{
    json_t *strata = json_array();

    for (const ng_stratum *s = operation->strata; s->name != NULL; s++)
        json_array_append_new(strata, json_pack("{s:s, s:s, s:i}",
                                                "name", s->name,
                                                "purpose", s->purpose,
                                                "level", s->level));
    return json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:o}",
                     "name", operation->name,
                     "class", operation->exact ? "exact" : "bounded",
                     "summary", operation->summary,
                     "signature", operation->signature,
                     "axes", axes_json(operation),
                     "backends", offered_by(operation),
                     "strata", strata);
}

static json_t *profile_json(const char *name)
{
    ng_profile profile;
    json_t *rules = json_object();

    if (ng_profile_load(&profile, name, NULL) != NG_OK) {
        json_decref(rules);
        return NULL;
    }
    for (int r = 0; r < NG_N_RULES; r++)
        if (profile.pinned[r])
            json_object_set_new(rules, ng_rule_name((ng_rule)r),
                                json_string(ng_rule_value_name(
                                    (ng_rule)r, ng_rules_get(&profile.rules,
                                                             (ng_rule)r))));
    return json_pack("{s:s, s:s, s:s, s:o}", "name", profile.name, "version",
                     profile.version, "source", profile.source, "rules", rules);
}

static json_t *rule_json(ng_rule rule)
{
    json_t *values = json_array();

    for (int v = 0; v < ng_rule_n_values(rule); v++)
        json_array_append_new(values, json_string(ng_rule_value_name(rule, v)));
    return json_pack("{s:s, s:s, s:s, s:o}", "name", ng_rule_name(rule),
                     "meaning", ng_rule_meaning(rule), "default",
                     ng_rule_value_name(rule, ng_rules_get(&ng_default_rules,
                                                           rule)),
                     "values", values);
}

static json_t *list_json(const arguments *a)
{
    json_t *list = json_array();

    switch (a->what) {
    case OPERATIONS:
        for (int i = 0; ng_operation_at(i) != NULL; i++)
            if (a->name == NULL
                || strcmp(a->name, ng_operation_at(i)->name) == 0)
                json_array_append_new(list, operation_json(ng_operation_at(i)));
        break;
    case PROFILES:
        for (int i = 0; ng_profile_name(i) != NULL; i++)
            json_array_append_new(list, profile_json(ng_profile_name(i)));
        break;
    case RULES:
        for (int r = 0; r < NG_N_RULES; r++)
            json_array_append_new(list, rule_json((ng_rule)r));
        break;
    case SUBJECTS:
        for (int i = 0; ng_subject_at(i) != NULL; i++)
            json_array_append_new(
                list, json_pack("{s:s, s:s}", "name", ng_subject_at(i)->name,
                                "description",
                                ng_subject_at(i)->description));
        break;
    }
    return list;
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text != NULL ? text : "";
}

/* The strings of an array with `separator` between them. */
static void print_joined(const json_t *array, const char *separator)
{
    for (size_t i = 0; i < json_array_size(array); i++)
        printf("%s%s", i > 0 ? separator : "",
               json_string_value(json_array_get(array, i)));
}

static void print_one_operation(const json_t *operation)
{
    const json_t *axes = json_object_get(operation, "axes");
    const json_t *strata = json_object_get(operation, "strata");
    const char *name;
    json_t *values, *stratum;
    size_t i;

    printf("%s (%s)\n  %s\n  %s\n", text_of(operation, "name"),
           text_of(operation, "class"), text_of(operation, "summary"),
           text_of(operation, "signature"));
    printf("  offered by: ");
    print_joined(json_object_get(operation, "backends"), ", ");
    printf("\n\naxes%s\n", json_object_size(axes) > 0 ? "" : ": none");
    json_object_foreach((json_t *)axes, name, values) {
        printf("  %-14s ", name);
        print_joined(values, " | ");
        putchar('\n');
    }
    printf("\ninputs\n");
    json_array_foreach(strata, i, stratum)
        printf("  %-14s level %d  %s\n", text_of(stratum, "name"),
               (int)json_integer_value(json_object_get(stratum, "level")),
               text_of(stratum, "purpose"));
}

static void print_list(const arguments *a, const json_t *list)
{
    json_t *item;
    size_t i;

    json_array_foreach(list, i, item)
        switch (a->what) {
        case OPERATIONS:
            printf("%-20s %-7s %s\n%28s %s\n", text_of(item, "name"),
                   text_of(item, "class"), text_of(item, "summary"), "",
                   text_of(item, "signature"));
            break;
        case PROFILES: {
            const json_t *rules = json_object_get(item, "rules");
            const char *rule;
            json_t *value;

            printf("%-14s %-8s %s\n", text_of(item, "name"),
                   text_of(item, "version"), text_of(item, "source"));
            json_object_foreach((json_t *)rules, rule, value)
                printf("%23s %s = %s\n", "", rule, json_string_value(value));
            break;
        }
        case RULES:
            printf("%-12s %s\n%12s ", text_of(item, "name"),
                   text_of(item, "meaning"), "");
            print_joined(json_object_get(item, "values"), " | ");
            printf("   (default %s)\n", text_of(item, "default"));
            break;
        case SUBJECTS:
            printf("%-14s %s\n", text_of(item, "name"),
                   text_of(item, "description"));
            break;
        }
}

int ng_cmd_ops(int argc, char **argv)
{
    arguments a = {.what = OPERATIONS};

    ng_command_parse(&argp, argc, argv, &a);
    if (a.name != NULL && ng_operation_find(a.name) == NULL)
        return ng_complain(NG_EXIT_USAGE, "ops",
                           "%s: no such operation (narrowgauge ops lists "
                           "them)", a.name);
    json_t *list = list_json(&a);
    if (a.json) {
        json_dumpf(list, stdout, JSON_INDENT(2));
        putchar('\n');
    } else if (a.name != NULL) {
        print_one_operation(json_array_get(list, 0));
    } else {
        print_list(&a, list);
    }
    json_decref(list);
    return NG_EXIT_OK;
}
