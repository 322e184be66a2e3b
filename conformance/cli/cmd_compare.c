/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "conformance/checks/shrink.h"
#include "conformance/checks/vectors.h"
#include "conformance/checks/verify_json.h"
#include "conformance/cli/command.h"
#include "conformance/cli/complain.h"
#include "conformance/subject/escape.h"
#include "formats/files/npy.h"
#include "formats/files/safetensors.h"
#include "formats/text.h"
#include "reports/verify_report.h"

enum {
    KEY_EXPECTED = 256,
    KEY_ACTUAL,
    KEY_JSON,
    KEY_JUNIT,
    KEY_ERRORS,
    MAX_PATH = 4096,
    MAX_LABEL = 256
};

typedef struct arguments {
    const char *expected, *actual, *profile, *report, *junit;
    int max_errors;
    bool json;
} arguments;

static const struct argp_option options[] = {
    {"expected", KEY_EXPECTED, "FILE", 0,
     "A file NNN.expected.safetensors of `narrowgauge vectors`", 1},
    {"actual", KEY_ACTUAL, "FILE", 0,
     "What came back: a safetensors file with tensors of the same names, or a "
     "folder of .npy files",
     1},
    {"profile", 'p', "P", 0,
     "Judge by other rules than those of the file: a name or a file", 1},
    {"report", 'r', "DIR", 0, "Write the report there", 2},
    {"junit", KEY_JUNIT, "FILE", 0, "Write JUnit XML", 2},
    {"json", KEY_JSON, NULL, 0, "Print the result as JSON", 2},
    {"errors", KEY_ERRORS, "N", 0, "Print at most N failures (default 3)", 2},
    {0}};

