/* SPDX-License-Identifier: Apache-2.0
 *
 * Parameters as an optimizer sees them: first values, new values, gradients;
 * and the routers' biases.
 */
#include <math.h>
#include <string.h>

#include "reference/convert/ref_philox.h"
#include "reference/model/model_parts.h"

/* ---- parameters ---------------------------------------------------------- */

int64_t ng_model_n_parameters(const ng_model *m)
{
    return m->n_slots;
}

const ng_model_parameter *ng_model_parameter_of(const ng_model *m,
                                                int64_t parameter)
{
    return parameter >= 0 && parameter < m->n_slots ? &m->slots[parameter].seen
                                                    : NULL;
}

/* The sum of 8 uniform integers of 16 bits has mean 8 * 65535 / 2 and variance
 * 8 (2^32 - 1) / 12: near a normal out to 4.9 deviations, where it ends. */
void ng_model_initial(float *theta, const ng_model *m, int64_t parameter,
                      uint64_t seed)
{
    const ng_model_parameter *seen = &m->slots[parameter].seen;
    const double factor = seen->init_std / sqrt(8.0 * 4294967295.0 / 12.0);

    for (int64_t i = 0; i < seen->n; i++) {
        int64_t sum = 0;

        if (seen->init_std == 0.0) {
            theta[i] = seen->decay == NG_NO_DECAY ? 1.0f : 0.0f;
            continue;
        }
        for (uint64_t word = 0; word < 4; word++) {
            const uint32_t random = ng_ref_philox(seed, (uint64_t)parameter,
                                                  4 * (uint64_t)i + word);

            sum += (random & 0xFFFF) + (random >> 16);
        }
        theta[i] = (float)(((double)sum - 8.0 * 65535.0 / 2.0) * factor);
    }
}

/* A matrix goes where it is multiplied. */
typedef struct loading {
    const ng_backend *b;
    const ng_own *own;
    const ng_array *theta;
    ng_error *error;
} loading;

static ng_status load_converted(const loading *l, const ng_array *y)
{
    return ng_own_does(l->own, NG_OWN_CONVERT, y, l->theta)
               ? ng_own_run(l->own, y, l->theta, NULL, NULL, l->error)
               : l->b->convert(l->b->context, y, l->theta, NULL, NULL);
}

static ng_status load_transposed(const loading *l, const ng_array *y,
                                 const ng_array *x)
{
    return ng_own_does(l->own, NG_OWN_TRANSPOSE, y, x)
               ? ng_own_run(l->own, y, x, NULL, NULL, l->error)
               : l->b->transpose(l->b->context, y, x);
}

static ng_status load_linear(const loading *l, const ng_linear *linear,
                             int64_t batch)
{
    const ng_array forward = ng_array_batch(&linear->forward, batch, 1);
    const ng_array backward = ng_array_batch(&linear->backward, batch, 1);
    ng_status status = load_converted(l, &forward);

    if (status == NG_OK && backward.data != forward.data)
        status = load_converted(l, &backward);
    if (status == NG_OK && linear->transposed.data != NULL) {
        const ng_array transposed =
            ng_array_batch(&linear->transposed, batch, 1);

        status = load_transposed(l, &transposed, &backward);
    }
    return status;
}

static ng_status load_array(ng_model *m, const ng_slot *slot,
                            const ng_array *theta, ng_error *error)
{
    const ng_backend *b = m->backend;
    const ng_listed *l = &slot->listed;
    const loading into = {b, ng_model_own_of(m, l), theta, error};

    if (l->norm)
        return b->convert(b->context, &ng_model_norm_of(m, l)->w, theta, NULL,
                          NULL);
    if (l->role == NG_ROLE_EMBEDDING) {
        const ng_status status =
            b->convert(b->context, &m->embedding, theta, NULL, NULL);

        return status == NG_OK && m->config.tie_head
                   ? load_linear(&into, &m->head, 0)
                   : status;
    }
    return load_linear(&into, ng_model_linear_of(m, l),
                       l->expert >= 0 ? l->expert - m->first_expert : 0);
}

/* A local parameter, FP32 and without data yet; null: not on this rank. */
static const ng_slot *find(ng_array *values, const ng_model *m,
                           int64_t parameter, ng_error *error)
{
    const ng_slot *slot;

    if (parameter < 0 || parameter >= m->n_slots
        || !m->slots[parameter].seen.local) {
        (void)ng_fail(error, NG_BAD_SHAPE, "parameter %lld: not on this rank",
                      (long long)parameter);
        return NULL;
    }
    if (error != NULL)
        error->text[0] = '\0';
    slot = &m->slots[parameter];
    *values = (ng_array){.carrier = NG_CARRY_FP32,
                         .batch = 1,
                         .rows = slot->listed.rows,
                         .cols = slot->listed.cols};
    return slot;
}

