/* SPDX-License-Identifier: Apache-2.0
 *
 * A model made: its list of parameters, where their gradients lie, room for the
 * working copies of its weights.
 */
#include <stdlib.h>
#include <string.h>

#include "reference/model/model_parts.h"

/* ---- the list ------------------------------------------------------------ */

typedef struct making {
    ng_model *model;
    int64_t next; /* slot */
} making;

static bool count_slot(void *context, const ng_listed *listed)
{
    (void)listed;
    ++*(int64_t *)context;
    return true;
}

ng_norm *ng_model_norm_of(ng_model *m, const ng_listed *l)
{
    ng_layer *layer = l->layer >= 0 ? &m->layers[l->layer] : NULL;

    switch (l->role) {
    case NG_ROLE_ATTENTION_NORM:
        return &layer->attention_norm;
    case NG_ROLE_Q_NORM:
        return &layer->q_norm;
    case NG_ROLE_KV_NORM:
        return &layer->kv_norm;
    case NG_ROLE_FFN_NORM:
        return &layer->ffn_norm;
    case NG_ROLE_MTP_HIDDEN_NORM:
        return &layer->hidden_norm;
    case NG_ROLE_MTP_TOKEN_NORM:
        return &layer->token_norm;
    case NG_ROLE_MTP_NORM:
        return &layer->mtp_norm;
    default:
        return &m->norm;
    }
}

ng_linear *ng_model_linear_of(ng_model *m, const ng_listed *l)
{
    ng_layer *layer = l->layer >= 0 ? &m->layers[l->layer] : NULL;

    switch (l->role) {
    case NG_ROLE_QKV:
        return &layer->qkv;
    case NG_ROLE_Q:
        return &layer->q;
    case NG_ROLE_Q_DOWN:
        return &layer->q_down;
    case NG_ROLE_Q_UP:
        return &layer->q_up;
    case NG_ROLE_KV_DOWN:
        return &layer->kv_down;
    case NG_ROLE_KV_UP:
        return &layer->kv_up;
    case NG_ROLE_OUT:
        return &layer->out;
    case NG_ROLE_GATE_UP:
        return &layer->gate_up;
    case NG_ROLE_DOWN:
        return &layer->down;
    case NG_ROLE_ROUTER:
        return &layer->router;
    case NG_ROLE_EXPERT_GATE_UP:
        return &layer->expert_gate_up;
    case NG_ROLE_EXPERT_DOWN:
        return &layer->expert_down;
    case NG_ROLE_MTP_PROJECT:
        return &layer->project;
    default:
        return &m->head;
    }
}

static bool is_local(const ng_model *m, const ng_listed *l)
{
    return l->expert < 0
           || (l->expert >= m->first_expert && l->expert < m->last_expert);
}

/* Where a gradient lies in its arena. The matrices of a layer's local experts
 * of one role follow each other, as the grouped product writes them; everything
 * else starts at a multiple of 16 numbers. */
static int64_t place(ng_model *m, const ng_listed *l, const ng_linear *linear)
{
    const int64_t n = l->rows * l->cols;
    int64_t at;

    if (l->expert < 0) {
        at = m->n_shared;
        m->n_shared += (n + 15) / 16 * 16;
        return at;
    }
    if (l->expert > m->first_expert && linear != NULL)
        return m->slots[linear->parameter].offset
               + (l->expert - m->first_expert) * n;
    at = m->n_local;
    m->n_local += ((m->last_expert - m->first_expert) * n + 15) / 16 * 16;
    return at;
}

static int owner_of(const ng_model *m, int64_t expert)
{
    int rank = 0;

    while (expert >= m->expert_share[rank + 1])
        rank++;
    return rank;
}

