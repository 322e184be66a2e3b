/* SPDX-License-Identifier: Apache-2.0
 *
 * A shard forward and backward: embedding, layers, head; then the modules that
 * predict further tokens, each on what the one before it gave.
 */
#include <stdlib.h>
#include <string.h>

#include "reference/model/model_parts.h"

/* ---- a shard's arrays ---------------------------------------------------- */

/* Tokens and targets of depth 0 .. mtp_depth, [depth][T], the backend's. The
 * module of depth d sees token i + d at position i and predicts the target
 * there; past the end of a sequence it sees the last token and predicts
 * nothing. */
typedef struct shard_arrays {
    int32_t *tokens, *targets;
    ng_saved *saved;  /* [blocks] */
    ng_array *hidden; /* [mtp_depth + 1]: what each module's head and the next
                         module see */
    ng_array *joined, *embedded; /* [mtp_depth] */
    ng_array *head_grad;         /* [mtp_depth + 1] */
} shard_arrays;

static void shift(int32_t *out, const int32_t *in, const ng_pass *p, int64_t d,
                  bool targets)
{
    for (int64_t t = 0; t < p->rows; t++) {
        const int64_t i = t % p->length, start = t - i;

        out[t] = i + d < p->length ? in[t + d]
                 : targets         ? -1
                                   : in[start + p->length - 1];
    }
}

static void upload(ng_pass *p, shard_arrays *s, const ng_model_shard *shard)
{
    const int64_t depths = p->model->config.mtp_depth + 1;
    const int64_t bytes = depths * p->rows * (int64_t)sizeof(int32_t);
    int32_t *host = (int32_t *)(void *)ng_make_integers(
        p, depths * p->rows); /* twice as much as one array needs: both */
    int32_t *targets = host != NULL ? host + depths * p->rows : NULL;

    s->tokens = p->b->alloc(p->c, bytes);
    s->targets = p->b->alloc(p->c, bytes);
    if (s->tokens == NULL || s->targets == NULL)
        p->status = NG_NO_MEMORY;
    for (int64_t d = 0; host != NULL && d < depths; d++) {
        shift(host + d * p->rows, shard->tokens, p, d, false);
        shift(targets + d * p->rows, shard->targets, p, d, true);
    }
    NG_DO(p, p->b->upload(p->c, s->tokens, host, bytes));
    NG_DO(p, p->b->upload(p->c, s->targets, targets, bytes));
    NG_DO(p, p->b->wait(p->c));
    free(host);
}

static void begin(ng_pass *p, shard_arrays *s, const ng_model_shard *shard)
{
    const size_t depth = (size_t)p->model->config.mtp_depth;

    memset(s, 0, sizeof *s);
    s->saved = calloc((size_t)p->model->n_blocks, sizeof *s->saved);
    s->hidden = calloc(4 * (depth + 1), sizeof *s->hidden);
    if (s->saved == NULL || s->hidden == NULL) {
        p->status = NG_NO_MEMORY;
        return;
    }
    s->joined = s->hidden + depth + 1;
    s->embedded = s->joined + depth + 1;
    s->head_grad = s->embedded + depth + 1;
    upload(p, s, shard);
}

static void end(ng_pass *p, shard_arrays *s)
{
    const int64_t depth = p->model->config.mtp_depth;

    for (int64_t i = 0; s->saved != NULL && i < p->model->n_blocks; i++)
        ng_saved_free(p, &s->saved[i]);
    for (int64_t i = 0; s->hidden != NULL && i < 4 * (depth + 1); i++)
        ng_drop(p, &s->hidden[i]);
    p->b->free(p->c, s->tokens);
    p->b->free(p->c, s->targets);
    free(s->saved);
    free(s->hidden);
}

/* ---- forward ------------------------------------------------------------- */

static ng_array embed(ng_pass *p, const int32_t *tokens)
{
    ng_array x = ng_make(p, p->act, p->rows, p->model->config.hidden);

    NG_DO(p, p->b->embedding(p->c, &x, tokens, &p->model->embedding));
    return x;
}

/* What module d (from 1) takes in: [norm(embedding) | norm(hidden)] projected.
 */
