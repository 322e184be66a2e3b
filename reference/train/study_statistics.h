/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_REFERENCE_TRAIN_STUDY_STATISTICS_H
#define NG_REFERENCE_TRAIN_STUDY_STATISTICS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The mean of n numbers, their standard deviation (of the sample) and Student's
 * 95 % interval of the mean. n = 1: the interval is all numbers, sd 0; n = 0:
 * all four are NaN. n up to NG_STUDY_MAX_SEEDS. */
typedef struct ng_mean {
    double mean, sd, low, high;
} ng_mean;

ng_mean ng_student_mean(const double *x, int64_t n);

#ifdef __cplusplus
}
#endif

#endif