static void describe(const ng_model *m, ng_slot *slot)
{
    const ng_listed *l = &slot->listed;
    ng_model_parameter *seen = &slot->seen;

    ng_listed_name(seen->name, &m->config, l);
    seen->rank = l->norm ? 1 : 2;
    seen->shape[0] = l->norm ? l->cols : l->rows;
    seen->shape[1] = l->norm ? 0 : l->cols;
    seen->n = l->rows * l->cols;
    seen->decay = l->norm ? NG_NO_DECAY : NG_DECAY;
    seen->owner = l->expert >= 0 ? owner_of(m, l->expert) : -1;
    seen->local = is_local(m, l);
    seen->init_std = l->init_std;
}

static bool add_slot(void *context, const ng_listed *l)
{
    making *made = context;
    ng_model *m = made->model;
    const int64_t number = made->next++;
    ng_slot *slot = &m->slots[number];
    ng_linear *linear = NULL;

    slot->listed = *l;
    describe(m, slot);
    if (!slot->seen.local)
        return true;
    if (l->role == NG_ROLE_EMBEDDING) {
        m->embedding_parameter = number;
    } else if (l->norm) {
        ng_model_norm_of(m, l)->parameter = number;
    } else {
        linear = ng_model_linear_of(m, l);
        if (linear->parameter < 0)
            linear->parameter = number;
    }
    slot->offset = place(m, l, linear);
    return true;
}

/* ---- working copies ------------------------------------------------------ */

bool ng_model_allocate(const ng_model *m, ng_array *array)
{
    const int64_t data = ng_array_data_bytes(array);
    const int64_t before = (data + 63) / 64 * 64;
    const int64_t scales = ng_array_scale_bytes(array);
    char *memory = m->backend->alloc(m->backend->context, before + scales);

    array->data = memory;
    array->scales = scales > 0 && memory != NULL ? memory + before : NULL;
    return memory != NULL;
}

/* Weights are multiplied in tiles where activations are in rows. */
static ng_carrier of_weights(ng_carrier multiply)
{
    return multiply == NG_CARRY_FP8 ? NG_CARRY_FP8_TILE : multiply;
}

static bool make_linear(const ng_model *m, ng_linear *linear)
{
    const ng_array shape = {.batch = linear->batch,
                            .rows = linear->outputs,
                            .cols = linear->inputs};

    linear->forward = linear->backward = linear->transposed = shape;
    linear->forward.carrier = of_weights(linear->multiply);
    linear->backward.carrier = of_weights(linear->multiply_grad);
    if (!ng_model_allocate(m, &linear->forward))
        return false;
    if (linear->backward.carrier == linear->forward.carrier)
        linear->backward = linear->forward;
    else if (!ng_model_allocate(m, &linear->backward))
        return false;
    if (linear->multiply_grad != NG_CARRY_FP8)
        return true;
    linear->transposed.carrier = NG_CARRY_FP8_TILE;
    linear->transposed.rows = linear->inputs;
    linear->transposed.cols = linear->outputs;
    return ng_model_allocate(m, &linear->transposed);
}

static void free_linear(const ng_model *m, ng_linear *linear)
{
    const ng_backend *b = m->backend;

    if (linear->backward.data != linear->forward.data)
        b->free(b->context, linear->backward.data);
    b->free(b->context, linear->forward.data);
    b->free(b->context, linear->transposed.data);
}

static void formats(const ng_model *m, const ng_listed *l, ng_linear *linear)
{
    const ng_layer_recipe *recipe =
        l->layer >= 0 ? ng_recipe_layer(&m->recipe, l->layer) : &m->recipe.all;

    linear->multiply = recipe->site[l->site].multiply;
    linear->multiply_grad = recipe->site[l->site].multiply_grad;
    if (l->role == NG_ROLE_ROUTER)
        linear->multiply = linear->multiply_grad = NG_CARRY_FP32;
}