static ng_array mtp_input(ng_pass *p, const ng_layer *layer, shard_arrays *s,
                          int64_t d)
{
    const ng_own *before = ng_enter(p, layer, NG_SITE_HEAD);
    const int64_t hidden = p->model->config.hidden;
    ng_array token, state, x;
    ng_array *joined = &s->joined[d - 1];

    s->embedded[d - 1] = embed(p, s->tokens + d * p->rows);
    token = ng_normalize(p, &layer->token_norm, &s->embedded[d - 1]);
    state = ng_normalize(p, &layer->hidden_norm, &s->hidden[d - 1]);
    *joined = ng_make(p, p->act, p->rows, 2 * hidden);
    NG_DO(p, p->b->put_columns(p->c, joined, &token, 0));
    NG_DO(p, p->b->put_columns(p->c, joined, &state, hidden));
    ng_drop(p, &token);
    ng_drop(p, &state);
    ng_become(p, joined, layer->recipe->site[NG_SITE_HEAD].store_x);
    x = ng_forward(p, &layer->project, joined, p->act, NULL);
    if (!p->gradients) {
        ng_drop(p, joined);
        ng_drop(p, &s->embedded[d - 1]);
    }
    p->own = before;
    return x;
}

static float scale_of(const ng_pass *p, int64_t depth)
{
    const ng_model *m = p->model;
    const double targets = m->n_targets > 0 ? (double)m->n_targets : 1.0;

    return (float)(depth == 0 ? 1.0 / targets
                              : m->config.mtp_weight
                                    / ((double)m->config.mtp_depth * targets));
}

static void forward(ng_pass *p, shard_arrays *s)
{
    ng_model *m = p->model;
    const int64_t layers = m->config.layers;
    int64_t predicted = 0;
    ng_array x = embed(p, s->tokens);

    for (int64_t l = 0; l < layers; l++)
        ng_layer_forward(p, &m->layers[l], &s->saved[l], &x);
    s->hidden[0] = x;
    s->head_grad[0] =
        ng_head_loss(p, &m->norm, &x, s->targets, &p->numbers->loss,
                     &p->numbers->targets, scale_of(p, 0));
    if (!p->gradients)
        return;
    for (int64_t d = 1; d <= m->config.mtp_depth; d++) {
        const ng_layer *layer = &m->layers[layers + d - 1];

        x = mtp_input(p, layer, s, d);
        ng_layer_forward(p, layer, &s->saved[layers + d - 1], &x);
        s->hidden[d] = x;
        s->head_grad[d] =
            ng_head_loss(p, &layer->mtp_norm, &x, s->targets + d * p->rows,
                         &p->numbers->mtp_loss, &predicted, scale_of(p, d));
    }
}

/* ---- backward ------------------------------------------------------------ */

static void embedding_backward(ng_pass *p, const int32_t *tokens,
                               const ng_array *grad)
{
    ng_array table = ng_gradient_in(p->model, p->model->embedding_parameter,
                                    p->shared_leaf, 1);

    NG_DO(p, p->b->embedding_backward(p->c, &table, tokens, grad));
}

/* The gradient of hidden state d - 1 through module d is added to *below. */
static void mtp_backward(ng_pass *p, const ng_layer *layer, shard_arrays *s,
                         int64_t d, ng_array *grad, ng_array *below)
{
    const int64_t hidden = p->model->config.hidden;
    ng_array joined, of_token, of_state, g;

    ng_layer_backward(p, layer, &s->saved[layer->index], grad);
    p->own = &layer->own[NG_SITE_HEAD];
    joined = ng_backward(p, &layer->project, grad, p->act, NULL);
    ng_weight_gradient(p, &layer->project, grad, &s->joined[d - 1], NULL,
                       p->shared_leaf);
    p->own = NULL;
    of_token = ng_make(p, p->act, p->rows, hidden);
    of_state = ng_make(p, p->act, p->rows, hidden);
    NG_DO(p, p->b->take_columns(p->c, &of_token, &joined, 0));
    NG_DO(p, p->b->take_columns(p->c, &of_state, &joined, hidden));
    g = ng_normalize_backward(p, &layer->token_norm, &of_token,
                              &s->embedded[d - 1], NULL, p->act);
    embedding_backward(p, s->tokens + d * p->rows, &g);
    ng_drop(p, &g);
    g = ng_normalize_backward(p, &layer->hidden_norm, &of_state,
                              &s->hidden[d - 1], below, p->act);
    ng_drop(p, below);
    *below = g;
    ng_drop(p, &of_state);
    ng_drop(p, &of_token);
    ng_drop(p, &joined);
    ng_drop(p, grad);
}

static void backward(ng_pass *p, shard_arrays *s)
{
    ng_model *m = p->model;
    const int64_t layers = m->config.layers;
    ng_array *grad = &s->head_grad[0];

    for (int64_t d = m->config.mtp_depth; d >= 1; d--)
        mtp_backward(p, &m->layers[layers + d - 1], s, d, &s->head_grad[d],
                     &s->head_grad[d - 1]);
    for (int64_t l = layers - 1; l >= 0; l--)
        ng_layer_backward(p, &m->layers[l], &s->saved[l], grad);
    embedding_backward(p, s->tokens, grad);
}

