/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/optim/ref_compand.h"

#include <stddef.h>
#include <string.h>

#include "reference/optim/ref_companding.h"
#include "reference/optim/ref_optim_groups.h"
#include "reference/optim/ref_optim_views.h"

struct job {
    const ng_state *y;
    const float *x;
    int64_t n;
    int compand;
};

static void compand_group(const void *context, int64_t group,
                          ng_optim_counts *counts)
{
    const struct job *job = context;
    const ng_state *y = job->y;
    const ng_ref_span span = ng_ref_span_of(group, job->n);
    const int n = (int)(span.end - span.begin);

    if (y->coding == NG_STATE_FP32)
        memcpy((float *)y->data + span.begin, job->x + span.begin,
               (size_t)n * sizeof(float));
    else
        ng_ref_compand_group((uint8_t *)y->data + span.begin, &y->scales[group],
                             job->x + span.begin, n, y->kind, y->coding,
                             job->compand, &counts->groups[y->kind]);
}

ng_status ng_ref_compand(const ng_state *y, const float *x, int64_t n,
                         const ng_optim_options *options)
{
    ng_status status;

    if (y == NULL || (x == NULL && n > 0))
        return NG_BAD_POINTER;
    if ((status = ng_ref_check_optim(n, options)) != NG_OK
        || (status = ng_ref_check_state(y, n)) != NG_OK)
        return status;

    const struct job job = {y, x, n, ng_ref_optim_rules(options)->compand};

    ng_ref_run_groups(compand_group, &job, n, options);
    return NG_OK;
}
