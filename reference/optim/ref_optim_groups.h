/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs the groups of 32 of a tensor, on several threads where OpenMP is there:
 * groups share nothing, and sums of integers do not depend on their order.
 */
#ifndef NG_REFERENCE_OPTIM_REF_OPTIM_GROUPS_H
#define NG_REFERENCE_OPTIM_REF_OPTIM_GROUPS_H

#include <stdint.h>

#include "formats/layout.h"
#include "formats/optim.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Elements begin .. end - 1. */
typedef struct ng_ref_span {
    int64_t begin, end;
} ng_ref_span;

/* The elements of a group: 32 of them, fewer in the last. */
static inline ng_ref_span ng_ref_span_of(int64_t group, int64_t n)
{
    const int64_t begin = group * NG_STATE_GROUP;
    const int64_t left = n - begin;

    return (ng_ref_span){
        begin, begin + (left < NG_STATE_GROUP ? left : NG_STATE_GROUP)};
}

static inline int64_t ng_ref_n_groups(int64_t n)
{
    return ng_ceil_div(n, NG_STATE_GROUP);
}

/* Do one group of a job and add what happened to *counts. */
typedef void ng_ref_group(const void *job, int64_t group,
                          ng_optim_counts *counts);

/* Do every group of n elements, in any order; add the counts of all to
 * options->counts once (options and its counts may be null). */
void ng_ref_run_groups(ng_ref_group *group, const void *job, int64_t n,
                       const ng_optim_options *options);

#ifdef __cplusplus
}
#endif

#endif
