/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/cli/command.h"
#include "conformance/cli/complain.h"
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
    "beside every verify.json (of shards verify-I-of-N.json) in the folder. A "
    "file that does not fit its schema is refused, and its pages stay as they "
    "were."
    "\vExample:\n"
    "  narrowgauge verify --report report && narrowgauge report report\n\n"
    "Exit status: 0 all made; 2 nothing to make them from, or an unreadable "
    "file; 4 a page that could not be written.",
    NULL,
    NULL,
    NULL};

static const char command[] = "report";

static int is_run(const struct dirent *entry)
{
    const char *name = entry->d_name;
    const size_t length = strlen(name);
    int end = 0;

    if (length < 6 || strcmp(name + length - 5, ".json") != 0)
        return 0;
    if (strcmp(name, "verify.json") == 0)
        return 1;
    (void)sscanf(name, "verify-%*d-of-%*d.json%n", &end);
    return end > 0 && (size_t)end == length;
}

/* The pages of one file. */
static int remake(const arguments *a, const char *name, json_t *made)
{
    char path[MAX_PATH];
    ng_error error;
    ng_status status;

    if ((size_t)snprintf(path, sizeof path, "%s/%s", a->folder, name)
        >= sizeof path)
        return ng_complain(NG_EXIT_USAGE, command, "%s: name too long",
                           a->folder);

    json_t *run = ng_schema_read(&status, path, "verify", &error);

    if (run == NULL)
        return ng_complain_status(command, status, &error);
    path[strlen(path) - strlen(".json")] = '\0';
    status = ng_verify_report_pages(path, run, &error);
    json_decref(run);
    if (status != NG_OK)
        return ng_complain(NG_EXIT_ENVIRONMENT, command, "%s", error.text);
    json_array_append_new(made,
                          json_sprintf("%.*s.md", (int)strlen(name) - 5, name));
    json_array_append_new(
        made, json_sprintf("%.*s.html", (int)strlen(name) - 5, name));
    return NG_EXIT_OK;
}

int ng_cmd_report(int argc, char **argv)
{
    arguments a = {.folder = NULL};
    struct dirent **entries = NULL;
    int exit_status = NG_EXIT_OK;
    json_t *name;
    size_t i;

    ng_command_parse(&argp, argc, argv, &a);

    const int n = scandir(a.folder, &entries, is_run, alphasort);
    json_t *made = json_array();

    if (n < 0)
        exit_status = ng_complain(NG_EXIT_USAGE, command,
                                  "%s: folder: cannot be read", a.folder);
    else if (n == 0)
        exit_status = ng_complain(NG_EXIT_USAGE, command,
                                  "%s: no verify.json in it", a.folder);
    for (int k = 0; k < n; k++) {
        const int status = remake(&a, entries[k]->d_name, made);

        exit_status = status > exit_status ? status : exit_status;
        free(entries[k]);
    }
    free(entries);
    if (!a.json)
        json_array_foreach(made, i, name)
            printf("%s/%s\n", a.folder, json_string_value(name));
    if (a.json && json_array_size(made) > 0)
        ng_print_json(json_incref(made));
    json_decref(made);
    return exit_status;
}
