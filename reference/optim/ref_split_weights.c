/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/optim/ref_split_weights.h"

#include <stddef.h>

#include "formats/fp32.h"
#include "reference/optim/ref_optim_groups.h"
#include "reference/optim/ref_optim_views.h"

struct job {
    const ng_weights *y;
    const float *theta;
    int64_t n;
    int split;
};

static void split_group(const void *context, int64_t group,
                        ng_optim_counts *counts)
{
    const struct job *job = context;
    const ng_ref_span span = ng_ref_span_of(group, job->n);

    for (int64_t i = span.begin; i < span.end; i++)
        counts->weights_saturated += ng_ref_store_weight(
            job->y, i, ng_fp32_bits(job->theta[i]), job->split);
}

ng_status ng_ref_split_weights(const ng_weights *y, const float *theta,
                               int64_t n, const ng_optim_options *options)
{
    ng_status status;

    if (y == NULL || (theta == NULL && n > 0))
        return NG_BAD_POINTER;
    if ((status = ng_ref_check_optim(n, options)) != NG_OK
        || (status = ng_ref_check_weights(y, n)) != NG_OK)
        return status;

    const struct job job = {y, theta, n, ng_ref_optim_rules(options)->split};

    ng_ref_run_groups(split_group, &job, n, options);
    return NG_OK;
}
