/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "conformance/cli/command.h"
#include "conformance/cli/complain.h"
#include "formats/text.h"
#include "reports/gate.h"
#include "reports/json_schema.h"

enum { KEY_WAIVERS = 256, KEY_ACCEPT, KEY_WHY, KEY_MARKDOWN, KEY_JUNIT,
       KEY_JSON, KEY_TODAY, MAX_PATH = 4096 };

typedef struct arguments {
    const char *baseline, *current, *waivers, *why, *markdown, *junit;
    char today[11];
    bool accept, json;
} arguments;

static const struct argp_option options[] = {
    {"baseline", 'b', "FILE", 0, "What was accepted before", 1},
    {"current", 'c', "REPORT", 0,
     "The run: a folder of `verify --report` or its verify.json", 1},
    {"waivers", KEY_WAIVERS, "FILE", 0,
     "What may differ, and until which day (docs/gate.md)", 1},
    {"accept", KEY_ACCEPT, NULL, 0,
     "Make this run the baseline; needs --why", 2},
    {"why", KEY_WHY, "TEXT", 0, "The reason, kept in the baseline", 2},
    {"markdown", KEY_MARKDOWN, "FILE", 0, "Write a table for a CI summary", 3},
    {"junit", KEY_JUNIT, "FILE", 0, "Write JUnit XML", 3},
    {"json", KEY_JSON, NULL, 0, "Print the outcome as JSON", 3},
    {"today", KEY_TODAY, "DAY", 0,
     "Judge waivers as of YYYY-MM-DD (default: today, UTC)", 3},
    {0}
};

