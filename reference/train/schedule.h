/* SPDX-License-Identifier: Apache-2.0
 *
 * The learning rate of each step, as a share of its peak. FP64, each operation
 * rounded, without library functions: the same bits on every machine.
 */
#ifndef NG_REFERENCE_TRAIN_SCHEDULE_H
#define NG_REFERENCE_TRAIN_SCHEDULE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ng_schedule_kind {
    NG_SCHEDULE_CONSTANT, /* 1 */
    NG_SCHEDULE_LINEAR,   /* straight down to `last` */
    NG_SCHEDULE_COSINE,   /* last + (1 - last) (1 + cos(pi x)) / 2 */
    NG_SCHEDULE_WSD       /* 1, and straight down to `last` over `decay` */
} ng_schedule_kind;

/* "constant", "linear", "cosine", "wsd", null: by number. */
extern const char *const ng_schedule_names[];

typedef struct ng_schedule {
    ng_schedule_kind kind;
    int64_t steps;  /* of the run, at least 1 */
    int64_t warmup; /* steps of rising: step t of them has t/warmup */
    int64_t decay;  /* WSD: the last so many steps fall */
    double last;    /* the share that step `steps` has, 0 .. 1 */
} ng_schedule;

/* The share of step t, from 1; steps past the last have what the last has.
 * Where x = (t - warmup)/(steps - warmup), for WSD (t - (steps - decay))/decay.
 */
double ng_schedule_share(const ng_schedule *schedule, int64_t step);

#ifdef __cplusplus
}
#endif

#endif