/* ---- counting ------------------------------------------------------------ */

static void count_kept(ng_pass *p, const shard_arrays *s)
{
    ng_model *m = p->model;
    int64_t bytes[NG_N_KEPT_KINDS] = {0};
    int64_t *const sum[NG_N_KEPT_KINDS] = {&m->counted.stored_moe,
                                           &m->counted.stored_attention,
                                           &m->counted.stored_other};

    for (int64_t l = 0; l < m->n_blocks; l++) {
        const ng_saved *saved = &s->saved[l];
        const bool moe = m->layers[l].moe;

        for (int i = 0; i < NG_N_KEPT; i++)
            bytes[ng_kept_kind_of((ng_kept)i, moe)] +=
                ng_array_data_bytes(&saved->a[i])
                + ng_array_scale_bytes(&saved->a[i]);
        if (saved->expert != NULL)
            bytes[NG_KEPT_FOR_MOE] +=
                p->rows * m->config.top_k * (int64_t)sizeof *saved->expert;
    }
    for (int64_t i = 0; i < 4 * (m->config.mtp_depth + 1); i++)
        bytes[NG_KEPT_FOR_OTHER] += ng_array_data_bytes(&s->hidden[i])
                                    + ng_array_scale_bytes(&s->hidden[i]);
    for (int kind = 0; kind < NG_N_KEPT_KINDS; kind++)
        *sum[kind] += bytes[kind];
}

/* ---- calls --------------------------------------------------------------- */

static ng_status check_shard(const ng_model *m, const ng_model_shard *shard,
                             ng_error *error)
{
    if (shard->shard < 0)
        return NG_OK;
    if (shard->sequences < 1 || shard->length < 1
        || shard->length > m->config.length || shard->tokens == NULL
        || shard->targets == NULL)
        return ng_fail(error, NG_BAD_SHAPE,
                       "shard %lld: %lld sequences of %lld tokens",
                       (long long)shard->shard, (long long)shard->sequences,
                       (long long)shard->length);
    for (int64_t t = 0; t < shard->sequences * shard->length; t++)
        if (shard->tokens[t] < 0 || shard->tokens[t] >= m->config.vocabulary
            || shard->targets[t] < -1
            || shard->targets[t] >= m->config.vocabulary)
            return ng_fail(error, NG_BAD_VALUE,
                           "shard %lld: token %lld is not in the vocabulary",
                           (long long)shard->shard, (long long)t);
    return NG_OK;
}

static ng_pass pass_of(ng_model *m, const ng_model_shard *shard,
                       ng_shard_numbers *numbers, ng_error *error)
{
    const bool some = shard->shard >= 0;

    if (error != NULL)
        error->text[0] = '\0';
    return (ng_pass){
        .model = m,
        .b = m->backend,
        .c = m->backend->context,
        .error = error,
        .act = m->recipe.residual,
        .sequences = some ? shard->sequences : 0,
        .length = some ? shard->length : 0,
        .rows = some ? shard->sequences * shard->length : 0,
        .numbers = numbers,
        .balance_scale =
            some && m->n_shards > 0 ? (
                float)(1.0 / ((double)m->n_shards * (double)shard->sequences))
                                    : 0.0f,
    };
}

/* The line of what failed, where it wrote one: the exchange does. */
static ng_status finish(const ng_pass *p, ng_error *error)
{
    if (p->status == NG_OK || (error != NULL && error->text[0] != '\0'))
        return p->status;
    return ng_fail(error, p->status, "model: %s", ng_status_text(p->status));
}

ng_status ng_model_begin_step(ng_model *m, int64_t n_shards, int64_t n_targets,
                              ng_error *error)
{
    const int64_t loads = ng_model_n_state(m);
    ng_shard_numbers *numbers;

    if (n_shards < 1 || n_shards > 1 << 20 || n_targets < 1)
        return ng_fail(error, NG_BAD_VALUE, "step: %lld shards, %lld targets",
                       (long long)n_shards, (long long)n_targets);
    numbers = calloc((size_t)n_shards, sizeof *numbers);
    if (numbers == NULL)
        return ng_fail(error, NG_NO_MEMORY, "step: out of memory");
    free(m->numbers);
    m->numbers = numbers;
    m->n_shards = n_shards;
    m->n_targets = n_targets;
    m->waves_done = 0;
    m->stepping = true;
    m->ended = false;
    memset(m->load, 0, (size_t)loads * sizeof *m->load);
    memset(&m->counted, 0, sizeof m->counted);
    ng_tree_begin(&m->shared, m->backend, m->n_shared, n_shards);
    ng_tree_begin(&m->local, m->backend, m->n_local, n_shards);
    return NG_OK;
}

