/* SPDX-License-Identifier: Apache-2.0
 *
 * The end of every test's main.
 */
#ifndef NG_CONFORMANCE_CHECKS_SUITE_RUNNER_H
#define NG_CONFORMANCE_CHECKS_SUITE_RUNNER_H

#include <check.h>

/* Run the one suite of a program and free it: 0 or 1 for its exit status. How
 * much is printed, CK_VERBOSITY says. */
static inline int run_suite(Suite *suite)
{
    SRunner *runner = srunner_create(suite);

    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}

#endif
