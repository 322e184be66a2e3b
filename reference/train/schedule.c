/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/train/schedule.h"

#include <stddef.h>

const char *const ng_schedule_names[] = {"constant", "linear", "cosine", "wsd",
                                         NULL};

/* cos(pi x) for x in [0, 1]: past 1/2 by cos(pi x) = -cos(pi (1 - x)), before
 * it by Taylor's polynomial in y = (pi x)^2 <= pi^2/4, whose next term is below
 * (pi/2)^24/24! < 1e-19. */
static double cosine_of_turns(double x)
{
    enum { TERMS = 11 };
    const double pi = 0x1.921fb54442d18p+1;
    const double z = pi * (x > 0.5 ? 1.0 - x : x), y = z * z;
    double sum = 1.0;

    for (int i = TERMS; i > 0; i--)
        sum = 1.0 - y / (double)(2 * i * (2 * i - 1)) * sum;
    return x > 0.5 ? -sum : sum;
}

/* Straight from 1 to `last` as x goes from 0 to 1. */
static double falling(double last, double x)
{
    return 1.0 - (1.0 - last) * x;
}

double ng_schedule_share(const ng_schedule *schedule, int64_t step)
{
    const int64_t steps = schedule->steps, warmup = schedule->warmup;
    const double last = schedule->last;

    if (step <= warmup)
        return (double)step / (double)warmup;
    if (step > steps)
        step = steps;
    /* A warm-up that fills the run leaves nothing to fall over. */
    const double x = steps > warmup
                         ? (double)(step - warmup) / (double)(steps - warmup)
                         : 0.0;

    switch (schedule->kind) {
    case NG_SCHEDULE_CONSTANT:
        break;
    case NG_SCHEDULE_LINEAR:
        return falling(last, x);
    case NG_SCHEDULE_COSINE:
        return last + (1.0 - last) * ((1.0 + cosine_of_turns(x)) * 0.5);
    case NG_SCHEDULE_WSD: {
        const int64_t start = steps - schedule->decay;

        return step <= start ? 1.0
                             : falling(last, (double)(step - start)
                                                 / (double)schedule->decay);
    }
    }
    return 1.0;
}
