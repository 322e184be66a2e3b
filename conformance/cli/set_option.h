/* SPDX-License-Identifier: Apache-2.0
 *
 * The option --set of commands that run cases: a rule is pinned in the profile,
 * an axis chooses variants.
 */
#ifndef NG_CONFORMANCE_CLI_SET_OPTION_H
#define NG_CONFORMANCE_CLI_SET_OPTION_H

#include <argp.h>

#include "conformance/checks/verify.h"

enum { NG_MAX_SET = 64 };

/* Append the option's value to the list set[NG_MAX_SET] of *n, or refuse it
 * where it has no '=' or the list is full. */
void ng_set_option(const char **set, int *n, const struct argp_state *state,
                   const char *value);

/* Apply n texts "NAME=VALUE" (each has its '='; at most NG_MAX_SET) to the
 * profile and to plan->axes. Returns NG_EXIT_OK, or NG_EXIT_USAGE after one
 * line on standard error. */
int ng_set_apply(ng_profile *profile, ng_verify_plan *plan, const char *command,
                 const char *const *set, int n);

#endif
