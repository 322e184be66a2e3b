/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "conformance/checks/verify.h"
#include "conformance/cli/command.h"
#include "conformance/cli/complain.h"
#include "conformance/cli/module.h"
#include "conformance/cli/progress.h"
#include "conformance/cli/subject_option.h"
#include "conformance/faults/fault.h"
#include "reports/faults_page.h"
#include "reports/verify_report.h"

static const char module_name[] = "narrowgauge-faults.so";

/* Failed cases that are enough to tell what it is. */
enum { ENOUGH = 24 };

enum { MAX_LISTED = 128, KEY_LIST = 256, KEY_JSON, KEY_SEED };

typedef struct arguments {
    const char *fault[MAX_LISTED], *subject, *report;
    int n_faults;
    uint64_t seed;
    bool list, json, quiet;
} arguments;

static const struct argp_option options[] = {
    {"list", KEY_LIST, NULL, 0, "Print the catalogue and run nothing", 1},
    {"fault", 'f', "NAME", 0, "Only this one (repeatable)", 1},
    {"subject", 's', "S", 0,
     "Not the catalogue: hold this plug-in as if it were one of them, and say "
     "what its fault is called",
     1},
    {"seed", KEY_SEED, "N", 0, "Seed of the random strata (default 1)", 2},
    {"report", 'r', "DIR", 0, "Write faults.json and faults.md there", 3},
    {"json", KEY_JSON, NULL, 0, "Print the result as JSON", 3},
    {"quiet", 'q', NULL, 0, "No progress", 3},
    {0}};