static error_t parse(int key, char *value, struct argp_state *state)
{
    arguments *a = state->input;

    switch (key) {
    case 'b': a->baseline = value; break;
    case 'c': a->current = value; break;
    case KEY_WAIVERS: a->waivers = value; break;
    case KEY_ACCEPT: a->accept = true; break;
    case KEY_WHY:
        if (*value == '\0' || !ng_is_utf8(value))
            ng_command_refuse(state, "--why: not a text in UTF-8");
        a->why = value;
        break;
    case KEY_MARKDOWN: a->markdown = value; break;
    case KEY_JUNIT: a->junit = value; break;
    case KEY_JSON: a->json = true; break;
    case KEY_TODAY:
        if (!ng_is_day(value))
            ng_command_refuse(state, "--today: %s: not a day, YYYY-MM-DD",
                              value);
        memcpy(a->today, value, sizeof a->today);
        break;
    case ARGP_KEY_ARG:
        ng_command_stray(state, value);
    case ARGP_KEY_END:
        if (a->baseline == NULL || a->current == NULL)
            ng_command_refuse(state, "%s: missing", a->baseline == NULL
                                                        ? "--baseline"
                                                        : "--current");
        if (a->accept != (a->why != NULL))
            ng_command_refuse(state, "--accept and --why go together");
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp argp = {
    options, parse, NULL,
    "Hold a verify run to what was accepted before: new failures, lost coverage, "
    "changed bits, changed errors, changed inputs. Baselines are kept by subject, "
    "profile, level, seed, GPU and toolkit."
    "\vExamples:\n"
    "  narrowgauge verify --subject ./kernel.so --report report\n"
    "  narrowgauge gate --baseline kernel.json --current report\n"
    "  narrowgauge gate --baseline kernel.json --current report \\\n"
    "      --accept --why 'ties go to even now'\n\n"
    "Exit status: 0 nothing moved, or it was accepted; 1 a regression, or a "
    "waiver that has expired; 2 usage, an unreadable file, or no baseline for "
    "this subject and machine; 4 the environment.",
    NULL, NULL, NULL};

static const char command[] = "gate";

/* The run, whole. Null after one line, *exit_status set. */
static json_t *read_run(const arguments *a, int *exit_status)
{
    char path[MAX_PATH];
    struct stat facts;
    ng_error error;
    ng_status status;
    const bool folder =
        stat(a->current, &facts) == 0 && S_ISDIR(facts.st_mode);

    if ((size_t)snprintf(path, sizeof path, "%s%s", a->current,
                         folder ? "/verify.json" : "") >= sizeof path) {
        *exit_status = ng_complain(NG_EXIT_USAGE, command,
                                   "--current: name too long");
        return NULL;
    }

    json_t *run = ng_schema_read(&status, path, "verify", &error);

    if (run == NULL) {
        *exit_status = ng_complain_status(command, status, &error);
        return NULL;
    }
    if (json_integer_value(json_object_get(run, "shards")) > 1
        && !json_is_true(json_object_get(run, "merged"))) {
        *exit_status = ng_complain(NG_EXIT_USAGE, command,
                                   "%s: shards: a shard is no whole run", path);
        json_decref(run);
        return NULL;
    }
    return run;
}

static int accept_run(const arguments *a, json_t *baselines, const json_t *run,
                      const json_t *outcome)
{
    ng_error error;

    if (!ng_baseline_accept(baselines, run, outcome, a->why))
        return ng_complain(NG_EXIT_ENVIRONMENT, command, "out of memory");

    const ng_status status = ng_baseline_write(a->baseline, baselines, &error);

    if (status != NG_OK)
        return ng_complain(NG_EXIT_ENVIRONMENT, command, "%s", error.text);
    if (!a->json)
        printf("accepted: %s\n", a->baseline);
    return NG_EXIT_OK;
}

/* Print and write the outcome. Returns NG_EXIT_OK if all was written. */
static int deliver(const arguments *a, json_t *outcome)
{
    ng_error error;
    ng_status status = NG_OK;

    if (a->json)
        ng_print_json(json_incref(outcome));
    else
        ng_gate_print(stdout, outcome);
    if (a->markdown != NULL)
        status = ng_gate_markdown(a->markdown, outcome, &error);
    if (status == NG_OK && a->junit != NULL)
        status = ng_gate_junit(a->junit, outcome, &error);
    return status == NG_OK
               ? NG_EXIT_OK
               : ng_complain(NG_EXIT_ENVIRONMENT, command, "%s", error.text);
}

static int compare(const arguments *a, json_t *baselines, const json_t *run,
                   ng_waivers *waivers)
{
    const json_t *entry = ng_baseline_find(baselines, run);

    if (entry == NULL && a->accept)
        return accept_run(a, baselines, run, NULL);
    if (entry == NULL)
        return ng_complain(
            NG_EXIT_USAGE, command,
            "%s: no baseline of %s, profile %s, level %" PRId64 ", seed %" PRId64
            ", GPU %s, toolkit %s (--accept --why makes one)",
            a->baseline, json_string_value(json_object_get(run, "subject")),
            json_string_value(json_object_get(run, "profile")),
            (int64_t)json_integer_value(json_object_get(run, "level")),
            (int64_t)json_integer_value(json_object_get(run, "seed")),
            json_string_value(json_object_get(run, "gpu")),
            json_string_value(json_object_get(run, "toolkit")));

    json_t *outcome = ng_gate_compare(entry, run, waivers, a->today);

    if (outcome == NULL)
        return ng_complain(NG_EXIT_ENVIRONMENT, command, "out of memory");

    int status = deliver(a, outcome);

    if (status == NG_EXIT_OK && a->accept)
        status = accept_run(a, baselines, run, outcome);
    else if (status == NG_EXIT_OK
             && !json_is_true(json_object_get(outcome, "passed")))
        status = NG_EXIT_DIFFERENCE;
    json_decref(outcome);
    return status;
}

int ng_cmd_gate(int argc, char **argv)
{
    static ng_waivers waivers;
    arguments a = {.accept = false};
    const time_t now = time(NULL);
    struct tm utc;
    ng_error error;
    ng_status status;
    int exit_status = NG_EXIT_OK;

    strftime(a.today, sizeof a.today, "%Y-%m-%d", gmtime_r(&now, &utc));
    ng_command_parse(&argp, argc, argv, &a);
    if (a.waivers != NULL
        && (status = ng_waivers_read(&waivers, a.waivers, &error)) != NG_OK)
        return ng_complain_status(command, status, &error);

    json_t *run = read_run(&a, &exit_status);

    if (run == NULL)
        return exit_status;

    json_t *baselines = ng_baseline_read(&status, a.baseline, a.accept, &error);

    exit_status = baselines != NULL
                      ? compare(&a, baselines, run,
                                a.waivers != NULL ? &waivers : NULL)
                      : ng_complain_status(command, status, &error);
    json_decref(baselines);
    json_decref(run);
    return exit_status;
}
