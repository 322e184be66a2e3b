/* SPDX-License-Identifier: Apache-2.0
 *
 * `verify --replay`: one case once more, from its FAIL line or from the file that
 * holds it made small.
 */
#ifndef NG_CONFORMANCE_CLI_REPLAY_H
#define NG_CONFORMANCE_CLI_REPLAY_H

#include "conformance/checks/verify.h"

/* Run the case that `what` names on the plan's subject: a line (it has " op=" in
 * it) or the path of a file. A line's variant goes by the plan's profile; a file
 * has its rules with it, and profile (null: none) only what is expected.
 * Print what came of it and return the exit status: 0 passed or not covered, 1,
 * 3 the subject failed, 2 no such case, 4 the environment. */
int ng_replay(const ng_verify_plan *plan, const char *what,
              const char *profile);

#endif
