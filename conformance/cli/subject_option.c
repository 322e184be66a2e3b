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

/* What became of opening a host: the exit status, after one line if it is not
 * NG_EXIT_OK. */
static int opened(ng_chosen_subject *chosen, const char *command,
                  const char *name)
{
    char shown[512];

    if (chosen->host != NULL) {
        chosen->subject = ng_host_subject(chosen->host);
        mention_unknown(chosen->host, command);
        if (*ng_host_without_device(chosen->host) != '\0')
            ng_complain(0, command,
                        "%s: no device memory for the operations that want it: "
                        "%s: not covered",
                        chosen->subject->name,
                        ng_host_without_device(chosen->host));
        return NG_EXIT_OK;
    }
    ng_escape(shown, sizeof shown, name, strlen(name));
    ng_complain(0, command, "%s: %s", shown, chosen->verdict.text);
    return chosen->verdict.kind == NG_VERDICT_CANNOT_RUN ? NG_EXIT_CANNOT_RUN
           : chosen->verdict.kind == NG_VERDICT_ENVIRONMENT
               ? NG_EXIT_ENVIRONMENT
               : NG_EXIT_SUBJECT;
}

static int open_library(ng_chosen_subject *chosen, const char *command,
                        const char *name, double timeout)
{
    char path[4096];

    /* Without a slash the loader would look in the system's folders. */
    snprintf(path, sizeof path, "%s%s", strchr(name, '/') == NULL ? "./" : "",
             name);
    chosen->host = ng_host_open(path, timeout, &chosen->verdict);
    return opened(chosen, command, name);
}

int ng_subject_execute(ng_chosen_subject *chosen, const char *command,
                       const char *line, double timeout)
{
    *chosen = (ng_chosen_subject){0};
    chosen->host = ng_host_open_command(line, timeout, &chosen->verdict);
    return opened(chosen, command, line);
}

static int open_built_in(const ng_subject *subject, const char *command)
{
    ng_error error = {""};
    const ng_status status =
        subject->open != NULL ? subject->open(&error) : NG_OK;

    if (status == NG_OK)
        return NG_EXIT_OK;
    return ng_complain(status == NG_NO_DEVICE ? NG_EXIT_CANNOT_RUN
                                              : NG_EXIT_ENVIRONMENT,
                       command, "subject %s: %s", subject->name, error.text);
}

int ng_subject_choose(ng_chosen_subject *chosen, const char *command,
                      const char *name, double timeout)
{
    *chosen = (ng_chosen_subject){0};
    if (is_library(name))
        return open_library(chosen, command, name, timeout);
    chosen->subject = ng_subject_find(name);
    if (chosen->subject != NULL)
        return open_built_in(chosen->subject, command);
    if (known_elsewhere(name))
        return ng_complain(NG_EXIT_CANNOT_RUN, command,
                           "subject %s: not in this build", name);
    return ng_complain(
        NG_EXIT_USAGE, command,
        "--subject: %s: no such subject (narrowgauge ops "
        "--subjects lists them; a plug-in's path has a / or ends "
        "in .so)",
        name);
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
