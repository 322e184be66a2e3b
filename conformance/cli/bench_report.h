/* SPDX-License-Identifier: Apache-2.0
 *
 * What `bench` prints: a header with the machine, an operation a line, and the
 * same as JSON rows in the form of reports/gpu/bench.json (design.md 4).
 */
#ifndef NG_CONFORMANCE_CLI_BENCH_REPORT_H
#define NG_CONFORMANCE_CLI_BENCH_REPORT_H

#include <jansson.h>
#include <stdint.h>

#include "conformance/cli/bench_machine.h"
#include "conformance/subject/subject.h"

/* One operation, timed. */
typedef struct ng_bench_row {
    const char *operation;
    ng_spread seconds;
    int64_t values, bytes;
    char shape[48];
} ng_bench_row;

/* What was timed, where, and what it was verified against (null: nothing). */
typedef struct ng_bench_setting {
    const ng_subject *subject, *against;
    ng_machine machine;
    int repeat;
} ng_bench_setting;

void ng_bench_print_header(const ng_bench_setting *setting);
void ng_bench_print_row(const ng_bench_row *row,
                        const ng_bench_setting *setting);
json_t *ng_bench_row_json(const ng_bench_row *row,
                          const ng_bench_setting *setting);

#endif