static bool make_weights(ng_model *m, int64_t number)
{
    const ng_listed *l = &m->slots[number].listed;
    ng_linear *linear;

    if (!m->slots[number].seen.local)
        return true;
    if (l->role == NG_ROLE_EMBEDDING) {
        m->embedding = (ng_array){.carrier = m->recipe.residual,
                                  .batch = 1,
                                  .rows = l->rows,
                                  .cols = l->cols};
        return ng_model_allocate(m, &m->embedding);
    }
    if (l->norm) {
        ng_norm *norm = ng_model_norm_of(m, l);

        norm->w = (ng_array){
            .carrier = NG_CARRY_FP32, .batch = 1, .rows = 1, .cols = l->cols};
        return ng_model_allocate(m, &norm->w);
    }
    linear = ng_model_linear_of(m, l);
    if (linear->parameter != number)
        return true;
    linear->batch = l->expert >= 0 ? m->last_expert - m->first_expert : 1;
    linear->outputs = l->rows;
    linear->inputs = l->cols;
    formats(m, l, linear);
    return make_linear(m, linear);
}

/* The head that is the embedding's table has a working copy of its own. */
static bool make_tied_head(ng_model *m)
{
    const ng_site_recipe *site = &m->recipe.all.site[NG_SITE_HEAD];

    if (!m->config.tie_head)
        return true;
    m->head = (ng_linear){.parameter = m->embedding_parameter,
                          .batch = 1,
                          .outputs = m->config.vocabulary,
                          .inputs = m->config.hidden,
                          .multiply = site->multiply,
                          .multiply_grad = site->multiply_grad};
    return make_linear(m, &m->head);
}

static bool make_bias(ng_model *m, ng_layer *layer)
{
    layer->bias = (ng_array){.carrier = NG_CARRY_FP32,
                             .batch = 1,
                             .rows = 1,
                             .cols = m->config.experts};
    return ng_model_allocate(m, &layer->bias);
}

/* ---- made and freed ------------------------------------------------------ */

static ng_status refuse(const ng_model_config *config, const ng_recipe *recipe,
                        ng_error *error)
{
    for (int64_t i = 0; i < recipe->n_overrides; i++)
        if (recipe->overrides[i].layer >= ng_model_blocks(config))
            return ng_fail(error, NG_BAD_VALUE,
                           "recipe %s: layer %lld: the model has %lld",
                           recipe->name, (long long)recipe->overrides[i].layer,
                           (long long)ng_model_blocks(config));
    return NG_OK;
}

static bool copy_recipe(ng_recipe *to, const ng_recipe *from)
{
    const size_t bytes = (size_t)from->n_overrides * sizeof *to->overrides;

    *to = *from;
    to->overrides = NULL;
    if (from->n_overrides == 0)
        return true;
    to->overrides = malloc(bytes);
    if (to->overrides == NULL)
        return false;
    memcpy(to->overrides, from->overrides, bytes);
    return true;
}

static void begin_layer(ng_model *m, int64_t index)
{
    ng_layer *layer = &m->layers[index];
    ng_linear *const linears[] = {
        &layer->qkv,        &layer->q,       &layer->q_down,
        &layer->q_up,       &layer->kv_down, &layer->kv_up,
        &layer->out,        &layer->gate_up, &layer->down,
        &layer->router,     &layer->project, &layer->expert_gate_up,
        &layer->expert_down};

    layer->index = index;
    layer->recipe = ng_recipe_layer(&m->recipe, index);
    layer->moe = ng_model_is_moe(&m->config, index);
    layer->moe_index = ng_model_moe_index(&m->config, index);
    for (size_t i = 0; i < sizeof linears / sizeof *linears; i++)
        linears[i]->parameter = -1;
}

static void free_layer(const ng_model *m, ng_layer *layer)
{
    const ng_backend *b = m->backend;
    ng_linear *const linears[] = {
        &layer->qkv,        &layer->q,       &layer->q_down,
        &layer->q_up,       &layer->kv_down, &layer->kv_up,
        &layer->out,        &layer->gate_up, &layer->down,
        &layer->router,     &layer->project, &layer->expert_gate_up,
        &layer->expert_down};
    const ng_norm *const norms[] = {&layer->attention_norm, &layer->q_norm,
                                    &layer->kv_norm,        &layer->ffn_norm,
                                    &layer->hidden_norm,    &layer->token_norm,
                                    &layer->mtp_norm};

    for (size_t i = 0; i < sizeof linears / sizeof *linears; i++)
        free_linear(m, linears[i]);
    for (size_t i = 0; i < sizeof norms / sizeof *norms; i++)
        b->free(b->context, norms[i]->w.data);
    b->free(b->context, layer->bias.data);
}

