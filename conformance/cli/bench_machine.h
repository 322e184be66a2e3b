/* SPDX-License-Identifier: Apache-2.0
 *
 * The machine that a benchmark ran on, and its measured limit.
 */
#ifndef NG_CONFORMANCE_CLI_BENCH_MACHINE_H
#define NG_CONFORMANCE_CLI_BENCH_MACHINE_H

typedef struct ng_machine {
    char cpu[128];
    char compiler[128];
    int threads;      /* that block operations use */
    double copy_rate; /* of memcpy, one thread, 64 MiB: GB/s, bytes
                         read and bytes written */
} ng_machine;

/* Find out; the copy takes some tenths of a second. Returns 0, or -1 without
 * memory. */
int ng_machine_measure(ng_machine *machine);

/* Seconds of a clock that only goes forward. */
double ng_seconds_now(void);

/* Median, smallest and largest of n seconds; sorts them. */
typedef struct ng_spread {
    double median, min, max;
} ng_spread;

ng_spread ng_spread_of(double *seconds, int n);

#endif
