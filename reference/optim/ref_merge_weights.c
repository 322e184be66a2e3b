/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/optim/ref_merge_weights.h"

#include <stddef.h>

#include "formats/fp32.h"
#include "reference/optim/ref_optim_groups.h"
#include "reference/optim/ref_optim_views.h"

struct job {
    float *theta;
    const ng_weights *x;
    int64_t n;
    int split;
};

static void merge_group(const void *context, int64_t group,
                        ng_optim_counts *counts)
{
    const struct job *job = context;
    const ng_ref_span span = ng_ref_span_of(group, job->n);

    (void)counts;
    for (int64_t i = span.begin; i < span.end; i++)
        job->theta[i] =
            ng_fp32_from_bits(ng_ref_load_weight(job->x, i, job->split));
}

ng_status ng_ref_merge_weights(float *theta, const ng_weights *x, int64_t n,
                               const ng_optim_options *options)
{
    ng_status status;

    if (x == NULL || (theta == NULL && n > 0))
        return NG_BAD_POINTER;
    if ((status = ng_ref_check_optim(n, options)) != NG_OK
        || (status = ng_ref_check_weights(x, n)) != NG_OK)
        return status;

    const struct job job = {theta, x, n, ng_ref_optim_rules(options)->split};

    ng_ref_run_groups(merge_group, &job, n, options);
    return NG_OK;
}
