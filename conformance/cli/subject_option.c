/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/cli/subject_option.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/cli/command.h"
#include "conformance/cli/complain.h"
#include "conformance/checks/operation.h"
#include "conformance/subject/escape.h"

/* Subjects that other builds have, so that the answer is 77 and not 2. */
static bool known_elsewhere(const char *name)
{
    static const char *const names[] = {"oracle", "cuda", "cuda-host",
                                        "cuda-headers"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static bool is_library(const char *name)
{
    const size_t length = strlen(name);

    return strchr(name, '/') != NULL
           || (length > 3 && strcmp(name + length - 3, ".so") == 0);
}

/* Names in the plug-in's table that mean nothing here: a later program's, or a
 * slip. */
static void mention_unknown(const ng_host *host, const char *command)
{
    const char *name;

    for (int i = 0; (name = ng_host_operation_name(host, i)) != NULL; i++)
        if (ng_operation_find(name) == NULL)
            ng_complain(0, command,
                        "%s lists %s, which is no operation of this "
                        "program: not covered",
                        ng_host_subject(host)->name, name);
}

/* What became of opening a host: the exit status, with a line if it is not
 * NG_EXIT_OK. */
static int opened(ng_chosen_subject *chosen, const char *name, ng_error *error)
{
    char shown[200];

    if (chosen->host != NULL) {
        chosen->subject = ng_host_subject(chosen->host);
        return NG_EXIT_OK;
    }
    ng_escape(shown, sizeof shown, name, strlen(name));
    ng_fail(error, NG_BAD_SUBJECT, "%s: %s", shown, chosen->verdict.text);
    return chosen->verdict.kind == NG_VERDICT_CANNOT_RUN ? NG_EXIT_CANNOT_RUN
           : chosen->verdict.kind == NG_VERDICT_ENVIRONMENT
               ? NG_EXIT_ENVIRONMENT
               : NG_EXIT_SUBJECT;
}

static int open_library(ng_chosen_subject *chosen, const char *name,
                        double timeout, ng_error *error)
{
    char path[4096];

    /* Without a slash the loader would look in the system's folders. */
    snprintf(path, sizeof path, "%s%s", strchr(name, '/') == NULL ? "./" : "",
             name);
    chosen->host = ng_host_open(path, timeout, &chosen->verdict);
    return opened(chosen, name, error);
}

/* Say what a command's user should know of a subject, or why there is none. */
static int say(int exit_status, const ng_chosen_subject *chosen,
               const char *command, const ng_error *error)
{
    if (exit_status != NG_EXIT_OK)
        return ng_complain(exit_status, command, "%s", error->text);
    if (chosen->host == NULL)
        return NG_EXIT_OK;
    mention_unknown(chosen->host, command);
    if (*ng_host_without_device(chosen->host) != '\0')
        ng_complain(0, command,
                    "%s: no device memory for the operations that want it: "
                    "%s: not covered",
                    chosen->subject->name,
                    ng_host_without_device(chosen->host));
    return NG_EXIT_OK;
}

int ng_subject_execute(ng_chosen_subject *chosen, const char *command,
                       const char *line, double timeout)
{
    ng_error error = {""};

    *chosen = (ng_chosen_subject){0};
    chosen->host = ng_host_open_command(line, timeout, &chosen->verdict);
    return say(opened(chosen, line, &error), chosen, command, &error);
}

static int open_built_in(const ng_subject *subject, ng_error *error)
{
    ng_error why = {""};
    const ng_status status =
        subject->open != NULL ? subject->open(&why) : NG_OK;

    if (status == NG_OK)
        return NG_EXIT_OK;
    ng_fail(error, status, "subject %s: %.300s", subject->name, why.text);
    return status == NG_NO_DEVICE ? NG_EXIT_CANNOT_RUN : NG_EXIT_ENVIRONMENT;
}

int ng_subject_open(ng_chosen_subject *chosen, const char *name,
                    double timeout, ng_error *error)
{
    *chosen = (ng_chosen_subject){0};
    if (is_library(name))
        return open_library(chosen, name, timeout, error);
    chosen->subject = ng_subject_find(name);
    if (chosen->subject != NULL)
        return open_built_in(chosen->subject, error);
    if (known_elsewhere(name)) {
        ng_fail(error, NG_NOT_COVERED, "subject %s: not in this build", name);
        return NG_EXIT_CANNOT_RUN;
    }
    ng_fail(error, NG_BAD_VALUE,
            "%s: no such subject (narrowgauge ops --subjects lists them; a "
            "plug-in's path has a / or ends in .so)",
            name);
    return NG_EXIT_USAGE;
}

int ng_subject_choose(ng_chosen_subject *chosen, const char *command,
                      const char *name, double timeout)
{
    ng_error error = {""};
    ng_error named;
    const int exit_status = ng_subject_open(chosen, name, timeout, &error);

    if (exit_status == NG_EXIT_USAGE) {
        ng_fail(&named, NG_BAD_VALUE, "--subject: %s", error.text);
        error = named;
    }
    return say(exit_status, chosen, command, &error);
}

void ng_subject_release(ng_chosen_subject *chosen)
{
    ng_host_close(chosen->host);
    *chosen = (ng_chosen_subject){0};
}

double ng_timeout_option(const struct argp_state *state, const char *text)
{
    char *end;
    const double seconds = strtod(text, &end);

    if (end == text || *end != '\0' || !(seconds > 0 && seconds <= 86400))
        ng_command_refuse(
            state, "--timeout: %s: not a number of seconds up to 86400", text);
    return seconds;
}
