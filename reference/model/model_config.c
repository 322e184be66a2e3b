/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "reference/model/model.h"

ng_model_config ng_model_config_default(void)
{
    return (ng_model_config){
        .vocabulary = 256,
        .hidden = 128,
        .layers = 2,
        .length = 128,
        .attention = NG_ATTENTION_MLA,
        .heads = 4,
        .kv_heads = 4,
        .head_dim = 32,
        .q_rank = 64,
        .kv_rank = 32,
        .nope_dim = 32,
        .rope_dim = 16,
        .v_dim = 32,
        .rope_base = 10000.0,
        .ffn = 384,
        .dense_layers = 1,
        .experts = 8,
        .shared_experts = 1,
        .top_k = 2,
        .expert_ffn = 128,
        .expert_groups = 1,
        .top_groups = 1,
        .normalize_weights = true,
        .route_scale = 1.0,
        .bias_speed = 1e-3,
        .mtp_weight = 0.3,
        .norm_eps = 1e-6,
        .init_std = 0.02,
    };
}

/* Sizes stay below 2^31 each, so that a product of two fits 64 bits; those of
 * more, and sums over layers, are bounded by the number of parameters. */
typedef struct bound {
    const char *name;
    int64_t value, least, most;
} bound;

static ng_status check_bounds(const bound *bounds, size_t n, ng_error *error)
{
    for (size_t i = 0; i < n; i++)
        if (bounds[i].value < bounds[i].least
            || bounds[i].value > bounds[i].most)
            return ng_fail(error, NG_BAD_VALUE, "%s: %lld is not in %lld..%lld",
                           bounds[i].name, (long long)bounds[i].value,
                           (long long)bounds[i].least,
                           (long long)bounds[i].most);
    return NG_OK;
}

static ng_status check_attention(const ng_model_config *c, ng_error *error)
{
    const int64_t most = INT32_MAX;
    const bound mla[] = {
        {"q_rank", c->q_rank, 0, most},     {"kv_rank", c->kv_rank, 1, most},
        {"nope_dim", c->nope_dim, 1, most}, {"rope_dim", c->rope_dim, 0, most},
        {"v_dim", c->v_dim, 1, most},
    };
    const bound gqa[] = {
        {"kv_heads", c->kv_heads, 1, c->heads},
        {"head_dim", c->head_dim, 2, most},
    };
    ng_status status;

    if (c->attention == NG_ATTENTION_MLA) {
        status = check_bounds(mla, sizeof mla / sizeof *mla, error);
        if (status == NG_OK && c->rope_dim % 2 != 0)
            return ng_fail(error, NG_BAD_VALUE, "rope_dim: %lld is odd",
                           (long long)c->rope_dim);
        return status;
    }
    status = check_bounds(gqa, sizeof gqa / sizeof *gqa, error);
    if (status == NG_OK && c->heads % c->kv_heads != 0)
        return ng_fail(error, NG_BAD_VALUE,
                       "kv_heads: %lld does not divide the %lld heads",
                       (long long)c->kv_heads, (long long)c->heads);
    if (status == NG_OK && c->head_dim % 2 != 0)
        return ng_fail(error, NG_BAD_VALUE, "head_dim: %lld is odd",
                       (long long)c->head_dim);
    return status;
}

static ng_status check_experts(const ng_model_config *c, ng_error *error)
{
    const int64_t groups = c->expert_groups > 0 ? c->expert_groups : 1;
    const bound bounds[] = {
        {"experts", c->experts, 0, 1 << 20},
        {"shared_experts", c->shared_experts, 0, 1 << 20},
        {"expert_ffn", c->expert_ffn, 1, INT32_MAX},
        {"expert_groups", c->expert_groups, 1, c->experts},
        {"top_groups", c->top_groups, 1, c->expert_groups},
        {"top_k", c->top_k, 1, c->experts / groups * c->top_groups},
    };
    const ng_status status =
        check_bounds(bounds, sizeof bounds / sizeof *bounds, error);

    if (status == NG_OK && c->experts % c->expert_groups != 0)
        return ng_fail(error, NG_BAD_VALUE,
                       "expert_groups: %lld does not divide the %lld experts",
                       (long long)c->expert_groups, (long long)c->experts);
    return status;
}

