/* SPDX-License-Identifier: Apache-2.0
 *
 * What forward and backward of a mixture of experts share. Private to
 * reference/model/moe_*.c.
 */
#ifndef NG_REFERENCE_MODEL_MOE_PARTS_H
#define NG_REFERENCE_MODEL_MOE_PARTS_H

#include "reference/model/model_parts.h"

/* Where this shard's pairs of token and slot go, and what came here. */
typedef struct ng_plan {
    int64_t *row, *source; /* the backend's; see permutation */
    int64_t *to, *from;    /* [size]: rows to and from each rank */
} ng_plan;

ng_router_shape ng_router_shape_of(const ng_pass *p);

/* The plan of saved->expert; offsets of this shard and of what arrives too, if
 * `meet` (collective), else they are as they were saved. */
void ng_plan_make(ng_pass *p, ng_plan *plan, ng_saved *saved, bool meet);
void ng_plan_free(ng_pass *p, ng_plan *plan);

/* The rows of rank r among those that arrived, and the groups that they form:
 * one a local expert. offsets [local experts + 1] is room for them. */
typedef struct ng_arrival {
    int64_t first, n;
    ng_row_groups groups;
} ng_arrival;
ng_arrival ng_arrival_of(const ng_pass *p, const ng_saved *saved, int rank,
                         int64_t *offsets);

/* norm(x2) in the activations' carrier, and that as the shared expert takes it:
 * the dispatch takes the same array where it wants the same. */
ng_array ng_moe_input(ng_pass *p, const ng_layer *layer, const ng_array *x2);
ng_borrowed ng_shared_input(ng_pass *p, const ng_layer *layer,
                            const ng_array *n2);

static inline const ng_site_recipe *ng_expert_recipe(const ng_layer *layer)
{
    return &layer->recipe->site[NG_SITE_EXPERT];
}

#endif
