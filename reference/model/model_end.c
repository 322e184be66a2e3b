/* SPDX-License-Identifier: Apache-2.0
 *
 * The end of a step: gradients summed over the ranks in their tree, losses in
 * the order of the shards, counters as integers.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reference/model/model_parts.h"

_Static_assert(sizeof(ng_shard_numbers) == NG_SHARD_WORDS * sizeof(int64_t),
               "ranks exchange it as integers");

/* Give everyone the same n integers, and get everyone's: all [size][n]. */
static ng_status share(int64_t *all, const int64_t *mine, int64_t n,
                       const ng_comm *comm, ng_error *error)
{
    int64_t *to = malloc(((size_t)(n * comm->size) + 1) * sizeof *to);
    ng_status status;

    if (to == NULL)
        return ng_fail(error, NG_NO_MEMORY, "step: out of memory");
    for (int r = 0; r < comm->size; r++)
        memcpy(to + r * n, mine, (size_t)n * sizeof *to);
    status = comm->exchange_counts(comm->context, all, to, n, error);
    free(to);
    return status;
}

/* Every rank's shards' numbers into m->numbers. */
static ng_status share_numbers(ng_model *m, ng_error *error)
{
    const ng_comm *comm = m->comm;
    const int64_t waves = ng_comm_waves(m->n_shards, comm->size);
    const int64_t n = waves * NG_SHARD_WORDS;
    int64_t *mine = calloc((size_t)n, sizeof *mine);
    int64_t *all = calloc((size_t)(n * comm->size), sizeof *all);
    int64_t first, last;
    ng_status status = NG_NO_MEMORY;

    if (mine == NULL || all == NULL) {
        ng_fail(error, status, "step: out of memory");
        goto done;
    }
    ng_comm_share(&first, &last, m->n_shards, comm->rank, comm->size);
    memcpy(mine, m->numbers + first,
           (size_t)(last - first) * sizeof *m->numbers);
    status = share(all, mine, n, comm, error);
    for (int r = 0; r < comm->size && status == NG_OK; r++) {
        ng_comm_share(&first, &last, m->n_shards, r, comm->size);
        memcpy(m->numbers + first, all + r * n,
               (size_t)(last - first) * sizeof *m->numbers);
    }
done:
    free(mine);
    free(all);
    return status;
}

/* The counters that are added up over the ranks. */
enum { N_NAMED = 11, N_ADDED = N_NAMED + NG_N_EVENTS };

static void list_counters(int64_t **added, ng_model_result *c)
{
    int64_t *const named[N_NAMED] = {
        &c->nan_rows,         &c->converted,    &c->uncounted,
        &c->sent_dispatch,    &c->sent_combine, &c->sent_grad_y,
        &c->sent_grad_x,      &c->sent_wire,    &c->stored_moe,
        &c->stored_attention, &c->stored_other};

    for (int i = 0; i < N_NAMED; i++)
        added[i] = named[i];
    /* counts stay far below 2^63 */
    for (int i = 0; i < NG_N_EVENTS; i++)
        added[N_NAMED + i] = (int64_t *)(void *)&c->events.count[i];
}

static ng_status share_counters(ng_model *m, ng_error *error)
{
    const int size = m->comm->size;
    const int64_t loads = ng_model_n_state(m);
    const int64_t n = N_ADDED + loads;
    int64_t *mine = calloc((size_t)n, sizeof *mine);
    int64_t *all = calloc((size_t)(n * size), sizeof *all);
    int64_t *added[N_ADDED];
    ng_status status = NG_NO_MEMORY;

    list_counters(added, &m->counted);
    if (mine == NULL || all == NULL) {
        ng_fail(error, status, "step: out of memory");
        goto done;
    }
    for (int i = 0; i < N_ADDED; i++)
        mine[i] = *added[i];
    memcpy(mine + N_ADDED, m->load, (size_t)loads * sizeof *mine);
    status = share(all, mine, n, m->comm, error);
    for (int r = 0; r < size && status == NG_OK; r++) {
        const int64_t *of_rank = all + r * n;

        if (r == m->comm->rank)
            continue;
        for (int i = 0; i < N_ADDED; i++)
            *added[i] += of_rank[i];
        for (int64_t i = 0; i < loads; i++)
            m->load[i] += of_rank[N_ADDED + i];
    }
done:
    free(mine);
    free(all);
    return status;
}

ng_status ng_model_end_step(ng_model_result *result, ng_model *m,
                            ng_error *error)
{
    ng_model_result *c = &m->counted;
    ng_status status;

    if (!m->stepping
        || m->waves_done != ng_comm_waves(m->n_shards, m->comm->size))
        return ng_fail(error, NG_BAD_VALUE,
                       "step: ended before all of its shards");
    m->stepping = false;
    status = m->backend->wait(m->backend->context);
    if (status == NG_OK && ng_tree_total(&m->local) == NULL)
        status = NG_BAD_SHAPE; /* a shard failed */
    if (status != NG_OK)
        return ng_fail(error, status, "step: %s", ng_status_text(status));
    status = ng_tree_reduce(&m->shared, m->comm, error);
    if (status == NG_OK)
        status = share_numbers(m, error);
    if (status == NG_OK)
        status = share_counters(m, error);
    if (status != NG_OK)
        return status;
    for (int64_t i = 0; i < m->n_shards; i++) {
        c->loss += m->numbers[i].loss;
        c->mtp_loss += m->numbers[i].mtp_loss;
        c->balance_loss += m->numbers[i].balance;
        c->targets += m->numbers[i].targets;
    }
    c->loss /= (double)m->n_targets;
    if (m->config.mtp_depth > 0)
        c->mtp_loss /= (double)m->config.mtp_depth * (double)m->n_targets;
    c->stored_moe /= m->n_shards;
    c->stored_attention /= m->n_shards;
    c->stored_other /= m->n_shards;
    c->moe_layers = ng_model_moe_layers(&m->config);
    m->ended = true;
    *result = *c;
    return NG_OK;
}

ng_status ng_model_gradient_norm(double *norm, ng_model *m, ng_error *error)
{
    const ng_backend *b = m->backend;
    const int64_t n = m->n_slots;
    double sum = 0.0, *mine, *all;
    ng_status status = NG_OK;

    if (!m->ended)
        return ng_fail(error, NG_BAD_VALUE, "gradient norm: no step ended");
    mine = calloc((size_t)n, sizeof *mine);
    all = calloc((size_t)(n * m->comm->size), sizeof *all);
    if (mine == NULL || all == NULL) {
        free(mine);
        free(all);
        return ng_fail(error, NG_NO_MEMORY, "gradient norm: out of memory");
    }
    for (int64_t i = 0; i < n && status == NG_OK; i++) {
        const float *gradient = ng_model_gradient(m, i);

        if (gradient != NULL)
            status = b->sum_squares(b->context, &mine[i], gradient,
                                    m->slots[i].seen.n);
    }
    if (status == NG_OK)
        status = b->wait(b->context);
    if (status != NG_OK)
        ng_fail(error, status, "gradient norm: %s", ng_status_text(status));
    else /* the bits of doubles, as integers */
        status = share((int64_t *)(void *)all,
                       (const int64_t *)(const void *)mine, n, m->comm, error);
    for (int64_t i = 0; i < n && status == NG_OK; i++) {
        const int owner = m->slots[i].seen.owner;

        sum += all[(owner >= 0 ? owner : 0) * n + i];
    }
    if (status == NG_OK)
        *norm = sqrt(sum);
    free(mine);
    free(all);
    return status;
}
