/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/optim/ref_optim_groups.h"

#include <stddef.h>

/* Groups below this number are done by the caller's thread alone: starting the
 * others costs more than they save. */
enum { FEW_GROUPS = 64 };

void ng_ref_run_groups(ng_ref_group *group, const void *job, int64_t n,
                       const ng_optim_options *options)
{
    const int64_t n_groups = ng_ref_n_groups(n);
    ng_optim_counts sum = {0};

#ifdef _OPENMP
#pragma omp parallel if (n_groups >= FEW_GROUPS)
#endif
    {
        ng_optim_counts mine = {0};

#ifdef _OPENMP
#pragma omp for schedule(static)
#endif
        for (int64_t i = 0; i < n_groups; i++)
            group(job, i, &mine);
#ifdef _OPENMP
#pragma omp critical(ng_ref_run_groups)
#endif
        ng_optim_counts_add(&sum, &mine);
    }
    if (options != NULL && options->counts != NULL)
        ng_optim_counts_add(options->counts, &sum);
}
