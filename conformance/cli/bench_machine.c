/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/cli/bench_machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef _OPENMP
#include <omp.h>
#endif

double ng_seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

ng_spread ng_spread_of(double *seconds, int n)
{
    qsort(seconds, (size_t)n, sizeof *seconds, ascending);
    return (ng_spread){
        .median = n % 2 != 0 ? seconds[n / 2]
                             : (seconds[n / 2 - 1] + seconds[n / 2]) / 2,
        .min = seconds[0],
        .max = seconds[n - 1],
    };
}

static void read_cpu(char *cpu, size_t size)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");

    snprintf(cpu, size, "unknown processor");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const char *colon = strchr(line, ':');

        if (strncmp(line, "model name", 10) != 0 || colon == NULL)
            continue;
        colon += 1 + strspn(colon + 1, " ");
        snprintf(cpu, size, "%.*s", (int)strcspn(colon, "\n"), colon);
        break;
    }
    if (file != NULL)
        fclose(file);
}

static int measure_copy(double *rate)
{
    enum { RUNS = 7 };
    const size_t size = (size_t)64 << 20;
    char *from = malloc(size), *to = malloc(size);
    double seconds[RUNS];

    if (from == NULL || to == NULL) {
        free(from);
        free(to);
        return -1;
    }
    memset(from, 1, size);
    memset(to, 2, size); /* the pages exist before the clock runs */
    for (int i = 0; i < RUNS; i++) {
        const double start = ng_seconds_now();

        memcpy(to, from, size);
        from[i] = to[size - 1 - (size_t)i]; /* the copy is needed */
        seconds[i] = ng_seconds_now() - start;
    }
    *rate = 2 * (double)size / ng_spread_of(seconds, RUNS).median / 1e9;
    free(from);
    free(to);
    return 0;
}

int ng_machine_measure(ng_machine *machine)
{
    read_cpu(machine->cpu, sizeof machine->cpu);
#ifdef __clang__
    snprintf(machine->compiler, sizeof machine->compiler, "%s", __VERSION__);
#else
    snprintf(machine->compiler, sizeof machine->compiler, "gcc %s",
             __VERSION__);
#endif
#ifdef _OPENMP
    machine->threads = omp_get_max_threads();
#else
    machine->threads = 1;
#endif
    return measure_copy(&machine->copy_rate);
}