static error_t parse(int key, char *value, struct argp_state *state)
{
    arguments *a = state->input;

    switch (key) {
    case 's':
        a->subject = value;
        break;
    case 'r':
        a->report = value;
        break;
    case 'q':
        a->quiet = true;
        break;
    case 'f':
        ng_command_list(a->fault, &a->n_faults, MAX_LISTED, state, "--fault",
                        value);
        break;
    case KEY_LIST:
        a->list = true;
        break;
    case KEY_JSON:
        a->json = true;
        break;
    case KEY_SEED:
        a->seed =
            (uint64_t)ng_command_number(state, "--seed", value, 0, INT64_MAX);
        break;
    case ARGP_KEY_ARG:
        ng_command_stray(state, value);
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp argp = {
    options,
    parse,
    NULL,
    "Test the tester: every planted fault must be found, at level 0 or 1, and "
    "called by its kind. Each is the reference with one deviation, and takes "
    "part as a plug-in like any other."
    "\vExamples:\n"
    "  narrowgauge faults\n"
    "  narrowgauge faults --list\n"
    "  narrowgauge faults --fault mxfp4-written-high-first\n"
    "  narrowgauge faults --subject ./kernel.so\n\n"
    "Exit status: 0 all found and named; 1 one was not; 2 usage; 3 the subject "
    "cannot be used; 77 this build has no catalogue.",
    NULL,
    NULL,
    NULL};

static double seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* What became of one subject. */
typedef struct outcome {
    bool detected, named;
    int level;
    double seconds;
    char operation[64]; /* the first that is wrong */
    char kind[64];      /* what it was called there */
    char diagnosis[512], shrunk[1024];
} outcome;

/* Its operations, in the order of the suite. */
static int operations_of(const ng_operation **list, const ng_host *host)
{
    int n = 0;

    for (int i = 0; ng_operation_at(i) != NULL; i++)
        for (int k = 0; ng_host_operation_name(host, k) != NULL; k++)
            if (strcmp(ng_operation_at(i)->name,
                       ng_host_operation_name(host, k))
                == 0)
                list[n++] = ng_operation_at(i);
    return n;
}

static void judge(outcome *o, const ng_operation_result *result, int n,
                  const char *kind)
{
    o->named = true;
    for (int i = 0; i < n; i++) {
        const char *called = ng_fault_kind_name(result[i].explanation.kind);

        if (result[i].failed_cases == 0)
            continue;
        if (!o->detected) {
            snprintf(o->operation, sizeof o->operation, "%s",
                     result[i].operation->name);
            snprintf(o->kind, sizeof o->kind, "%s", called);
            snprintf(o->diagnosis, sizeof o->diagnosis, "%s",
                     result[i].diagnosis);
            snprintf(o->shrunk, sizeof o->shrunk, "%s", result[i].shrunk);
        }
        o->detected = true;
        o->named =
            o->named
            && (kind != NULL ? strcmp(called, kind) == 0 : *called != '\0');
    }
    o->named = o->named && o->detected;
}

/* Hold a plug-in against the reference, up to level 1; kind is what it must be
 * called, null: anything. Returns an exit status. */
static int hold(outcome *o, const char *path, const char *kind,
                const arguments *a)
{
    const ng_operation *list[256];
    ng_operation_result *result = NULL;
    ng_chosen_subject chosen;
    ng_profile profile;
    ng_error error;
    const double start = seconds_now();
    int status = ng_subject_choose(&chosen, "faults", path, NG_DEFAULT_TIMEOUT);

    *o = (outcome){.detected = false};
    if (status != NG_EXIT_OK)
        return status;
    if (chosen.host == NULL)
        return ng_complain(NG_EXIT_USAGE, "faults",
                           "--subject: %s: is built in, no plug-in", path);
    const int n = operations_of(list, chosen.host);
    ng_verify_plan plan = {.subject = chosen.subject,
                           .host = chosen.host,
                           .profile = &profile,
                           .seed = a->seed,
                           .n_shards = 1,
                           .expected = &ng_subject_reference,
                           .oracle = ng_subject_find("oracle"),
                           .stop_after = ENOUGH};

    result = calloc((size_t)n + 1, sizeof *result);
    if (result == NULL || ng_profile_load(&profile, "ng", &error) != NG_OK)
        status = ng_complain(NG_EXIT_ENVIRONMENT, "faults", "out of memory");
    for (plan.level = 0;
         status == NG_EXIT_OK && plan.level <= 1 && !o->detected;
         plan.level++) {
        if (ng_verify(result, list, n, &plan, &error) != NG_OK)
            status =
                ng_complain(NG_EXIT_ENVIRONMENT, "faults", "%s", error.text);
        else
            judge(o, result, n, kind);
        o->level = plan.level;
    }
    o->seconds = seconds_now() - start;
    free(result);
    ng_subject_release(&chosen);
    return status;
}

static json_t *outcome_json(const outcome *o, const fault *f)
{
    return json_pack("{s:s, s:s, s:s, s:b, s:b, s:i, s:f, s:s, s:s, s:s, s:s}",
                     "fault", f->name, "kind", f->kind, "case", f->field_case,
                     "detected", (int)o->detected, "named", (int)o->named,
                     "level", o->level, "seconds",
                     (double)(int64_t)(o->seconds * 100 + 0.5) / 100,
                     "operation", o->operation, "called", o->kind, "diagnosis",
                     o->diagnosis, "shrunk", o->shrunk);
}

static bool wanted(const fault *f, const arguments *a)
{
    for (int i = 0; i < a->n_faults; i++)
        if (strcmp(f->name, a->fault[i]) == 0)
            return true;
    return a->n_faults == 0;
}

static int run_one(const arguments *a)
{
    outcome o;
    const int status = hold(&o, a->subject, NULL, a);

    if (status != NG_EXIT_OK)
        return status;
    if (!o.detected)
        puts("nothing found, up to level 1");
    else
        printf("%s: %s\n%s\n", o.operation,
               *o.kind != '\0' ? o.kind : "found, not named", o.diagnosis);
    if (*o.shrunk != '\0')
        printf("shrunk to %s\n", o.shrunk);
    return o.detected ? NG_EXIT_DIFFERENCE : NG_EXIT_OK;
}

typedef const fault *catalogue(int);

static int run_all(catalogue *fault_at, const char *path, const arguments *a)
{
    json_t *rows = json_array();
    ng_progress bar;
    ng_error error;
    int missed = 0, n = 0, total = 0, status = NG_EXIT_OK;
    const fault *f;

    /* Before minutes of work, not after them. */
    if (a->report != NULL
        && ng_verify_report_folder(a->report, &error) != NG_OK) {
        json_decref(rows);
        return ng_complain(NG_EXIT_ENVIRONMENT, "faults", "%s", error.text);
    }
    for (int i = 0; (f = fault_at(i)) != NULL; i++)
        total += wanted(f, a);
    ng_progress_begin(&bar, a->quiet, "faults");
    for (int i = 0; status == NG_EXIT_OK && (f = fault_at(i)) != NULL; i++) {
        outcome o;

        if (!wanted(f, a))
            continue;
        setenv("NG_FAULT", f->name, 1);
        status = hold(&o, path, f->kind, a);
        missed += !o.detected || !o.named;
        json_array_append_new(rows, outcome_json(&o, f));
        ng_progress_update(&bar, f->name, ++n, total);
    }
    ng_progress_end(&bar);
    if (status == NG_EXIT_OK) {
        if (a->json)
            json_dumpf(rows, stdout, JSON_INDENT(2));
        else
            ng_faults_print(stdout, rows);
        if (a->report != NULL
            && ng_faults_page_write(a->report, rows, &error) != NG_OK) {
            status =
                ng_complain(NG_EXIT_ENVIRONMENT, "faults", "%s", error.text);
        } else if (missed > 0) {
            status = NG_EXIT_DIFFERENCE;
        }
    }
    json_decref(rows);
    return status;
}

static void print_list(catalogue *fault_at)
{
    const fault *f;

    for (int i = 0; (f = fault_at(i)) != NULL; i++)
        printf("%-38s %-26s %-5s %s\n", f->name, f->kind, f->field_case,
               f->operation[0]);
    for (int i = 0; ng_faults_not_here(i) != NULL; i++)
        printf("not planted: %s\n", ng_faults_not_here(i));
}

/* Every --fault is one of the catalogue. */
static bool exist(catalogue *fault_at, const arguments *a)
{
    for (int k = 0; k < a->n_faults; k++) {
        const fault *f;
        bool found = false;

        for (int i = 0; !found && (f = fault_at(i)) != NULL; i++)
            found = strcmp(f->name, a->fault[k]) == 0;
        if (!found) {
            ng_complain(NG_EXIT_USAGE, "faults",
                        "--fault: %s: no such fault (narrowgauge faults --list "
                        "lists them)",
                        a->fault[k]);
            return false;
        }
    }
    return true;
}

int ng_cmd_faults(int argc, char **argv)
{
    arguments a = {.seed = 1};
    char path[PATH_MAX + 128];
    catalogue *fault_at = NULL;

    ng_command_parse(&argp, argc, argv, &a);
    if (a.subject != NULL)
        return run_one(&a);
    void *module =
        ng_module_open(module_name, RTLD_NOW | RTLD_LOCAL, path, sizeof path);
    void *symbol = module != NULL ? dlsym(module, "ng_fault_at") : NULL;

    if (symbol == NULL) {
        fprintf(stderr, "narrowgauge faults: %s: cannot be opened (%s)\n",
                module_name, dlerror());
        return NG_EXIT_CANNOT_RUN;
    }
    memcpy(&fault_at, &symbol, sizeof fault_at); /* as POSIX has it */
    if (!exist(fault_at, &a))
        return NG_EXIT_USAGE;
    if (a.list) {
        print_list(fault_at);
        return NG_EXIT_OK;
    }
    return run_all(fault_at, path, &a);
}