/* The shard that a rank has in this wave, or -1. */
static int64_t shard_of(const ng_model *m, int rank)
{
    int64_t first, last;

    ng_comm_share(&first, &last, m->n_shards, rank, m->comm->size);
    first += m->waves_done;
    return first < last ? first : -1;
}

static void make_leaves(ng_pass *p)
{
    ng_model *m = p->model;

    NG_DO(p, ng_tree_leaf(&p->shared_leaf, &m->shared));
    for (int r = 0; r < m->comm->size; r++)
        if (shard_of(m, r) >= 0)
            NG_DO(p, ng_tree_leaf(&p->local_leaves[r], &m->local));
}

/* Into the trees; after a failure, or of no shard, back to the spare ones. */
static void add_leaves(ng_pass *p, int64_t shard)
{
    ng_model *m = p->model;

    if (p->status == NG_OK && shard >= 0)
        p->status = ng_tree_add(&m->shared, shard, p->shared_leaf);
    else
        ng_tree_drop(&m->shared, p->shared_leaf);
    for (int r = 0; r < m->comm->size; r++) {
        if (p->local_leaves[r] == NULL)
            continue;
        if (p->status == NG_OK)
            p->status =
                ng_tree_add(&m->local, shard_of(m, r), p->local_leaves[r]);
        else
            ng_tree_drop(&m->local, p->local_leaves[r]);
    }
}

ng_status ng_model_forward_backward(ng_model *m, const ng_model_shard *shard,
                                    ng_error *error)
{
    ng_shard_numbers none = {0};
    ng_status status = check_shard(m, shard, error);
    shard_arrays arrays;
    ng_pass p;

    if (status != NG_OK)
        return status;
    if (!m->stepping || shard->shard != shard_of(m, m->comm->rank))
        return ng_fail(error, NG_BAD_VALUE,
                       "shard %lld: not the one of this rank and wave",
                       (long long)shard->shard);
    p = pass_of(m, shard, shard->shard >= 0 ? &m->numbers[shard->shard] : &none,
                error);
    p.gradients = true;
    p.local_leaves = calloc((size_t)m->comm->size, sizeof(float *));
    if (p.local_leaves == NULL)
        return ng_fail(error, NG_NO_MEMORY, "shard: out of memory");
    make_leaves(&p);
    begin(&p, &arrays, shard);
    if (p.status == NG_OK) {
        forward(&p, &arrays);
        count_kept(&p, &arrays);
        backward(&p, &arrays);
    }
    end(&p, &arrays);
    add_leaves(&p, shard->shard);
    free(p.local_leaves);
    m->waves_done++;
    return finish(&p, error);
}

ng_status ng_model_evaluate(double *loss, int64_t *n, ng_model *m,
                            const ng_model_shard *shard, ng_error *error)
{
    ng_shard_numbers numbers = {0};
    ng_status status = check_shard(m, shard, error);
    shard_arrays arrays;
    ng_pass p;

    if (status != NG_OK)
        return status;
    p = pass_of(m, shard, &numbers, error);
    begin(&p, &arrays, shard);
    if (p.status == NG_OK)
        forward(&p, &arrays);
    end(&p, &arrays);
    *loss = numbers.loss;
    *n = numbers.targets;
    return finish(&p, error);
}

ng_status ng_model_logits(float *logits, ng_model *m, const int32_t *tokens,
                          int64_t n, ng_error *error)
{
    const ng_model_shard shard = {0, 1, n, tokens, tokens};
    ng_shard_numbers numbers = {0};
    ng_status status = check_shard(m, &shard, error);
    ng_array x, last, normed, z;
    shard_arrays arrays;
    ng_pass p;

    if (status != NG_OK)
        return status;
    p = pass_of(m, &shard, &numbers, error);
    begin(&p, &arrays, &shard);
    x = embed(&p, arrays.tokens);
    for (int64_t l = 0; l < m->config.layers && p.status == NG_OK; l++)
        ng_layer_forward(&p, &m->layers[l], &arrays.saved[l], &x);
    last = ng_array_rows(&x, n - 1, 1);
    normed = ng_normalize(&p, &m->norm, &last);
    p.own = &m->head_own;
    ng_become(&p, &normed, m->recipe.all.site[NG_SITE_HEAD].store_x);
    z = ng_forward(&p, &m->head, &normed, NG_CARRY_FP32, NULL);
    NG_DO(&p, p.b->download(p.c, logits, z.data,
                            m->config.vocabulary * (int64_t)sizeof *logits));
    ng_drop(&p, &z);
    ng_drop(&p, &normed);
    ng_drop(&p, &x);
    end(&p, &arrays);
    return finish(&p, error);
}
