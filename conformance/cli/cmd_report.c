/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/cli/command.h"
#include "conformance/cli/complain.h"
#include "reports/convergence_page.h"
#include "reports/json_schema.h"
#include "reports/verify_report.h"

enum { KEY_JSON = 256, MAX_PATH = 4096 };

typedef struct arguments {
    const char *folder;
    bool json;
} arguments;

static const struct argp_option options[] = {
    {"json", KEY_JSON, NULL, 0, "Print the names of the files made, as JSON",
     1},
    {0}};

static error_t parse(int key, char *value, struct argp_state *state)
{
    arguments *a = state->input;

    switch (key) {
    case KEY_JSON:
        a->json = true;
        break;
    case ARGP_KEY_ARG:
        if (a->folder != NULL)
            ng_command_stray(state, value);
        a->folder = value;
        break;
    case ARGP_KEY_NO_ARGS:
        ng_command_refuse(state, "DIR: missing");
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp argp = {
    options,
    parse,
    "DIR",
    "Make the pages of a report again from its JSON: verify.md and verify.html "
    "beside every verify.json (of shards verify-I-of-N.json) in the folder, "
    "and "
    "a study's pages beside its convergence.json. A file that does not fit its "
    "schema is refused, and its pages stay as they were."
    "\vExample:\n"
    "  narrowgauge verify --report report && narrowgauge report report\n\n"
    "Exit status: 0 all made; 2 nothing to make them from, or an unreadable "
    "file; 4 a page that could not be written.",
    NULL,
    NULL,
    NULL};

static const char command[] = "report";

static bool is_study(const char *name)
{
    return strcmp(name, "convergence.json") == 0;
}

static int is_result(const struct dirent *entry)
{
    const char *name = entry->d_name;
    const size_t length = strlen(name);
    int end = 0;

    if (length < 6 || strcmp(name + length - 5, ".json") != 0)
        return 0;
    if (strcmp(name, "verify.json") == 0 || is_study(name))
        return 1;
    (void)sscanf(name, "verify-%*d-of-%*d.json%n", &end);
    return end > 0 && (size_t)end == length;
}

/* Read folder/name, which must fit the schema. Null after one line, *exit_status
 * set. */
static json_t *read_result(char path[MAX_PATH], int *exit_status,
                           const arguments *a, const char *name,
                           const char *schema)
{
    ng_error error;
    ng_status status;
    json_t *result = NULL;

    if ((size_t)snprintf(path, MAX_PATH, "%s/%s", a->folder, name) >= MAX_PATH)
        *exit_status =
            ng_complain(NG_EXIT_USAGE, command, "%s: name too long", a->folder);
    else if ((result = ng_schema_read(&status, path, schema, &error)) == NULL)
        *exit_status = ng_complain_status(command, status, &error);
    return result;
}

static void note_made(json_t *made, const char *name, const char *suffix)
{
    const size_t stem = strlen(name) - strlen(".json");

    json_array_append_new(made,
                          json_sprintf("%.*s%s", (int)stem, name, suffix));
}

/* The pages of a study. */
static int remake_study(const arguments *a, const char *name, json_t *made)
{
    char path[MAX_PATH];
    ng_error error;
    bool plotted = false;
    int exit_status = NG_EXIT_OK;
    json_t *study = read_result(path, &exit_status, a, name, "convergence");

    if (study == NULL)
        return exit_status;

    const ng_status status =
        ng_convergence_page_write(&plotted, study, a->folder, &error);

    json_decref(study);
    if (status != NG_OK)
        return ng_complain(NG_EXIT_ENVIRONMENT, command, "%s", error.text);
    note_made(made, name, ".md");
    if (plotted)
        note_made(made, name, ".svg");
    return NG_EXIT_OK;
}

/* The pages of a run. */
static int remake_run(const arguments *a, const char *name, json_t *made)
{
    char path[MAX_PATH];
    ng_error error;
    int exit_status = NG_EXIT_OK;
    json_t *run = read_result(path, &exit_status, a, name, "verify");

    if (run == NULL)
        return exit_status;
    path[strlen(path) - strlen(".json")] = '\0';

    const ng_status status = ng_verify_report_pages(path, run, &error);

    json_decref(run);
    if (status != NG_OK)
        return ng_complain(NG_EXIT_ENVIRONMENT, command, "%s", error.text);
    note_made(made, name, ".md");
    note_made(made, name, ".html");
    return NG_EXIT_OK;
}

int ng_cmd_report(int argc, char **argv)
{
    arguments a = {.folder = NULL};
    struct dirent **entries = NULL;
    int exit_status = NG_EXIT_OK;
    json_t *page;
    size_t i;

    ng_command_parse(&argp, argc, argv, &a);

    const int n = scandir(a.folder, &entries, is_result, alphasort);
    json_t *made = json_array();

    if (n < 0)
        exit_status = ng_complain(NG_EXIT_USAGE, command,
                                  "%s: folder: cannot be read", a.folder);
    else if (n == 0)
        exit_status = ng_complain(
            NG_EXIT_USAGE, command,
            "%s: no verify.json or convergence.json in it", a.folder);
    for (int k = 0; k < n; k++) {
        const char *name = entries[k]->d_name;
        const int status = is_study(name) ? remake_study(&a, name, made)
                                          : remake_run(&a, name, made);

        exit_status = status > exit_status ? status : exit_status;
        free(entries[k]);
    }
    free(entries);
    if (!a.json)
        json_array_foreach(made, i, page)
            printf("%s/%s\n", a.folder, json_string_value(page));
    if (a.json && json_array_size(made) > 0)
        ng_print_json(json_incref(made));
    json_decref(made);
    return exit_status;
}
