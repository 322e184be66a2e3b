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
    MAX_PROFILES = 64,
    INDENT = 5
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
    "tried in every variant that the subject offers; one that pins rules, but "
    "none that the operation reads, says nothing of it and is listed apart."
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

/* A profile, and what the subject gave under it. */
typedef struct judged {
    ng_profile profile;
    bool pinned[NG_N_RULES]; /* by its text or --set */
    ng_rules expected;       /* where it was asked otherwise */
    char asked[512];         /* for what then, or "" */
    bool silent;             /* no rule that it pins is read */
    int status;
    ng_verify_plan plan;
    ng_operation_result result;
} judged;

static bool equals(const judged *j)
{
    return j->result.failed_cases == 0 && j->result.cases > 0;
}

/* ---- profiles that say nothing of the operation -------------------------- */

static bool is_axis(const ng_operation *operation, ng_rule rule)
{
    for (int a = 0; a < operation->n_axes; a++)
        if (operation->axes[a].kind == NG_AXIS_RULE
            && operation->axes[a].rule == rule)
            return true;
    return false;
}

static const judged *without_its_rules;

/* In the variants that the subject takes. */
static bool covers_alike(const ng_call *call)
{
    const ng_verify_plan *plan = &without_its_rules->plan;
    ng_foreign foreign = {.host = plan->host};
    ng_call asked = *call;

    asked.foreign = plan->host != NULL ? &foreign : NULL;
    return ng_subject_reference.covers(call) && plan->subject->covers(&asked);
}

/* The reference without those rules: they have their defaults. */
static ng_status run_without(const ng_call *call)
{
    ng_call other = *call;

    for (int r = 0; r < NG_N_RULES; r++)
        if (without_its_rules->pinned[r])
            ng_rules_set(&other.rules, (ng_rule)r,
                         ng_rules_get(&ng_default_rules, (ng_rule)r));
    return ng_subject_reference.run(&other);
}

/* Whether the profile pins rules, but none that the operation reads: none is one
 * of its axes, and without all of them the same comes out. (A profile that pins
 * none at all is the specification.) */
static bool is_silent(const judged *j, const ng_operation *operation)
{
    const ng_subject without = {.name = "without",
                                .covers = covers_alike,
                                .run = run_without,
                                .trusted = true};
    ng_operation_result *result;
    ng_verify_plan plan = j->plan;
    ng_error error = {""};
    bool any = false, silent;

    for (int r = 0; r < NG_N_RULES; r++) {
        if (j->pinned[r] && is_axis(operation, (ng_rule)r))
            return false;
        any = any || j->pinned[r];
    }
    result = any ? calloc(1, sizeof *result) : NULL;
    if (result == NULL)
        return false;
    without_its_rules = j;
    plan.subject = &without;
    plan.host = NULL;
    plan.stop_after = 1;
    if (operation->stated) /* in bits, without bounds */
        plan.oracle = NULL;
    silent = ng_verify(result, &operation, 1, &plan, &error) == NG_OK
             && result->failed_cases == 0;
    without_its_rules = NULL;
    free(result);
    return silent;
}

/* ---- the rules that part ------------------------------------------------- */

/* What the subject follows under j's profile if it equals the other: the other's
 * rules, but where that leaves a rule free and the subject takes it as asked.
 * Returns in how many this is not what is expected. */
static int rules_followed(ng_rules *rules, const judged *j, const judged *other,
                          const ng_operation *operation)
{
    const ng_rules *expected = j->plan.expected_rules != NULL
                                   ? j->plan.expected_rules
                                   : &j->profile.rules;
    int n = 0;

    *rules = *expected;
    for (int r = 0; r < NG_N_RULES; r++) {
        const ng_rule rule = (ng_rule)r;
        const bool free_axis = !other->pinned[r] && is_axis(operation, rule);

        ng_rules_set(
            rules, rule,
            ng_rules_get(free_axis ? &j->profile.rules : &other->profile.rules,
                         rule));
        n += ng_rules_get(rules, rule) != ng_rules_get(expected, rule);
    }
    return n;
}

