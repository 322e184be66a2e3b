/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/cli/bench_report.h"

#include <stdio.h>

#include "formats/version.h"

/* GB/s of compulsory bytes. */
static double rate_of(const ng_bench_row *row)
{
    return (double)row->bytes / row->seconds.median / 1e9;
}

static double ns_a_value(const ng_bench_row *row)
{
    return row->seconds.median * 1e9 / (double)row->values;
}

void ng_bench_print_header(const ng_bench_setting *setting)
{
    const ng_machine *machine = &setting->machine;

    printf(
        "narrowgauge %s, backend %s, verified against %s\n"
        "%s, %d thread%s for block operations, %s\n"
        "memcpy %.2f GB/s (one thread, read + written); median of %d run%s\n\n",
        ng_version_text(), setting->subject->name,
        setting->against != NULL ? setting->against->name
                                 : "nothing (built without MPFR)",
        machine->cpu, machine->threads, machine->threads == 1 ? "" : "s",
        machine->compiler, machine->copy_rate, setting->repeat,
        setting->repeat == 1 ? "" : "s");
    printf("%-24s  %-12s  %9s  %9s  %9s  %8s  %7s  %7s\n", "operation", "shape",
           "median ms", "min", "max", "ns/value", "GB/s", "of copy");
}

void ng_bench_print_row(const ng_bench_row *row,
                        const ng_bench_setting *setting)
{
    printf("%-24s  %-12s  %9.3f  %9.3f  %9.3f  %8.2f  %7.3f  %5.1f %%\n",
           row->operation, row->shape, row->seconds.median * 1e3,
           row->seconds.min * 1e3, row->seconds.max * 1e3, ns_a_value(row),
           rate_of(row), 100 * rate_of(row) / setting->machine.copy_rate);
}

json_t *ng_bench_row_json(const ng_bench_row *row,
                          const ng_bench_setting *setting)
{
    const ng_machine *machine = &setting->machine;
    const char *against =
        setting->against != NULL ? setting->against->name : NULL;
    json_t *object = json_pack(
        "{s:s, s:s, s:s, s:f, s:f, s:f, s:I, s:f, s:f, s:f, s:b, s:{}}", "op",
        row->operation, "form", setting->subject->name, "shape", row->shape,
        "median_us", row->seconds.median * 1e6, "min_us",
        row->seconds.min * 1e6, "max_us", row->seconds.max * 1e6, "bytes",
        (json_int_t)row->bytes, "rate", rate_of(row), "limit",
        machine->copy_rate, "share", rate_of(row) / machine->copy_rate,
        "verified", against != NULL, "peer");
    json_t *more =
        json_pack("{s:s, s:s?, s:I, s:f, s:i, s:s, s:i, s:s, s:s, s:s}", "unit",
                  "GB/s", "verified_against", against, "values",
                  (json_int_t)row->values, "ns_per_value", ns_a_value(row),
                  "repeat", setting->repeat, "cpu", machine->cpu, "threads",
                  machine->threads, "compiler", machine->compiler, "version",
                  ng_version_number(), "commit", ng_version_text());

    json_object_update(object, more);
    json_decref(more);
    return object;
}
