/* SPDX-License-Identifier: Apache-2.0
 *
 * Who gets which rows, and the rows on their way.
 */
#include <stdlib.h>
#include <string.h>

#include "reference/model/moe_parts.h"

ng_router_shape ng_router_shape_of(const ng_pass *p)
{
    const ng_model_config *c = &p->model->config;

    return (ng_router_shape){
        .experts = c->experts,
        .top_k = c->top_k,
        .n_groups = c->expert_groups,
        .top_groups = c->top_groups,
        .softmax = c->softmax_router,
        .normalize = c->normalize_weights,
        .route_scale = (float)c->route_scale,
        .sequences = p->sequences,
        .length = p->length,
        /* without rows there is no sequence to balance */
        .balance = p->rows > 0 ? (float)c->balance_loss : 0.0f,
    };
}

/* Tell every rank how many rows each of its experts gets. */
static void meet(ng_pass *p, const ng_saved *saved)
{
    const ng_model *m = p->model;
    const int size = m->comm->size;
    const int64_t local = m->last_expert - m->first_expert;
    int64_t most = 0;
    int64_t *to, *from;

    for (int q = 0; q < size; q++) {
        const int64_t n = m->expert_share[q + 1] - m->expert_share[q];

        most = n > most ? n : most;
    }
    to = ng_make_integers(p, size * most);
    from = ng_make_integers(p, size * most);
    for (int q = 0; to != NULL && q < size; q++)
        for (int64_t e = m->expert_share[q]; e < m->expert_share[q + 1]; e++)
            to[q * most + e - m->expert_share[q]] =
                saved->host_offsets[e + 1] - saved->host_offsets[e];
    NG_DO(p,
          m->comm->exchange_counts(m->comm->context, from, to, most, p->error));
    if (p->status == NG_OK) {
        int64_t at = 0;

        for (int r = 0; r < size; r++) {
            int64_t *offsets = saved->arrived_offsets + r * (local + 1);

            offsets[0] = at;
            for (int64_t e = 0; e < local; e++) {
                at += from[r * most + e];
                offsets[e + 1] = at;
            }
        }
    }
    free(to);
    free(from);
}

void ng_plan_make(ng_pass *p, ng_plan *plan, ng_saved *saved, bool meeting)
{
    const ng_model *m = p->model;
    const int size = m->comm->size;
    const int64_t local = m->last_expert - m->first_expert;
    const int64_t pairs = p->rows * m->config.top_k;
    int64_t *offsets;

    memset(plan, 0, sizeof *plan);
    if (meeting) {
        saved->host_offsets = ng_make_integers(p, m->config.experts + 1);
        saved->arrived_offsets = ng_make_integers(p, size * (local + 1));
    }
    plan->to = ng_make_integers(p, size);
    plan->from = ng_make_integers(p, size);
    if (p->status != NG_OK)
        return;
    plan->row = p->b->alloc(p->c, pairs * (int64_t)sizeof(int64_t));
    plan->source = p->b->alloc(p->c, pairs * (int64_t)sizeof(int64_t));
    if (plan->row == NULL || plan->source == NULL)
        p->status = NG_NO_MEMORY;
    offsets = saved->host_offsets;
    NG_DO(p, p->b->permutation(p->c, plan->row, plan->source, offsets,
                               saved->expert, p->rows, m->config.top_k,
                               m->config.experts));
    if (meeting)
        meet(p, saved);
    if (p->status != NG_OK)
        return;
    for (int q = 0; q < size; q++) {
        const int64_t *of_rank = saved->arrived_offsets + q * (local + 1);

        plan->to[q] =
            offsets[m->expert_share[q + 1]] - offsets[m->expert_share[q]];
        plan->from[q] = of_rank[local] - of_rank[0];
    }
    saved->arrived = saved->arrived_offsets[size * (local + 1) - 1];
}

void ng_plan_free(ng_pass *p, ng_plan *plan)
{
    p->b->free(p->c, plan->row);
    p->b->free(p->c, plan->source);
    free(plan->to);
    free(plan->from);
    memset(plan, 0, sizeof *plan);
}

ng_arrival ng_arrival_of(const ng_pass *p, const ng_saved *saved, int rank,
                         int64_t *offsets)
{
    const ng_model *m = p->model;
    const int64_t local = m->last_expert - m->first_expert;
    const int64_t *of_rank = saved->arrived_offsets + rank * (local + 1);

    for (int64_t e = 0; e <= local; e++)
        offsets[e] = of_rank[e] - of_rank[0];
    return (ng_arrival){of_rank[0], offsets[local], {{local, offsets}, NULL}};
}

void ng_exchange_rows(ng_pass *p, const ng_array *y, const int64_t *from_rows,
                      const ng_array *x, const int64_t *to_rows, int64_t *sent)
{
    const ng_comm *comm = p->model->comm;
    const int64_t bytes[2] = {ng_carrier_row_bytes(x->carrier, x->cols),
                              ng_carrier_row_scale_bytes(x->carrier, x->cols)};
    void *const to[2] = {x->data, x->scales};
    void *const from[2] = {y->data, y->scales};
    int64_t *counts = ng_make_integers(p, 2 * comm->size);

    for (int plane = 0; plane < 2 && p->status == NG_OK; plane++) {
        if (bytes[plane] == 0)
            continue;
        for (int q = 0; q < comm->size; q++) {
            const int64_t n = to_rows[q] * bytes[plane];

            counts[q] = from_rows[q] * bytes[plane];
            counts[comm->size + q] = n;
            if (sent != NULL) {
                *sent += n;
                p->model->counted.sent_wire += q != comm->rank ? n : 0;
            }
        }
        NG_DO(p, comm->exchange(comm->context, from[plane], counts, to[plane],
                                counts + comm->size, p->error));
    }
    free(counts);
}