/* Diagnose a profile that differs, by the nearest that is equal. */
static ng_status explain(judged *j, judged *const *all, int n,
                         const ng_operation *operation, ng_error *error)
{
    ng_rules nearest = j->profile.rules, rules;
    int fewest = NG_N_RULES + 1;

    for (int i = 0; i < n; i++) {
        if (all[i] == NULL || !equals(all[i]))
            continue;
        const int parts = rules_followed(&rules, j, all[i], operation);

        if (parts > 0 && parts < fewest) {
            fewest = parts;
            nearest = rules;
        }
    }
    if (fewest <= NG_N_RULES)
        j->plan.acts_like = &nearest;
    j->plan.unexplained = false;

    const ng_status status = ng_verify_explain(&j->result, &j->plan, error);

    j->plan.acts_like = NULL;
    return status;
}

/* ---- one profile --------------------------------------------------------- */

/* Hold the subject to one profile. Null without memory. */
static judged *judge(const arguments *a, const char *name,
                     const ng_operation *operation,
                     const ng_chosen_subject *chosen)
{
    judged *j = calloc(1, sizeof *j);
    ng_error error = {""};

    if (j == NULL)
        return NULL;
    j->plan = (ng_verify_plan){.subject = chosen->subject,
                               .host = chosen->host,
                               .expected = &ng_subject_reference,
                               .oracle = ng_subject_find("oracle"),
                               .profile = &j->profile,
                               .seed = a->seed,
                               .n_shards = 1,
                               .unexplained = true};
    if (j->plan.oracle != NULL && j->plan.oracle->bounds == NULL)
        j->plan.oracle = NULL;
    if (ng_profile_load(&j->profile, name, &error) != NG_OK)
        j->status = ng_complain(NG_EXIT_USAGE, "identify", "%s", error.text);
    else
        j->status =
            ng_set_apply(&j->profile, &j->plan, "identify", a->set, a->n_set);
    memcpy(j->pinned, j->profile.pinned, sizeof j->pinned);
    if (j->status == NG_EXIT_OK
        && ng_verify(&j->result, &operation, 1, &j->plan, &error) != NG_OK)
        j->status =
            ng_complain(NG_EXIT_ENVIRONMENT, "identify", "%s", error.text);
    if (j->status == NG_EXIT_OK && equals(j))
        j->silent = is_silent(j, operation);
    if (j->status == NG_EXIT_OK && j->result.cases == 0 && chosen->host != NULL
        && ask_otherwise(j->asked, sizeof j->asked, &j->profile, &j->expected,
                         operation->name, chosen->host)) {
        j->plan.expected_rules = &j->expected;
        if (ng_verify(&j->result, &operation, 1, &j->plan, &error) != NG_OK)
            j->status =
                ng_complain(NG_EXIT_ENVIRONMENT, "identify", "%s", error.text);
    }
    for (int v = 0; v < NG_N_VERDICTS && j->status == NG_EXIT_OK; v++)
        if (ng_verdict_is_failure((ng_verdict_kind)v)
            && j->result.verdicts[v] > 0)
            j->status = NG_EXIT_SUBJECT;
    return j;
}

