/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/cli/train_progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static double seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void ng_train_printer_begin(ng_train_printer *printer, bool quiet)
{
    *printer = (ng_train_printer){.terminal = isatty(STDERR_FILENO) != 0,
                                  .quiet = quiet,
                                  .start = seconds_now(),
                                  .first = -1};
    printer->last = printer->start;
}

static void print_left(double seconds)
{
    if (seconds >= 3600.0)
        fprintf(stderr, "  %.1f h left", seconds / 3600.0);
    else if (seconds >= 60.0)
        fprintf(stderr, "  %.0f min left", seconds / 60.0);
    else
        fprintf(stderr, "  %.0f s left", seconds);
}

void ng_train_print(void *context, const ng_train_progress *p)
{
    ng_train_printer *printer = context;
    const double now = seconds_now();

    if (printer->first < 0)
        printer->first = p->step - 1;
    if (printer->quiet
        || (!p->evaluated
            && now - printer->last < (printer->terminal ? 0.1 : 30.0)))
        return;
    printer->last = now;
    fprintf(stderr, "%sstep %" PRId64 "/%" PRId64 "  loss %.4f",
            printer->terminal ? "\r\033[K" : "", p->step, p->steps, p->loss);
    if (p->evaluated)
        fprintf(stderr, "  validation %.4f", p->evaluation);
    fprintf(stderr, "  norm %.3g  lr %.3g  %.0f tokens/s", p->norm, p->lr,
            p->tokens_per_second);
    if (p->skipped > 0)
        fprintf(stderr, "  %" PRId64 " skipped", p->skipped);
    print_left((now - printer->start) / (double)(p->step - printer->first)
               * (double)(p->until - p->step));
    printer->drawn = printer->terminal && !p->evaluated;
    if (!printer->drawn)
        fputc('\n', stderr);
    fflush(stderr);
}

void ng_train_printer_end(ng_train_printer *printer)
{
    if (printer->drawn)
        fputs("\r\033[K", stderr);
    printer->drawn = false;
}
