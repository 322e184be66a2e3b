/* SPDX-License-Identifier: Apache-2.0
 *
 * Every parameter of a model, in its order: one place that says which there are
 * and which shapes they have, for the model itself and for counting one that is
 * never made.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reference/model/model_parts.h"

int64_t ng_model_blocks(const ng_model_config *config)
{
    return config->layers + config->mtp_depth;
}

bool ng_model_is_moe(const ng_model_config *config, int64_t layer)
{
    return config->experts > 0 && layer >= config->dense_layers;
}

int64_t ng_model_moe_layers(const ng_model_config *config)
{
    return config->experts > 0 ? ng_model_blocks(config) - config->dense_layers
                               : 0;
}

int64_t ng_model_moe_index(const ng_model_config *config, int64_t layer)
{
    return layer - config->dense_layers;
}

typedef struct listing {
    const ng_model_config *config;
    ng_visit *visit;
    void *context;
    bool more; /* no visit has said to stop */
    int64_t layer, expert;
} listing;

static void add(listing *l, ng_role role, ng_site site, bool norm, int64_t rows,
                int64_t cols, double std)
{
    const ng_listed listed = {role, l->layer, l->expert, site,
                              norm, rows,     cols,      std};

    if (l->more)
        l->more = l->visit(l->context, &listed);
}

static void add_norm(listing *l, ng_role role, int64_t cols)
{
    add(l, role, NG_SITE_ATTENTION, true, 1, cols, 0.0);
}

static void add_matrix(listing *l, ng_role role, ng_site site, int64_t rows,
                       int64_t cols)
{
    add(l, role, site, false, rows, cols, l->config->init_std);
}

/* What is added to the residual stream starts smaller, by the root of how often
 * something is added (as GPT-2 does). */
static void add_residual_matrix(listing *l, ng_role role, ng_site site,
                                int64_t rows, int64_t cols)
{
    add(l, role, site, false, rows, cols,
        l->config->init_std / sqrt(2.0 * (double)l->config->layers));
}

static void list_attention(listing *l)
{
    const ng_model_config *c = l->config;
    const ng_site site = NG_SITE_ATTENTION;
    const int64_t qk = c->nope_dim + c->rope_dim;

    add_norm(l, NG_ROLE_ATTENTION_NORM, c->hidden);
    if (c->attention == NG_ATTENTION_GQA) {
        add_matrix(l, NG_ROLE_QKV, site,
                   (c->heads + 2 * c->kv_heads) * c->head_dim, c->hidden);
        add_residual_matrix(l, NG_ROLE_OUT, site, c->hidden,
                            c->heads * c->head_dim);
        return;
    }
    if (c->q_rank == 0) {
        add_matrix(l, NG_ROLE_Q, site, c->heads * qk, c->hidden);
    } else {
        add_matrix(l, NG_ROLE_Q_DOWN, site, c->q_rank, c->hidden);
        add_norm(l, NG_ROLE_Q_NORM, c->q_rank);
        add_matrix(l, NG_ROLE_Q_UP, site, c->heads * qk, c->q_rank);
    }
    add_matrix(l, NG_ROLE_KV_DOWN, site, c->kv_rank + c->rope_dim, c->hidden);
    add_norm(l, NG_ROLE_KV_NORM, c->kv_rank);
    add_matrix(l, NG_ROLE_KV_UP, site, c->heads * (c->nope_dim + c->v_dim),
               c->kv_rank);
    add_residual_matrix(l, NG_ROLE_OUT, site, c->hidden, c->heads * c->v_dim);
}

static void list_gated(listing *l, ng_site site, int64_t width)
{
    const bool expert = site == NG_SITE_EXPERT;
    const int64_t hidden = l->config->hidden;

    add_matrix(l, expert ? NG_ROLE_EXPERT_GATE_UP : NG_ROLE_GATE_UP, site,
               2 * width, hidden);
    add_residual_matrix(l, expert ? NG_ROLE_EXPERT_DOWN : NG_ROLE_DOWN, site,
                        hidden, width);
}

static void list_layer(listing *l)
{
    const ng_model_config *c = l->config;

    list_attention(l);
    add_norm(l, NG_ROLE_FFN_NORM, c->hidden);
    if (!ng_model_is_moe(c, l->layer)) {
        list_gated(l, NG_SITE_FFN, c->ffn);
        return;
    }
    if (c->shared_experts > 0)
        list_gated(l, NG_SITE_SHARED, c->shared_experts * c->expert_ffn);
    add_matrix(l, NG_ROLE_ROUTER, NG_SITE_EXPERT, c->experts, c->hidden);
    for (l->expert = 0; l->expert < c->experts; l->expert++)
        list_gated(l, NG_SITE_EXPERT, c->expert_ffn);
    l->expert = -1;
}