static ng_status check_numbers(const ng_model_config *c, ng_error *error)
{
    const struct {
        const char *name;
        double value, least, most;
    } bounds[] = {
        {"rope_base", c->rope_base, 1.0, 1e12},
        {"route_scale", c->route_scale, 0.0, 1e6},
        {"bias_speed", c->bias_speed, 0.0, 1.0},
        {"balance_loss", c->balance_loss, 0.0, 1e3},
        {"mtp_weight", c->mtp_weight, 0.0, 1e3},
        {"norm_eps", c->norm_eps, 0.0, 1.0},
        {"init_std", c->init_std, 0.0, 1e3},
    };

    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
        if (!(bounds[i].value >= bounds[i].least
              && bounds[i].value <= bounds[i].most))
            return ng_fail(error, NG_BAD_VALUE, "%s: %g is not in %g..%g",
                           bounds[i].name, bounds[i].value, bounds[i].least,
                           bounds[i].most);
    return NG_OK;
}

/* Matrices alone, in FP64; every layer as if it were both dense and not. */
static double parameters_of(const ng_model_config *c)
{
    const double hidden = (double)c->hidden, heads = (double)c->heads;
    const double rope = (double)c->rope_dim, v = (double)c->v_dim;
    const double nope = (double)c->nope_dim, kv_rank = (double)c->kv_rank;
    const double q_rank = (double)c->q_rank;
    const double experts =
        c->experts > 0 ? (double)(c->experts + c->shared_experts) : 0.0;
    const double mla = hidden * (q_rank + kv_rank + rope)
                       + heads * (nope + rope) * (q_rank + hidden)
                       + heads * (nope + v) * kv_rank + heads * v * hidden;
    const double gqa = 4.0 * heads * (double)c->head_dim * hidden;
    const double layer =
        (c->attention == NG_ATTENTION_MLA ? mla : gqa)
        + 3.0 * hidden * ((double)c->ffn + experts * (double)c->expert_ffn)
        + experts * hidden + 2.0 * hidden * hidden;

    return (double)(c->layers + c->mtp_depth) * layer
           + 2.0 * hidden * (double)c->vocabulary;
}

ng_status ng_model_config_check(const ng_model_config *c, ng_error *error)
{
    const int64_t most = INT32_MAX;
    const bound bounds[] = {
        {"vocabulary", c->vocabulary, 1, most},
        {"hidden", c->hidden, 1, most},
        {"layers", c->layers, 1, 4096},
        {"length", c->length, 1, 1 << 24},
        {"heads", c->heads, 1, 1 << 16},
        {"ffn", c->ffn, 1, most},
        {"dense_layers", c->dense_layers, 0, c->layers},
        {"mtp_depth", c->mtp_depth, 0, 16},
    };
    ng_status status;

    if (c->attention != NG_ATTENTION_MLA && c->attention != NG_ATTENTION_GQA)
        return ng_fail(error, NG_BAD_VALUE, "attention: no such kind");
    status = check_bounds(bounds, sizeof bounds / sizeof *bounds, error);
    if (status == NG_OK)
        status = check_attention(c, error);
    if (status == NG_OK && c->experts > 0)
        status = check_experts(c, error);
    if (status == NG_OK)
        status = check_numbers(c, error);
    if (status == NG_OK && parameters_of(c) > 0x1p+53)
        status = ng_fail(error, NG_BAD_VALUE,
                         "hidden: with the other sizes about %.2g parameters, "
                         "more than 2^53",
                         parameters_of(c));
    return status;
}