static json_t *entry_of(const judged *j)
{
    const ng_operation_result *result = &j->result;
    const char *verdict = result->failed_cases > 0 ? "differs"
                          : result->cases == 0     ? "not covered"
                          : j->silent              ? "says nothing of it"
                                                   : "equal";
    char line[1536] = "";

    /* A line's variant goes by the profile: one asked otherwise cannot be
     * replayed under it, and stands here only where nothing simpler does. */
    if (result->n_failures > 0
        && (*j->asked == '\0' || *result->shrunk == '\0'))
        ng_failure_print(line, sizeof line, &result->failure[0]);
    return json_pack(
        "{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:s, s:s,"
        " s:s, s:s}",
        "profile", j->profile.name, "version", j->profile.version, "verdict",
        verdict, "variants", (json_int_t)result->variants, "cases",
        (json_int_t)result->cases, "failed_cases",
        (json_int_t)result->failed_cases, "differences",
        (json_int_t)result->differences, "diagnosis", result->diagnosis,
        "failure", line, "shrunk", result->shrunk, "asked", j->asked);
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

/* "NAME: ocp, ng", of the profiles with that verdict. Returns how many. */
static int print_names(const char *label, const json_t *list,
                       const char *verdict)
{
    json_t *entry;
    size_t i, size;
    int n = 0;
    char *names = NULL;
    FILE *to = open_memstream(&names, &size);

    json_array_foreach(list, i, entry)
        if (to != NULL && strcmp(text_of(entry, "verdict"), verdict) == 0)
            fprintf(to, "%s%s", n++ > 0 ? ", " : "", text_of(entry, "profile"));
    if (to != NULL)
        fclose(to);
    if (n > 0 && names != NULL)
        ng_print_paragraph(stdout, INDENT, "%s: %s", label, names);
    free(names);
    return n;
}

/* Which it equals comes first; why it does not equal the others, below. */
static void print(const json_t *list, const char *subject,
                  const char *operation)
{
    json_t *entry;
    size_t i;
    int wide = (int)strlen("profile");

    json_array_foreach(list, i, entry) {
        const int length = (int)strlen(text_of(entry, "profile"));

        wide = length > wide && length < 40 ? length : wide;
    }
    ng_print_paragraph(stdout, INDENT, "%s, %s", subject, operation);
    if (print_names("equals", list, "equal") == 0)
        ng_print_paragraph(stdout, INDENT, "equals: none");
    print_names("say nothing of it", list, "says nothing of it");
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

/* Under all profiles first, for what a subject equals says in what it parts from
 * the others. Fills list; returns the exit status. */
static int judge_all(json_t *list, const arguments *a,
                     const ng_operation *operation,
                     const ng_chosen_subject *chosen, judged **all, int n)
{
    int worst = NG_EXIT_OK, status = NG_EXIT_OK;
    ng_error error = {""};
    ng_progress bar;

    ng_progress_begin(&bar, a->quiet, "profiles");
    for (int i = 0; i < n && status == NG_EXIT_OK; i++) {
        const char *name =
            a->n_profiles == 0 ? ng_profile_name(i) : a->profile[i];

        all[i] = judge(a, name, operation, chosen);
        ng_progress_update(&bar, name, i + 1, n);
        if (all[i] == NULL)
            status =
                ng_complain(NG_EXIT_ENVIRONMENT, "identify", "out of memory");
        else if (all[i]->status == NG_EXIT_SUBJECT)
            worst = NG_EXIT_SUBJECT;
        else
            status = all[i]->status;
    }
    for (int i = 0; i < n && status == NG_EXIT_OK; i++) {
        if (all[i]->result.n_failures > 0
            && explain(all[i], all, n, operation, &error) != NG_OK)
            status =
                ng_complain(NG_EXIT_ENVIRONMENT, "identify", "%s", error.text);
        else if (json_array_append_new(list, entry_of(all[i])) != 0)
            status =
                ng_complain(NG_EXIT_ENVIRONMENT, "identify", "out of memory");
    }
    ng_progress_end(&bar);
    return status != NG_EXIT_OK ? status : worst;
}

static int run(const arguments *a, const ng_operation *operation,
               const ng_chosen_subject *chosen)
{
    json_t *list = json_array();
    int status, n = a->n_profiles;
    judged **all;

    while (a->n_profiles == 0 && ng_profile_name(n) != NULL)
        n++;
    all = calloc((size_t)n, sizeof(judged *));
    status = all != NULL ? judge_all(list, a, operation, chosen, all, n)
                         : ng_complain(NG_EXIT_ENVIRONMENT, "identify",
                                       "out of memory");
    for (int i = 0; all != NULL && i < n; i++)
        free(all[i]);
    free(all);
    if (status != NG_EXIT_OK && status != NG_EXIT_SUBJECT) {
        json_decref(list);
        return status;
    }
    if (status == NG_EXIT_OK && !equals_any(list))
        status = NG_EXIT_DIFFERENCE;
    if (a->json) {
        const int printed = ng_print_json(
            json_pack("{s:s, s:s, s:o}", "subject", chosen->subject->name,
                      "operation", operation->name, "profiles", list));

        return printed != NG_EXIT_OK ? printed : status;
    }
    print(list, chosen->subject->name, operation->name);
    json_decref(list);
    return status;
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
