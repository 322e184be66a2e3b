/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "conformance/checks/verify.h"
#include "conformance/cli/command.h"
#include "conformance/cli/complain.h"
#include "conformance/cli/progress.h"
#include "conformance/cli/set_option.h"
#include "conformance/cli/subject_option.h"
#include "reports/terminal_text.h"
#include "reports/text_escape.h"

enum {
    KEY_TIMEOUT = 256,
    KEY_EXEC,
    KEY_SET,
    KEY_SEED,
    KEY_JSON,
    MAX_PROFILES = 64
};

typedef struct arguments {
    const char *subject, *execute, *operation;
    const char *profile[MAX_PROFILES], *set[NG_MAX_SET];
    int n_profiles, n_set;
    uint64_t seed;
    double timeout;
    bool json, quiet;
} arguments;

static const struct argp_option options[] = {
    {"subject", 's', "S", 0,
     "Which implementation: one of `narrowgauge ops --subjects`, or the path "
     "of "
     "a plug-in",
     1},
    {"subject-exec", KEY_EXEC, "CMD", 0, "A program instead (docs/subjects.md)",
     1},
    {"op", 'o', "OP", 0, "The operation", 1},
    {"profile", 'p', "P", 0,
     "Only this profile, or a file (repeatable); otherwise every one of "
     "`narrowgauge ops --profiles`",
     1},
    {"set", KEY_SET, "NAME=VALUE", 0, "Pin a rule or an axis (repeatable)", 1},
    {"seed", KEY_SEED, "N", 0, "Seed of the random strata (default 1)", 2},
    {"timeout", KEY_TIMEOUT, "SECONDS", 0,
     "How long one call may take (default 10)", 2},
    {"json", KEY_JSON, NULL, 0, "Print JSON", 2},
    {"quiet", 'q', NULL, 0, "No progress", 2},
    {0}};