/* A kernel of the user's has written its line. */
static ng_status say(ng_status status, const ng_slot *slot, ng_error *error)
{
    return status == NG_OK || (error != NULL && error->text[0] != '\0')
               ? status
               : ng_fail(error, status, "%s: %s", slot->seen.name,
                         ng_status_text(status));
}

ng_status ng_model_load_there(ng_model *m, int64_t parameter,
                              const float *theta, ng_error *error)
{
    ng_array values;
    const ng_slot *slot = find(&values, m, parameter, error);

    if (slot == NULL)
        return NG_BAD_SHAPE;
    values.data = (void *)theta; /* read alone */
    return say(load_array(m, slot, &values, error), slot, error);
}

ng_status ng_model_load(ng_model *m, int64_t parameter, const float *theta,
                        ng_error *error)
{
    const ng_backend *b = m->backend;
    ng_array values;
    const ng_slot *slot = find(&values, m, parameter, error);
    ng_status status;

    if (slot == NULL)
        return NG_BAD_SHAPE;
    if (!ng_model_allocate(m, &values))
        return ng_fail(error, NG_NO_MEMORY, "%s: out of memory",
                       slot->seen.name);
    status =
        b->upload(b->context, values.data, theta, ng_array_data_bytes(&values));
    if (status == NG_OK)
        status = load_array(m, slot, &values, error);
    if (status == NG_OK)
        status = b->wait(b->context);
    b->free(b->context, values.data);
    return say(status, slot, error);
}

const float *ng_model_gradient(const ng_model *m, int64_t parameter)
{
    const ng_slot *slot;
    const float *arena;

    if (!m->ended || parameter < 0 || parameter >= m->n_slots)
        return NULL;
    slot = &m->slots[parameter];
    if (!slot->seen.local)
        return NULL;
    arena = ng_tree_total(slot->listed.expert >= 0 ? &m->local : &m->shared);
    return arena != NULL ? arena + slot->offset : NULL;
}

/* ---- the routers' biases ------------------------------------------------- */

int64_t ng_model_n_state(const ng_model *m)
{
    return ng_model_moe_layers(&m->config) * m->config.experts;
}

void ng_model_get_state(float *state, const ng_model *m)
{
    memcpy(state, m->bias, (size_t)ng_model_n_state(m) * sizeof *state);
}

ng_status ng_model_set_state(ng_model *m, const float *state, ng_error *error)
{
    const ng_backend *b = m->backend;
    const int64_t n = m->config.experts;

    for (int64_t i = 0; i < ng_model_n_state(m); i++)
        if (!isfinite(state[i]))
            return ng_fail(error, NG_BAD_VALUE, "router bias %lld: not finite",
                           (long long)i);
    if (state != m->bias)
        memcpy(m->bias, state, (size_t)ng_model_n_state(m) * sizeof *state);
    for (int64_t i = 0; i < m->n_blocks; i++) {
        const ng_layer *layer = &m->layers[i];
        ng_status status;

        if (!layer->moe)
            continue;
        status = b->upload(b->context, layer->bias.data,
                           m->bias + layer->moe_index * n,
                           n * (int64_t)sizeof *m->bias);
        if (status != NG_OK)
            return ng_fail(error, status, "router bias: %s",
                           ng_status_text(status));
    }
    return NG_OK;
}

void ng_model_update_router(ng_model *m)
{
    const int64_t n = m->config.experts;
    const float speed = (float)m->config.bias_speed;

    for (int64_t layer = 0; layer < ng_model_moe_layers(&m->config); layer++) {
        const int64_t *load = m->load + layer * n;
        int64_t total = 0;

        for (int64_t e = 0; e < n; e++)
            total += load[e];
        for (int64_t e = 0; e < n; e++) {
            /* mean - load, times n */
            const int64_t below = total - load[e] * n;

            m->bias[layer * n + e] += below > 0   ? speed
                                      : below < 0 ? -speed
                                                  : 0.0f;
        }
    }
    /* finite by what begin and set_state let in, short of 10^38 steps */
    (void)ng_model_set_state(m, m->bias, NULL);
}

const int64_t *ng_model_load_of_experts(const ng_model *m)
{
    return m->load;
}
