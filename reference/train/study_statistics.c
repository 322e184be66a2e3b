/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/train/study_statistics.h"

#include <math.h>

#include "reference/train/study_setting.h"

/* Student's t, 97.5 %, by degrees of freedom from 1. Source: NIST/SEMATECH
 * e-Handbook of Statistical Methods, 1.3.6.7.2. */
static const double student[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447,
                                 2.365,  2.306, 2.262, 2.228, 2.201, 2.179,
                                 2.160,  2.145, 2.131, 2.120};

_Static_assert(sizeof student / sizeof *student == NG_STUDY_MAX_SEEDS - 1,
               "a row for every number of seeds");

ng_mean ng_student_mean(const double *x, int64_t n)
{
    double sum = 0.0, squares = 0.0;

    if (n < 1)
        return (ng_mean){NAN, NAN, NAN, NAN};
    for (int64_t i = 0; i < n; i++)
        sum += x[i];

    const double mean = sum / (double)n;

    if (n == 1)
        return (ng_mean){mean, 0.0, -INFINITY, INFINITY};
    for (int64_t i = 0; i < n; i++)
        squares += (x[i] - mean) * (x[i] - mean);

    const double sd = sqrt(squares / (double)(n - 1));
    const double half = student[n - 2] * sd / sqrt((double)n);

    return (ng_mean){mean, sd, mean - half, mean + half};
}
