/* SPDX-License-Identifier: Apache-2.0
 *
 * Parameters and memory of a model that need not exist.
 */
#include "reference/model/model_bytes.h"

typedef struct counting {
    const ng_model_config *config;
    const ng_recipe *recipe;
    const ng_explain_setting *setting;
    ng_model_count *count;
} counting;

/* Bytes of a working copy of a matrix. */
static double copy_bytes(ng_carrier multiply, int64_t rows, int64_t cols)
{
    const double n = (double)rows * (double)cols;

    switch (multiply) {
    case NG_CARRY_FP32:
        return 4.0 * n;
    case NG_CARRY_BF16:
        return 2.0 * n;
    default: /* FP8, in tiles */
        return n
               + 4.0 * (double)ng_ceil_div(rows, NG_FP8_BLOCK)
                     * (double)ng_ceil_div(cols, NG_FP8_BLOCK);
    }
}

static double linear_bytes(ng_carrier multiply, ng_carrier multiply_grad,
                           int64_t rows, int64_t cols)
{
    double bytes = copy_bytes(multiply, rows, cols);

    if (multiply_grad != multiply)
        bytes += copy_bytes(multiply_grad, rows, cols);
    if (multiply_grad == NG_CARRY_FP8) /* transposed */
        bytes += copy_bytes(multiply_grad, cols, rows);
    return bytes;
}

static double weight_bytes(const counting *c, const ng_listed *l)
{
    const ng_layer_recipe *recipe =
        l->layer >= 0 ? ng_recipe_layer(c->recipe, l->layer) : &c->recipe->all;
    const ng_site_recipe *site = &recipe->site[l->site];

    if (l->norm)
        return 4.0 * (double)l->cols;
    if (l->role == NG_ROLE_ROUTER)
        return copy_bytes(NG_CARRY_FP32, l->rows, l->cols);
    if (l->role == NG_ROLE_EMBEDDING)
        return copy_bytes(c->recipe->residual, l->rows, l->cols)
               + (c->config->tie_head ? linear_bytes(
                      site->multiply, site->multiply_grad, l->rows, l->cols)
                                      : 0.0);
    return linear_bytes(site->multiply, site->multiply_grad, l->rows, l->cols);
}

static bool count_parameter(void *context, const ng_listed *l)
{
    const counting *c = context;
    ng_model_count *count = c->count;
    const int64_t n = l->rows * l->cols;
    /* the most that a rank has of each layer */
    const int64_t here =
        ng_ceil_div(c->config->experts, c->setting->ranks);

    count->parameters += n;
    if (l->layer < c->config->layers && l->expert < c->config->top_k)
        count->active += n;
    if (l->expert < here) {
        count->parameters_on_rank += n;
        count->weight_bytes += weight_bytes(c, l);
    }
    return true;
}

static double kept(const counting *c, int64_t layer, ng_recompute recompute)
{
    int64_t bytes = 0;

    for (int kind = 0; kind < NG_N_KEPT_KINDS; kind++)
        bytes += ng_layer_bytes(c->config, c->recipe, layer, (ng_kept_kind)kind,
                                recompute);
    return (double)bytes;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static void count_activations(const counting *c)
{
    const ng_model_config *config = c->config;
    ng_model_count *count = c->count;
    const double tokens =
        (double)c->setting->sequences * (double)c->setting->length;
    const ng_site_recipe *head = &c->recipe->all.site[NG_SITE_HEAD];
    const double act =
        (double)ng_row_bytes(c->recipe->residual, config->hidden);
    double again = 0.0;
    double logits = 4.0 * (double)config->vocabulary;

    for (int64_t l = 0; l < ng_model_blocks(config); l++) {
        const double bytes = kept(c, l, NG_N_RECOMPUTES);

        count->stored_token += bytes;
        again = larger(again, kept(c, l, NG_RECOMPUTE_NONE) - bytes);
    }
    /* what the heads and the MTP modules keep: hidden states and the gradients
     * by them, and of each module its embedding and its projection's input */
    count->stored_token += (double)(1 + config->mtp_depth) * 2.0 * act;
    for (int64_t d = 0; d < config->mtp_depth; d++)
        count->stored_token +=
            act
            + (double)ng_row_bytes(
                ng_recipe_layer(c->recipe, config->layers + d)
                    ->site[NG_SITE_HEAD]
                    .store_x,
                2 * config->hidden);
    if (head->multiply_grad != NG_CARRY_FP32)
        logits += (double)ng_row_bytes(head->multiply_grad, config->vocabulary);
    count->peak_activation =
        tokens * (count->stored_token + larger(again, logits));
}

ng_status ng_model_count_of(ng_model_count *count,
                            const ng_model_config *config,
                            const ng_recipe *recipe,
                            const ng_explain_setting *setting, ng_error *error)
{
    ng_model_count n = {.parameters = 0};
    counting c = {config, recipe, setting, &n};
    const ng_status status = ng_model_config_check(config, error);

    if (status != NG_OK)
        return status;
    if (setting->ranks < 1 || setting->sequences < 1 || setting->length < 1)
        return ng_fail(error, NG_BAD_VALUE,
                       "explain: %lld ranks, %lld sequences of %lld tokens",
                       (long long)setting->ranks, (long long)setting->sequences,
                       (long long)setting->length);
    ng_model_list(config, count_parameter, &c);
    if (ng_model_moe_layers(config) > 0) {
        const int64_t first = config->dense_layers;

        n.sent_forward = (double)ng_sent_forward(config, recipe, first);
        n.sent_backward = (double)ng_sent_backward(config, recipe, first);
        n.stored_moe = (double)ng_layer_bytes(config, recipe, first,
                                              NG_KEPT_FOR_MOE, NG_N_RECOMPUTES);
    }
    count_activations(&c);
    n.gradient_bytes = 4.0 * (double)n.parameters_on_rank;
    n.total = n.weight_bytes + n.gradient_bytes + n.peak_activation
              + setting->optimizer_bytes * (double)n.parameters_on_rank;
    *count = n;
    return NG_OK;
}
