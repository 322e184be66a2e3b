/* SPDX-License-Identifier: Apache-2.0
 *
 * The options --subject and --timeout: which subject a command works on.
 */
#ifndef NG_CONFORMANCE_CLI_SUBJECT_OPTION_H
#define NG_CONFORMANCE_CLI_SUBJECT_OPTION_H

#include <argp.h>

#include "conformance/subject/host.h"

enum { NG_DEFAULT_TIMEOUT = 10 }; /* seconds */

/* What was chosen. */
typedef struct ng_chosen_subject {
    const ng_subject *subject; /* null: `verdict` says why */
    ng_host *host;             /* of one in another process, else null */
    ng_verdict verdict;
} ng_chosen_subject;

/* Start the program of --subject-exec. Returns as ng_subject_choose does. */
int ng_subject_execute(ng_chosen_subject *chosen, const char *command,
                       const char *line, double timeout);

/* Find the subject that the option names: a built-in one, or a plug-in where
 * the name holds a '/' or ends in ".so". Returns NG_EXIT_OK; after one line on
 * standard error, that begins with the command, the exit status to end with. A
 * plug-in that cannot be used has its verdict in *chosen, and the status is
 * NG_EXIT_SUBJECT, NG_EXIT_CANNOT_RUN or NG_EXIT_ENVIRONMENT. */
int ng_subject_choose(ng_chosen_subject *chosen, const char *command,
                      const char *name, double timeout);

/* The same, saying nothing: the line is in *error, without the command and the
 * option. A plug-in's operations that are not covered are not told. */
int ng_subject_open(ng_chosen_subject *chosen, const char *name,
                    double timeout, ng_error *error);

/* End the process of a plug-in. */
void ng_subject_release(ng_chosen_subject *chosen);

/* Parse --timeout: seconds, more than 0, at most a day. */
double ng_timeout_option(const struct argp_state *state, const char *text);

#endif