void ng_model_list(const ng_model_config *c, ng_visit *visit, void *context)
{
    listing l = {c, visit, context, true, -1, -1};

    add_matrix(&l, NG_ROLE_EMBEDDING, NG_SITE_HEAD, c->vocabulary, c->hidden);
    for (l.layer = 0; l.layer < ng_model_blocks(c); l.layer++) {
        if (l.layer >= c->layers) {
            add_norm(&l, NG_ROLE_MTP_TOKEN_NORM, c->hidden);
            add_norm(&l, NG_ROLE_MTP_HIDDEN_NORM, c->hidden);
            add_matrix(&l, NG_ROLE_MTP_PROJECT, NG_SITE_HEAD, c->hidden,
                       2 * c->hidden);
        }
        list_layer(&l);
        if (l.layer >= c->layers)
            add_norm(&l, NG_ROLE_MTP_NORM, c->hidden);
    }
    l.layer = -1;
    add_norm(&l, NG_ROLE_NORM, c->hidden);
    if (!c->tie_head)
        add_matrix(&l, NG_ROLE_HEAD, NG_SITE_HEAD, c->vocabulary, c->hidden);
}

static const char *const role_names[NG_N_ROLES] = {
    "embedding",
    "attention_norm",
    "attention.qkv",
    "attention.q",
    "attention.q_down",
    "attention.q_norm",
    "attention.q_up",
    "attention.kv_down",
    "attention.kv_norm",
    "attention.kv_up",
    "attention.out",
    "ffn_norm",
    "ffn.gate_up", /* "shared.gate_up" in a mixture of experts */
    "ffn.down",
    "router",
    "gate_up",
    "down",
    "hidden_norm",
    "token_norm",
    "project",
    "norm",
    "norm",
    "head",
};

/* What follows `word`, a number and a dot, or null. */
static const char *after(const char *text, const char *word)
{
    const size_t length = strlen(word);
    const size_t digits = strncmp(text, word, length) == 0
                              ? strspn(text + length, "0123456789")
                              : 0;

    return digits > 0 && text[length + digits] == '.'
               ? text + length + digits + 1
               : NULL;
}

static bool is_role(const char *text, ng_role first, ng_role last)
{
    for (int role = (int)first; role <= (int)last; role++)
        if (strcmp(text, role_names[role]) == 0)
            return true;
    return false;
}

bool ng_model_is_name(const char *name)
{
    static const char *const others[] = {"shared.gate_up", "shared.down",
                                         "router_bias"};
    const char *of_mtp = after(name, "mtp.");
    const char *of_layer = of_mtp != NULL ? of_mtp : after(name, "layers.");
    const char *of_expert =
        of_layer != NULL ? after(of_layer, "experts.") : NULL;

    if (of_layer == NULL)
        return is_role(name, NG_ROLE_EMBEDDING, NG_ROLE_EMBEDDING)
               || is_role(name, NG_ROLE_NORM, NG_ROLE_HEAD);
    if (of_expert != NULL)
        return is_role(of_expert, NG_ROLE_EXPERT_GATE_UP, NG_ROLE_EXPERT_DOWN);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(of_layer, others[i]) == 0)
            return true;
    return is_role(of_layer, NG_ROLE_ATTENTION_NORM, NG_ROLE_ROUTER)
           || (of_mtp != NULL
               && is_role(of_mtp, NG_ROLE_MTP_HIDDEN_NORM, NG_ROLE_MTP_NORM));
}

void ng_listed_name(char *name, const ng_model_config *config,
                    const ng_listed *p)
{
    char layer[32] = "", expert[32] = ""; /* a word and 20 digits */
    const char *role = role_names[p->role];

    if (p->layer >= config->layers)
        snprintf(layer, sizeof layer, "mtp.%lld.",
                 (long long)(p->layer - config->layers));
    else if (p->layer >= 0)
        snprintf(layer, sizeof layer, "layers.%lld.", (long long)p->layer);
    if (p->expert >= 0)
        snprintf(expert, sizeof expert, "experts.%lld.", (long long)p->expert);
    if (p->site == NG_SITE_SHARED)
        role = p->role == NG_ROLE_GATE_UP ? "shared.gate_up" : "shared.down";
    snprintf(name, NG_MAX_NAME, "%s%s%s", layer, expert, role);
}
