/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/convert/ref_parallel.h"

#include <stddef.h>

void ng_ref_run(ng_ref_line *line, const void *job, int64_t n,
                const ng_options *options)
{
    ng_events sum = {{0}};

#ifdef _OPENMP
#pragma omp parallel if (n > 1)
#endif
    {
        ng_events mine = {{0}};

#ifdef _OPENMP
#pragma omp for schedule(guided)
#endif
        for (int64_t i = 0; i < n; i++)
            line(job, i, &mine);
#ifdef _OPENMP
#pragma omp critical(ng_ref_run)
#endif
        ng_events_add(&sum, &mine);
    }
    if (options != NULL && options->events != NULL)
        ng_events_add(options->events, &sum);
}
