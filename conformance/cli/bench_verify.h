/* SPDX-License-Identifier: Apache-2.0
 *
 * What is timed must be right: nothing is timed that differs.
 */
#ifndef NG_CONFORMANCE_CLI_BENCH_VERIFY_H
#define NG_CONFORMANCE_CLI_BENCH_VERIFY_H

#include "conformance/checks/verify.h"
#include "conformance/cli/bench_case.h"

/* Run bench's call once by the subject, which also warms it up, and compare
 * every output byte with what `expected` gives of the same inputs; then run
 * some cases of the operation's strata of level 0 in its first variant under
 * the profile. Events are not compared.
 * Returns NG_OK with *line empty, or with it saying what differs; else what the
 * call returned, or NG_NO_MEMORY. */
ng_status ng_bench_verify(char *line, size_t size, ng_bench_case *bench,
                          const ng_operation *operation,
                          const ng_subject *subject, const ng_subject *expected,
                          const ng_profile *profile);

#endif