static error_t parse(int key, char *value, struct argp_state *state)
{
    arguments *a = state->input;

    switch (key) {
    case KEY_EXPECTED:
        a->expected = value;
        break;
    case KEY_ACTUAL:
        a->actual = value;
        break;
    case 'p':
        a->profile = value;
        break;
    case 'r':
        a->report = value;
        break;
    case KEY_JUNIT:
        a->junit = value;
        break;
    case KEY_JSON:
        a->json = true;
        break;
    case KEY_ERRORS:
        a->max_errors = (int)ng_command_number(state, "--errors", value, 0,
                                               NG_MAX_KEPT_FAILURES);
        break;
    case ARGP_KEY_ARG:
        ng_command_stray(state, value);
    case ARGP_KEY_END:
        if (a->expected == NULL || a->actual == NULL)
            ng_command_refuse(state, "--expected and --actual are needed");
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
    "Judge what an implementation gave for the inputs of `narrowgauge "
    "vectors`, "
    "bit for bit, with the same failure lines and diagnosis as verify. A case "
    "of "
    "which no tensor came back counts as not covered."
    "\vExample:\n"
    "  narrowgauge compare --expected v/000.expected.safetensors \\\n"
    "    --actual back.safetensors\n\n"
    "Exit status: 0 no difference; 1 a difference, or a tensor missing; 2 "
    "usage "
    "or an unreadable file; 4 the environment.",
    NULL,
    NULL,
    NULL};

/* ---- the files ----------------------------------------------------------- */

static bool is_folder(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* One CASE.TENSOR.npy as the tensor CASE/TENSOR; a case is STRATUM.NUMBER. */
static ng_status read_one_npy(ng_tensor_file *file, const char *folder,
                              const char *entry, ng_error *error)
{
    char path[MAX_PATH], name[MAX_LABEL];
    ng_tensor_file one = {0};
    const size_t length = strlen(entry);
    ng_status status;
    char *dot;

    if (length < 5 || length >= sizeof name
        || strcmp(entry + length - 4, ".npy") != 0)
        return NG_OK;
    snprintf(name, sizeof name, "%.*s", (int)length - 4, entry);
    dot = strchr(name, '.');
    if (dot == NULL || (dot = strchr(dot + 1, '.')) == NULL)
        return NG_OK;
    *dot = '/';
    snprintf(path, sizeof path, "%s/%s", folder, entry);
    status = ng_npy_read(&one, path, error);
    if (status == NG_OK) {
        const ng_tensor *t = &one.tensors[0];
        int64_t units, bytes;
        void *data;

        status = ng_tensor_file_add_tensor(&data, file, name, t->dtype, t->rank,
                                           t->shape);
        if (status == NG_OK && ng_tensor_extent(&units, &bytes, t) == NG_OK)
            memcpy(data, t->data, (size_t)bytes);
        else
            ng_fail(error, status, "%s: %s", path, ng_status_text(status));
    }
    ng_tensor_file_free(&one);
    return status;
}

static ng_status read_actual(ng_tensor_file *file, const char *path,
                             ng_error *error)
{
    ng_status status = NG_OK;
    struct dirent *entry;
    DIR *folder;

    *file = (ng_tensor_file){0};
    if (!is_folder(path))
        return ng_safetensors_read(file, path, error);
    folder = opendir(path);
    if (folder == NULL)
        return ng_fail(error, NG_BAD_FILE, "%s: cannot be opened", path);
    // cppcheck-suppress readdirCalled ; of one stream it is safe in glibc
    while (status == NG_OK && (entry = readdir(folder)) != NULL)
        status = read_one_npy(file, path, entry->d_name, error);
    closedir(folder);
    return status;
}

/* ---- the work ------------------------------------------------------------ */

typedef struct comparison {
    const ng_tensor_file *expected, *actual;
    ng_verify_plan plan;
    ng_profile profile; /* of the file: it numbers variants */
    ng_rules rules;     /* that it is judged by */
    ng_operation_result *result;
} comparison;

/* The case that the label STRATUM.NUMBER names, by way of its FAIL line. */
static ng_status find_case(ng_case_id *id, const comparison *c,
                           const char *label, ng_error *error)
{
    const char *const keys[] = {"operation", "variant", "seed"};
    const char *text[3];
    const char *dot = strchr(label, '.');
    char line[1024];

    for (int i = 0; i < 3; i++) {
        text[i] = ng_tensor_file_metadata(c->expected, keys[i]);
        if (text[i] == NULL || strpbrk(text[i], " \t\n") != NULL)
            return ng_fail(error, NG_BAD_FILE, "metadata %s: missing or bad",
                           keys[i]);
    }
    if (dot == NULL)
        return ng_fail(error, NG_BAD_FILE, "%s: no case of that name", label);
    snprintf(line, sizeof line,
             "FAIL op=%s variant=%s stratum=%.*s case=%s seed=%s ", text[0],
             text[1], (int)(dot - label), label, dot + 1, text[2]);
    return ng_failure_parse(id, line, &c->profile, error);
}

static void find_variant(ng_variant *variant, const comparison *c,
                         const ng_case_id *id)
{
    ng_variant_at(variant, id->operation->axes, id->operation->n_axes,
                  &c->profile, id->variant);
}

/* What diagnosis asks for. */
static bool recall(void *context, ng_recorded *recorded, const ng_case_id *id,
                   const ng_variant *variant)
{
    const comparison *c = context;

    return ng_vectors_recall(recorded, id, variant, &c->plan, c->actual, NULL)
           == NG_OK;
}

/* Whether the expected file still says what this program computes. */
static bool is_current(const comparison *c, const ng_case_id *id,
                       const ng_variant *variant)
{
    ng_recorded recorded;
    ng_verify_plan plan = c->plan;
    ng_failure failure;
    ng_events events = {0};
    int64_t elements;
    bool same;

    if (ng_vectors_recall(&recorded, id, variant, &plan, c->expected, NULL)
        != NG_OK)
        return false;
    plan.expected_rules = NULL;
    plan.oracle = NULL;
    plan.recorded = &recorded;
    same = ng_verify_case(&failure, &events, &elements, id, variant, &plan);
    ng_outputs_free(&recorded.outputs);
    return same;
}

static void keep(ng_operation_result *result, const ng_failure *failure)
{
    result->failed_cases++;
    result->differences += failure->difference.count;
    if (result->n_failures < NG_MAX_KEPT_FAILURES)
        result->failure[result->n_failures++] = *failure;
}

/* Judge one case. */
static ng_status compare_case(comparison *c, const char *label, ng_error *error)
{
    ng_operation_result *result = c->result;
    ng_case_id id = {.operation = NULL};
    ng_variant variant;
    ng_recorded recorded;
    ng_failure failure;
    ng_events events = {0};
    ng_verify_plan plan = c->plan;
    int64_t elements;
    ng_status status = find_case(&id, c, label, error);

    if (status != NG_OK || id.operation == NULL)
        return status;
    find_variant(&variant, c, &id);
    c->plan.seed = id.seed;
    result->operation = id.operation;
    result->variants = 1;
    if (!is_current(c, &id, &variant))
        return ng_fail(error, NG_BAD_FILE,
                       "case %s: holds other bits than this version computes",
                       label);
    status =
        ng_vectors_recall(&recorded, &id, &variant, &plan, c->actual, error);
    if (status == NG_NOT_COVERED) {
        result->not_covered_cases++;
        return NG_OK;
    }
    if (status == NG_BAD_FILE) {
        memset(&failure, 0, sizeof failure);
        failure.id = id;
        failure.kind = NG_FAILURE_SUBJECT;
        failure.difference.count = 1;
        ng_variant_print(failure.variant, sizeof failure.variant, &variant);
        ng_verdict_set(&failure.verdict, NG_VERDICT_BAD_STATUS, "%s",
                       error->text);
        result->cases++;
        keep(result, &failure);
        return NG_OK;
    }
    if (status != NG_OK)
        return status;
    plan.recorded = &recorded;
    result->cases++;
    if (!ng_verify_case(&failure, &events, &elements, &id, &variant, &plan))
        keep(result, &failure);
    result->elements += elements;
    ng_events_add(&result->events, &events);
    ng_outputs_free(&recorded.outputs);
    return NG_OK;
}

/* Every case of the expected file, once; its tensors stand together. */
static ng_status compare_all(comparison *c, ng_error *error)
{
    char last[MAX_LABEL] = "";
    ng_status status = NG_OK;

    for (size_t i = 0; i < c->expected->n_tensors && status == NG_OK; i++) {
        const char *name = c->expected->tensors[i].name;
        const char *slash = strchr(name, '/');
        char label[MAX_LABEL];

        if (slash == NULL)
            return ng_fail(error, NG_BAD_FILE, "%s: no name of a case's tensor",
                           name);
        snprintf(label, sizeof label, "%.*s", (int)(slash - name), name);
        if (strcmp(label, last) == 0)
            continue;
        memcpy(last, label, sizeof last);
        status = compare_case(c, label, error);
    }
    if (status != NG_OK || c->result->n_failures == 0)
        return status;
    ng_diagnose(c->result, &c->plan);
    return ng_shrink(c->result, &c->plan, error);
}

static ng_status load(comparison *c, const arguments *a, ng_error *error)
{
    const char *format = ng_tensor_file_metadata(c->expected, "format");
    const char *profile = ng_tensor_file_metadata(c->expected, "profile");
    ng_profile other;
    ng_status status;

    if (format == NULL || strcmp(format, NG_VECTORS_FORMAT) != 0
        || profile == NULL || c->expected->n_tensors == 0)
        return ng_fail(error, NG_BAD_FILE,
                       "no file of expected outputs (narrowgauge vectors)");
    if (!ng_is_plain_text(profile) || strlen(profile) >= sizeof c->profile.name)
        return ng_fail(error, NG_BAD_FILE, "metadata profile: no name");
    status = ng_profile_load(&c->profile, "ng", error);
    if (status != NG_OK)
        return status;

    /* Every rule was written down. The profile is only a name then, of a file
     * that need not be here; and a file that is read is not to open others. */
    strcpy(c->profile.name, profile);
    for (int r = 0; r < NG_N_RULES; r++) {
        char key[64];
        const char *text;
        int value;

        snprintf(key, sizeof key, "rule.%s", ng_rule_name((ng_rule)r));
        text = ng_tensor_file_metadata(c->expected, key);
        if (text == NULL || !ng_rule_value_find((ng_rule)r, text, &value))
            return ng_fail(error, NG_BAD_FILE,
                           "metadata %s: missing or unknown", key);
        ng_rules_set(&c->profile.rules, (ng_rule)r, value);
        c->profile.pinned[r] = true;
    }
    c->rules = c->profile.rules;
    if (a->profile == NULL)
        return NG_OK;
    status = ng_profile_load(&other, a->profile, error);
    for (int r = 0; status == NG_OK && r < NG_N_RULES; r++)
        if (other.pinned[r])
            ng_rules_set(&c->rules, (ng_rule)r,
                         ng_rules_get(&other.rules, (ng_rule)r));
    return status;
}

static int deliver(const comparison *c, const arguments *a)
{
    json_t *run = ng_verify_json(c->result, 1, &c->plan, 0);
    ng_error error;
    ng_status status = NG_OK;
    int exit_status;

    if (run == NULL)
        return ng_complain(NG_EXIT_ENVIRONMENT, "compare", "out of memory");
    if (a->report != NULL)
        status = ng_verify_report_write(a->report, run, &error);
    if (status == NG_OK && a->junit != NULL)
        status = ng_verify_report_junit(a->junit, run, &error);
    exit_status = status != NG_OK ? ng_complain(NG_EXIT_ENVIRONMENT, "compare",
                                                "%s", error.text)
                  : ng_verify_json_passed(run) ? NG_EXIT_OK
                                               : NG_EXIT_DIFFERENCE;
    if (a->json)
        json_dumpf(run, stdout, JSON_INDENT(2));
    else
        ng_verify_report_print(stdout, run, a->max_errors, a->report);
    json_decref(run);
    return exit_status;
}

int ng_cmd_compare(int argc, char **argv)
{
    static ng_operation_result result;
    static const char *const chosen[] = {"a=file"};
    arguments a = {.max_errors = 3};
    ng_tensor_file expected = {0}, actual = {0};
    comparison c = {
        .expected = &expected, .actual = &actual, .result = &result};
    ng_error error = {""};
    char name[512], small_cases[MAX_PATH];
    const ng_subject subject = {.name = name};
    const char *where;
    int exit_status;

    ng_command_parse(&argp, argc, argv, &a);
    ng_escape(name, sizeof name, a.actual, strlen(a.actual));
    where = a.expected;
    ng_status status = ng_safetensors_read(&expected, a.expected, &error);

    if (status == NG_OK) {
        where = a.actual;
        status = read_actual(&actual, a.actual, &error);
    }
    if (status == NG_OK) {
        where = NULL;
        status = load(&c, &a, &error);
    }
    if (status == NG_OK && a.report != NULL) {
        where = a.report;
        status = ng_verify_report_folder(a.report, &error);
    }
    if (status == NG_OK) {
        where = NULL;
        snprintf(small_cases, sizeof small_cases, "%s/shrunk",
                 a.report != NULL ? a.report : "");
        /* Not the whole of an operation: no class of inputs is asked for. */
        c.plan = (ng_verify_plan){.subject = &subject,
                                  .expected = &ng_subject_reference,
                                  .oracle = ng_subject_find("oracle"),
                                  .profile = &c.profile,
                                  .expected_rules = &c.rules,
                                  .n_shards = 1,
                                  .axes = chosen,
                                  .n_axes = 1,
                                  .small_cases =
                                      a.report != NULL ? small_cases : NULL,
                                  .recall = recall,
                                  .recall_context = &c};
        status = compare_all(&c, &error);
    }
    if (status != NG_OK)
        exit_status = ng_complain(ng_exit_status(status, &error), "compare",
                                  "%s%s%s", where == NULL ? a.expected : "",
                                  where == NULL ? ": " : "", error.text);
    else
        exit_status = deliver(&c, &a);
    ng_tensor_file_free(&expected);
    ng_tensor_file_free(&actual);
    return exit_status;
}
