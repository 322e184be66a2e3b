/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/optim/ref_expand.h"

#include <stddef.h>
#include <string.h>

#include "formats/fp32.h"
#include "reference/optim/ref_companding.h"
#include "reference/optim/ref_optim_groups.h"
#include "reference/optim/ref_optim_views.h"

struct job {
    float *y;
    const ng_state *x;
    int64_t n;
    int compand;
};

static void expand_group(const void *context, int64_t group,
                         ng_optim_counts *counts)
{
    const struct job *job = context;
    const ng_state *x = job->x;
    const ng_ref_span span = ng_ref_span_of(group, job->n);

    (void)counts;
    if (x->coding == NG_STATE_FP32) {
        memcpy(job->y + span.begin, (const float *)x->data + span.begin,
               (size_t)(span.end - span.begin) * sizeof(float));
        return;
    }
    for (int64_t i = span.begin; i < span.end; i++)
        job->y[i] = ng_fp32_from_bits(
            ng_ref_expand_code(((const uint8_t *)x->data)[i], x->scales[group],
                               x->kind, x->coding, job->compand));
}

ng_status ng_ref_expand(float *y, const ng_state *x, int64_t n,
                        const ng_optim_options *options)
{
    ng_status status;

    if (x == NULL || (y == NULL && n > 0))
        return NG_BAD_POINTER;
    if ((status = ng_ref_check_optim(n, options)) != NG_OK
        || (status = ng_ref_check_state(x, n)) != NG_OK)
        return status;

    const struct job job = {y, x, n, ng_ref_optim_rules(options)->compand};

    ng_ref_run_groups(expand_group, &job, n, options);
    return NG_OK;
}