static error_t parse(int key, char *value, struct argp_state *state)
{
    arguments *a = state->input;

    switch (key) {
    case 's':
        a->subject = value;
        break;
    case KEY_EXEC:
        a->subject = a->execute = value;
        break;
    case 'o':
        a->operation = value;
        break;
    case 'p':
        ng_command_list(a->profile, &a->n_profiles, MAX_PROFILES, state,
                        "--profile", value);
        break;
    case KEY_SET:
        ng_set_option(a->set, &a->n_set, state, value);
        break;
    case KEY_SEED:
        a->seed =
            (uint64_t)ng_command_number(state, "--seed", value, 0, INT64_MAX);
        break;
    case KEY_TIMEOUT:
        a->timeout = ng_timeout_option(state, value);
        break;
    case KEY_JSON:
        a->json = true;
        break;
    case 'q':
        a->quiet = true;
        break;
    case ARGP_KEY_ARG:
        ng_command_stray(state, value);
    case ARGP_KEY_END:
        if (a->subject == NULL || a->operation == NULL)
            ng_command_refuse(state, "--subject and --op are needed");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp argp = {
    options,
    parse,
    NULL,
    "Run a subject under every profile and say which it equals; where they "
    "part, "
    "the rule and one input. A profile that pins nothing the operation reads "
    "is "
    "tried in every variant that the subject offers."
    "\vExample:\n"
    "  narrowgauge identify --subject cuda-headers --op encode_e2m1\n"
    "  narrowgauge identify --subject ./kernel.so --op quantize_mxfp4\n\n"
    "Exit status: 0 it equals a profile; 1 none; 2 usage; 3 the subject "
    "failed; "
    "4 the environment; 77 it cannot run here.",
    NULL,
    NULL,
    NULL};

/* A subject that takes a rule in one value only is never asked for another, but
 * may still be held to it. Pin all rules: those of the profile, and where the
 * subject does not take one, a value that it takes; say which in `asked`.
 * *expected is what the profile wants. Returns whether there is such a rule. */
static bool ask_otherwise(char *asked, size_t size, ng_profile *profile,
                          ng_rules *expected, const char *operation,
                          const ng_host *host)
{
    size_t used = 0;

    *expected = profile->rules;
    for (int r = 0; r < NG_N_RULES; r++) {
        const ng_rule rule = (ng_rule)r;
        int value = ng_rules_get(&profile->rules, rule);
        const bool pinned = profile->pinned[r];

        profile->pinned[r] = true;
        if (ng_host_takes_rule(host, operation, rule, value))
            continue;
        for (value = 0; value < ng_rule_n_values(rule); value++)
            if (ng_host_takes_rule(host, operation, rule, value))
                break;
        if (value == ng_rule_n_values(rule))
            return false;
        ng_rules_set(&profile->rules, rule, value);
        if (!pinned)
            ng_rules_set(expected, rule, value);
        else if (used < size)
            used += (size_t)snprintf(asked + used, size - used, "%s%s=%s",
                                     used > 0 ? ", " : "", ng_rule_name(rule),
                                     ng_rule_value_name(rule, value));
    }
    return used > 0;
}

/* Hold the subject to one profile. Returns its entry, null without memory. */
static json_t *judge(const arguments *a, const char *name,
                     const ng_operation *operation,
                     const ng_chosen_subject *chosen, int *status)
{
    ng_operation_result *result = calloc(1, sizeof *result);
    const char *verdict;
    char line[1536] = "", asked[512] = "";
    ng_profile profile;
    ng_rules expected;
    ng_error error = {""};
    json_t *entry = NULL;

    if (result == NULL)
        return NULL;
    ng_verify_plan plan = {.subject = chosen->subject,
                           .host = chosen->host,
                           .expected = &ng_subject_reference,
                           .oracle = ng_subject_find("oracle"),
                           .profile = &profile,
                           .seed = a->seed,
                           .n_shards = 1};

    if (plan.oracle != NULL && plan.oracle->bounds == NULL)
        plan.oracle = NULL;
    if (ng_profile_load(&profile, name, &error) != NG_OK)
        *status = ng_complain(NG_EXIT_USAGE, "identify", "%s", error.text);
    else
        *status = ng_set_apply(&profile, &plan, "identify", a->set, a->n_set);
    if (*status == NG_EXIT_OK
        && ng_verify(result, &operation, 1, &plan, &error) != NG_OK)
        *status =
            ng_complain(NG_EXIT_ENVIRONMENT, "identify", "%s", error.text);
    if (*status == NG_EXIT_OK && result->cases == 0 && chosen->host != NULL
        && ask_otherwise(asked, sizeof asked, &profile, &expected,
                         operation->name, chosen->host)) {
        plan.expected_rules = &expected;
        if (ng_verify(result, &operation, 1, &plan, &error) != NG_OK)
            *status =
                ng_complain(NG_EXIT_ENVIRONMENT, "identify", "%s", error.text);
    }
    if (*status == NG_EXIT_OK) {
        for (int v = 0; v < NG_N_VERDICTS; v++)
            if (ng_verdict_is_failure((ng_verdict_kind)v)
                && result->verdicts[v] > 0)
                *status = NG_EXIT_SUBJECT;
        verdict = result->failed_cases > 0 ? "differs"
                  : result->cases > 0      ? "equal"
                                           : "not covered";
        /* A line's variant goes by the profile: one asked otherwise cannot be
         * replayed under it, and stands here only where nothing simpler does. */
        if (result->n_failures > 0
            && (*asked == '\0' || *result->shrunk == '\0'))
            ng_failure_print(line, sizeof line, &result->failure[0]);
        entry = json_pack(
            "{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:s, s:s,"
            " s:s, s:s}",
            "profile", profile.name, "version", profile.version, "verdict",
            verdict, "variants", (json_int_t)result->variants, "cases",
            (json_int_t)result->cases, "failed_cases",
            (json_int_t)result->failed_cases, "differences",
            (json_int_t)result->differences, "diagnosis", result->diagnosis,
            "failure", line, "shrunk", result->shrunk, "asked", asked);
    }
    free(result);
    return entry;
}

static const char *text_of(const json_t *entry, const char *key)
{
    const char *text = json_string_value(json_object_get(entry, key));

    return text != NULL ? text : "";
}

static int64_t number_of(const json_t *entry, const char *key)
{
    return json_integer_value(json_object_get(entry, key));
}

/* Which it equals comes first; why it does not equal the others, below. */
static void print(const json_t *list, const char *subject,
                  const char *operation)
{
    enum { INDENT = 5 };
    json_t *entry;
    size_t i;
    int n = 0, wide = (int)strlen("profile");
    char *equals = NULL;
    size_t size;
    FILE *to = open_memstream(&equals, &size);

    json_array_foreach(list, i, entry) {
        const int length = (int)strlen(text_of(entry, "profile"));

        wide = length > wide && length < 40 ? length : wide;
        if (to != NULL && strcmp(text_of(entry, "verdict"), "equal") == 0)
            fprintf(to, "%s%s", n++ > 0 ? ", " : "", text_of(entry, "profile"));
    }
    if (to != NULL)
        fclose(to);
    ng_print_paragraph(stdout, INDENT, "%s, %s", subject, operation);
    ng_print_paragraph(stdout, INDENT, "equals: %s",
                       n > 0 && equals != NULL ? equals : "none");
    free(equals);
    printf("\n%-*s variants    cases differences\n", wide, "profile");
    json_array_foreach(list, i, entry) {
        ng_print_escaped(stdout, NG_TO_TERMINAL, text_of(entry, "profile"));
        printf("%*s %8" PRId64 " %8" PRId64 " %11" PRId64 "  %s\n",
               wide - (int)strlen(text_of(entry, "profile")) > 0
                   ? wide - (int)strlen(text_of(entry, "profile"))
                   : 0,
               "", number_of(entry, "variants"), number_of(entry, "cases"),
               number_of(entry, "differences"), text_of(entry, "verdict"));
        if (*text_of(entry, "diagnosis") != '\0')
            ng_print_paragraph(stdout, INDENT, "%*s%s", INDENT, "",
                               text_of(entry, "diagnosis"));
        if (*text_of(entry, "asked") != '\0')
            ng_print_paragraph(stdout, INDENT, "%*sasked for what it takes, %s",
                               INDENT, "", text_of(entry, "asked"));
        if (*text_of(entry, "shrunk") != '\0')
            ng_print_paragraph(stdout, INDENT, "%*s%s", INDENT, "",
                               text_of(entry, "shrunk"));
        if (*text_of(entry, "failure") != '\0') {
            fputs("     ", stdout); /* to be copied: one line */
            ng_print_escaped(stdout, NG_TO_TERMINAL, text_of(entry, "failure"));
            fputc('\n', stdout);
        }
    }
}

static bool equals_any(const json_t *list)
{
    json_t *entry;
    size_t i;

    json_array_foreach(list, i, entry)
        if (strcmp(text_of(entry, "verdict"), "equal") == 0)
            return true;
    return false;
}

static int run(const arguments *a, const ng_operation *operation,
               const ng_chosen_subject *chosen)
{
    json_t *list = json_array();
    int worst = NG_EXIT_OK, total = a->n_profiles;
    ng_progress bar;
    const char *name;

    while (a->n_profiles == 0 && ng_profile_name(total) != NULL)
        total++;
    ng_progress_begin(&bar, a->quiet, "profiles");

    for (int i = 0; (name = a->n_profiles == 0  ? ng_profile_name(i)
                            : i < a->n_profiles ? a->profile[i]
                                                : NULL)
                    != NULL;
         i++) {
        int status = NG_EXIT_OK;
        json_t *entry = judge(a, name, operation, chosen, &status);

        ng_progress_update(&bar, name, i + 1, total);

        if (status != NG_EXIT_OK)
            worst = status;
        if (status != NG_EXIT_OK && status != NG_EXIT_SUBJECT) {
            ng_progress_end(&bar);
            json_decref(entry);
            json_decref(list);
            return status;
        }
        if (json_array_append_new(list, entry) != 0) {
            json_decref(list);
            return ng_complain(NG_EXIT_ENVIRONMENT, "identify",
                               "out of memory");
        }
    }
    ng_progress_end(&bar);
    if (worst == NG_EXIT_OK && !equals_any(list))
        worst = NG_EXIT_DIFFERENCE;
    if (a->json) {
        const int printed = ng_print_json(
            json_pack("{s:s, s:s, s:o}", "subject", chosen->subject->name,
                      "operation", operation->name, "profiles", list));

        return printed != NG_EXIT_OK ? printed : worst;
    }
    print(list, chosen->subject->name, operation->name);
    json_decref(list);
    return worst;
}

int ng_cmd_identify(int argc, char **argv)
{
    arguments a = {.seed = 1, .timeout = NG_DEFAULT_TIMEOUT};
    const ng_operation *operation;
    ng_chosen_subject chosen;
    int status;

    ng_command_parse(&argp, argc, argv, &a);
    operation = ng_operation_find(a.operation);
    if (operation == NULL)
        return ng_complain(NG_EXIT_USAGE, "identify",
                           "--op: %s: no such operation (narrowgauge ops lists "
                           "them)",
                           a.operation);
    status = a.execute != NULL
                 ? ng_subject_execute(&chosen, "identify", a.execute, a.timeout)
                 : ng_subject_choose(&chosen, "identify", a.subject, a.timeout);
    if (status == NG_EXIT_OK)
        status = run(&a, operation, &chosen);
    ng_subject_release(&chosen);
    return status;
}
