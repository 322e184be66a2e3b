/* SPDX-License-Identifier: Apache-2.0
 *
 * What every command says and prints alike.
 */
#ifndef NG_CONFORMANCE_CLI_COMPLAIN_H
#define NG_CONFORMANCE_CLI_COMPLAIN_H

#include <jansson.h>

#include "formats/status.h"

/* Print one line on standard error, "narrowgauge COMMAND: " before it, bytes
 * that are no printable text as '?'. Returns exit_status. */
int ng_complain(int exit_status, const char *command, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The exit status for an array function's or a file function's status: the
 * environment's where memory or the disk ran out, else a usage error. error may
 * be null. */
int ng_exit_status(ng_status status, const ng_error *error);

/* Print error->text as ng_complain does. Returns 77 for NG_NOT_COVERED, else
 * what ng_exit_status says. */
int ng_complain_status(const char *command, ng_status status,
                       const ng_error *error);

/* Print a JSON value, indented, and release it. Returns NG_EXIT_OK, or
 * NG_EXIT_ENVIRONMENT without memory (json is null). */
int ng_print_json(json_t *json);

#endif
