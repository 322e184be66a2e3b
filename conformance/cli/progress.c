/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/cli/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static double seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void ng_progress_begin(ng_progress *progress, bool quiet, const char *unit)
{
    progress->unit = unit;
    progress->terminal = isatty(STDERR_FILENO) != 0;
    progress->quiet = quiet;
    progress->drawn = false;
    progress->start = progress->last = seconds_now();
}

static void print_time(char *text, size_t size, double seconds)
{
    const int64_t s = (int64_t)seconds;

    if (s >= 3600)
        snprintf(text, size, "%" PRId64 " h %02" PRId64 " min", s / 3600,
                 s / 60 % 60);
    else if (s >= 60)
        snprintf(text, size, "%" PRId64 " min %02" PRId64 " s", s / 60, s % 60);
    else
        snprintf(text, size, "%" PRId64 " s", s);
}

void ng_progress_update(ng_progress *progress, const char *what, int64_t done,
                        int64_t total)
{
    const double now = seconds_now();
    const double elapsed = now - progress->start;
    char left[32];

    if (progress->quiet || total <= 0
        || now - progress->last < (progress->terminal ? 0.1 : 30))
        return;
    progress->last = now;
    print_time(left, sizeof left,
               elapsed / (double)done * (double)(total - done));
    if (progress->terminal) {
        const double rate = (double)done / elapsed;
        const int width = 24;
        const int full = (int)(done * width / total);

        fprintf(stderr, "\r\033[K[%.*s%.*s] %3d %%  %s left  %.*f %s/s  %s",
                full, "########################", width - full,
                "........................", (int)(done * 100 / total), left,
                rate < 10 ? 1 : 0, rate, progress->unit, what);
        progress->drawn = true;
    } else {
        fprintf(stderr, "%d %% done, %s left, %s\n", (int)(done * 100 / total),
                left, what);
    }
    fflush(stderr);
}

void ng_progress_end(ng_progress *progress)
{
    if (progress->drawn)
        fputs("\r\033[K", stderr);
    progress->drawn = false;
}