void ng_model_free(ng_model *m)
{
    if (m == NULL)
        return;
    for (int64_t i = 0; m->layers != NULL && i < m->n_blocks; i++)
        free_layer(m, &m->layers[i]);
    free_linear(m, &m->head);
    m->backend->free(m->backend->context, m->norm.w.data);
    m->backend->free(m->backend->context, m->embedding.data);
    if (m->shared.backend != NULL)
        ng_tree_free(&m->shared);
    if (m->local.backend != NULL)
        ng_tree_free(&m->local);
    ng_recipe_free(&m->recipe);
    free(m->slots);
    free(m->layers);
    free(m->expert_share);
    free(m->numbers);
    free(m->load);
    free(m->bias);
    free(m);
}

/* Everything but the checks. False without memory. */
static bool make(ng_model *m)
{
    const ng_model_config *c = &m->config;
    const int size = m->comm->size;
    const size_t loads = (size_t)(ng_model_moe_layers(c) * c->experts);
    making made = {m, 0};

    ng_model_list(c, count_slot, &m->n_slots);
    m->n_blocks = ng_model_blocks(c);
    m->slots = calloc((size_t)m->n_slots, sizeof *m->slots);
    m->layers = calloc((size_t)m->n_blocks, sizeof *m->layers);
    m->expert_share = calloc((size_t)size + 1, sizeof *m->expert_share);
    m->load = calloc(loads + 1, sizeof *m->load);
    m->bias = calloc(loads + 1, sizeof *m->bias);
    if (m->slots == NULL || m->layers == NULL || m->expert_share == NULL
        || m->load == NULL || m->bias == NULL)
        return false;
    for (int r = 0; r <= size; r++)
        m->expert_share[r] = c->experts * r / size;
    m->first_expert = m->expert_share[m->comm->rank];
    m->last_expert = m->expert_share[m->comm->rank + 1];
    m->head.parameter = -1;
    for (int64_t i = 0; i < m->n_blocks; i++)
        begin_layer(m, i);
    ng_model_list(c, add_slot, &made);
    for (int64_t i = 0; i < m->n_slots; i++)
        if (!make_weights(m, i))
            return false;
    for (int64_t i = 0; i < m->n_blocks; i++)
        if (m->layers[i].moe && !make_bias(m, &m->layers[i]))
            return false;
    return make_tied_head(m);
}

ng_status ng_model_create(ng_model **out, const ng_model_config *config,
                          const ng_recipe *recipe, const ng_backend *backend,
                          const ng_comm *comm, ng_error *error)
{
    ng_status status;
    ng_model *m;

    if (out == NULL || config == NULL || recipe == NULL || backend == NULL
        || comm == NULL)
        return ng_fail(error, NG_BAD_POINTER, "model: a null pointer");
    status = ng_model_config_check(config, error);
    if (status == NG_OK)
        status = refuse(config, recipe, error);
    if (status != NG_OK)
        return status;
    m = calloc(1, sizeof *m);
    if (m == NULL)
        return ng_fail(error, NG_NO_MEMORY, "model: out of memory");
    m->config = *config;
    m->backend = backend;
    m->comm = comm;
    if (!copy_recipe(&m->recipe, recipe) || !make(m)) {
        ng_model_free(m);
        return ng_fail(error, NG_NO_MEMORY, "model: out of memory");
    }
    status = ng_model_open_own(m, error);
    if (status == NG_OK)
        status = ng_model_set_state(m, m->bias, error);
    if (status != NG_OK) {
        ng_model_free(m);
        return status;
    }
    *out = m;
    return NG_OK;
}
