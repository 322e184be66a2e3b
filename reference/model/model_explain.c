/* SPDX-License-Identifier: Apache-2.0
 *
 * The recipe, seen: what one token costs on its way through a layer, then what
 * the whole model costs. One list of lines, printed for people or as JSON.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "reference/model/model_bytes.h"

typedef struct explaining {
    FILE *out;
    const ng_model_config *config;
    const ng_recipe *recipe;
    const ng_explain_setting *setting;
    json_t *json; /* null: for people */
    json_t *flow; /* of the layer under way */
    int64_t layer;
    bool lost;  /* a part of the JSON, for want of memory */
    bool named; /* a kernel */
} explaining;

/* A value, or null without memory, into the JSON, which then owns it. */
static void put(explaining *e, const char *key, json_t *value)
{
    e->lost |= json_object_set_new(e->json, key, value) != 0;
}

static void append(explaining *e, json_t *array, json_t *value)
{
    e->lost |= json_array_append_new(array, value) != 0;
}

/* ---- one line of a flow -------------------------------------------------- */

/* How: "kept", "made again", "sent", "multiplied". rows: of a token. */
static void line(explaining *e, const char *stage, const char *what,
                 int64_t rows, int64_t cols, ng_carrier carrier,
                 const char *how, int64_t more)
{
    const int64_t bytes = rows * ng_row_bytes(carrier, cols) + more;
    char shape[48];

    if (cols == 0)
        return;
    if (rows == 1)
        snprintf(shape, sizeof shape, "%lld", (long long)cols);
    else
        snprintf(shape, sizeof shape, "%lld x %lld", (long long)rows,
                 (long long)cols);
    if (e->json == NULL) {
        fprintf(e->out, "  %-10s %-44s %-12s %-6s %8lld  %s\n", stage, what,
                shape, ng_carrier_name(carrier), (long long)bytes, how);
        return;
    }
    append(e, e->flow,
           json_pack("{s:s, s:s, s:I, s:I, s:s, s:I, s:s}", "stage", stage,
                     "tensor", what, "rows", (json_int_t)rows, "cols",
                     (json_int_t)cols, "format", ng_carrier_name(carrier),
                     "bytes", (json_int_t)bytes, "how", how));
}

static void kept_line(explaining *e, const char *stage, const char *what,
                      ng_kept kept, int64_t more)
{
    const ng_kept_shape shape =
        ng_kept_shape_of(e->config, e->recipe, e->layer, kept);
    const bool is_kept = shape.carrier != NG_CARRY_NONE
                         && ng_is_kept(e->config, e->recipe, e->layer, kept);

    if (shape.carrier != NG_CARRY_NONE)
        line(e, stage, what, shape.rows, shape.cols, shape.carrier,
             is_kept ? "kept" : "made again in backward", is_kept ? more : 0);
}

static const ng_site_recipe *site_of(const explaining *e, ng_site site)
{
    return &ng_recipe_layer(e->recipe, e->layer)->site[site];
}

/* The products of a site: K inputs to N outputs, for `rows` rows of a token. */
static void products(explaining *e, ng_site site, const char *what,
                     int64_t rows, int64_t inputs, int64_t outputs)
{
    const ng_site_recipe *recipe = site_of(e, site);

    line(e, "multiply", what, rows, inputs, recipe->multiply,
         recipe->multiply == NG_CARRY_FP8 ? "1x128 rows by 128x128 weights"
                                          : "by weights in the same format",
         0);
    line(e, "backward", "  grad_x: grad_y by the weights transposed", rows,
         outputs, recipe->multiply_grad,
         recipe->multiply_grad == NG_CARRY_FP8 ? "1x128 rows" : "", 0);
    line(e, "backward", "  grad_w: grad_y by x, over the tokens", rows,
         outputs + inputs, recipe->multiply_grad,
         recipe->multiply_grad == NG_CARRY_FP8
             ? "columns of 128 tokens of an expert, or of all"
             : "",
         0);
}

/* ---- a layer ------------------------------------------------------------- */

static void attention(explaining *e)
{
    const ng_model_config *c = e->config;
    const bool mla = c->attention == NG_ATTENTION_MLA;
    const int64_t v = mla ? c->v_dim : c->head_dim;

    kept_line(e, "input", "x, the residual stream", NG_KEPT_X, 0);
    kept_line(e, "norm", "n1 = norm(x)", NG_KEPT_N1, 0);
    if (mla) {
        kept_line(e, "down", "cq = n1 Wqd", NG_KEPT_CQ, 0);
        kept_line(e, "down", "ckv = n1 Wkvd", NG_KEPT_CKV, 0);
        kept_line(e, "down", "k_rope, rotated, of all heads", NG_KEPT_K_ROPE,
                  0);
        kept_line(e, "norm", "cqn = norm(cq)", NG_KEPT_CQN, 0);
        kept_line(e, "norm", "ckvn = norm(ckv)", NG_KEPT_CKVN, 0);
    }
    kept_line(e, mla ? "up" : "project", "q", NG_KEPT_Q, 0);
    kept_line(e, mla ? "up" : "project", "k", NG_KEPT_K, 0);
    kept_line(e, mla ? "up" : "project", "v", NG_KEPT_V, 0);
    kept_line(e, "attend", "y = softmax(q k) v", NG_KEPT_Y, 0);
    kept_line(e, "attend", "log of the sums", NG_KEPT_LSE, 0);
    products(e, NG_SITE_ATTENTION, "x2 = x + y Wo (the others alike)", 1,
             c->heads * v, c->hidden);
    kept_line(e, "output", "x2, the residual stream", NG_KEPT_X2, 0);
}

static void gated(explaining *e, ng_site site, int64_t width)
{
    kept_line(e, ng_site_name(site), "n2 = norm(x2)", NG_KEPT_N2, 0);
    products(e, site, "gate_up = n2 Wgu", 1, e->config->hidden, 2 * width);
    kept_line(e, ng_site_name(site), "gate_up", NG_KEPT_GATE_UP, 0);
    kept_line(e, ng_site_name(site), "h = silu(gate) * up", NG_KEPT_H, 0);
    products(e, site, "h Wd", 1, width, e->config->hidden);
}

static void experts(explaining *e)
{
    const ng_model_config *c = e->config;
    const ng_site_recipe *r = site_of(e, NG_SITE_EXPERT);
    const int64_t k = c->top_k;
    const char *sent =
        ng_recipe_layer(e->recipe, e->layer)->recompute == NG_RECOMPUTE_FULL
            ? "sent, all-to-all, and again in backward"
            : "sent, all-to-all";

    kept_line(e, "router", "n2 = norm(x2)", NG_KEPT_N2_ROUTER, 0);
    kept_line(e, "router", "scores", NG_KEPT_SCORES, 0);
    kept_line(e, "router", "weights and numbers of the experts",
              NG_KEPT_ROUTE_WEIGHT, 4 * k);
    line(e, "dispatch", "n2 to the experts", k, c->hidden, r->send_x, sent, 0);
    kept_line(e, "expert", "n2, as it arrived", NG_KEPT_ARRIVED, 0);
    products(e, NG_SITE_EXPERT, "gate_up = n2 Wgu, grouped", k, c->hidden,
             2 * c->expert_ffn);
    kept_line(e, "expert", "gate_up", NG_KEPT_EXPERT_GATE_UP, 0);
    products(e, NG_SITE_EXPERT, "y = h Wd, grouped", k, c->expert_ffn,
             c->hidden);
    line(e, "combine", "y back, weighted in slot order", k, c->hidden,
         r->send_y, sent, 0);
    line(e, "backward", "grad_y and the weight, to the experts", k, c->hidden,
         r->send_grad_y, "sent, all-to-all", 4 * k);
    line(e, "backward", "grad_n2 and the weight's gradient, back", k, c->hidden,
         r->send_grad_x, "sent, all-to-all", 4 * k);
}

static void summary(explaining *e, const char *name, double value,
                    const char *unit)
{
    if (e->json != NULL) {
        put(e, name, json_real(value));
        return;
    }
    fprintf(e->out, "  %-34s %18.0f %s\n", name, value, unit);
}

static void layer_flow(explaining *e, int64_t layer)
{
    const ng_model_config *c = e->config;
    const bool moe = ng_model_is_moe(c, layer);
    const ng_recompute recompute = ng_recipe_layer(e->recipe, layer)->recompute;

    e->layer = layer;
    if (e->json == NULL)
        fprintf(e->out,
                "\nlayer %lld, %s, recompute %s\n  %-10s %-44s %-12s %-6s "
                "%8s\n",
                (long long)layer,
                moe ? "a mixture of experts" : "with a dense FFN",
                ng_recompute_name(recompute), "", "tensor", "of a token",
                "format", "bytes");
    else
        e->flow = json_array();
    attention(e);
    if (!moe)
        gated(e, NG_SITE_FFN, c->ffn);
    if (moe && c->shared_experts > 0)
        gated(e, NG_SITE_SHARED, c->shared_experts * c->expert_ffn);
    if (moe)
        experts(e);
    if (e->json != NULL)
        put(e, moe ? "moe_layer" : "dense_layer", e->flow);
}

/* ---- kernels of the recipe's --------------------------------------------- */

static bool operation_line(void *context, int64_t layer, ng_site site,
                           const char *text)
{
    explaining *e = context;
    const char *colon = strrchr(text, ':');
    const char *name = colon != NULL ? colon + 1 : "none";
    const int subject = colon != NULL ? (int)(colon - text) : 0;
    char where[32] = "all layers";

    if (layer >= 0)
        snprintf(where, sizeof where, "layer %lld", (long long)layer);
    if (e->json != NULL) {
        append(e, e->flow,
               json_pack("{s:s, s:s, s:s, s:s#, s:b}", "layers", where, "site",
                         ng_site_name(site), "operation", name, "subject", text,
                         (size_t)subject, "events_counted", 0));
        return true;
    }
    if (!e->named)
        fprintf(e->out, "\nkernels of the recipe's, in the place of the "
                        "backend's; their events are not counted\n");
    e->named = true;
    fprintf(e->out, "  %-10s %-44s %-12s %s%.*s\n", ng_site_name(site), name,
            where, subject > 0 ? "of " : "", subject, text);
    return true;
}

static void operations(explaining *e)
{
    if (e->json != NULL)
        e->flow = json_array();
    (void)ng_recipe_each_operation(e->recipe, operation_line, e);
    if (e->json != NULL)
        put(e, "operations", e->flow);
}

/* ---- the model ----------------------------------------------------------- */

static void totals(explaining *e, const ng_model_count *n)
{
    if (e->json == NULL)
        fprintf(e->out, "\nthe model, a rank of %lld, shards of %lld x %lld\n",
                (long long)e->setting->ranks, (long long)e->setting->sequences,
                (long long)e->setting->length);
    summary(e, "parameters", (double)n->parameters, "");
    summary(e, "active_parameters", (double)n->active, "of a token");
    summary(e, "parameters_on_rank", (double)n->parameters_on_rank, "");
    summary(e, "sent_forward", n->sent_forward, "bytes a token, a MoE layer");
    summary(e, "sent_backward", n->sent_backward, "bytes a token, a MoE layer");
    summary(e, "stored_moe", n->stored_moe, "bytes a token, a MoE layer");
    summary(e, "stored_token", n->stored_token, "bytes a token, all layers");
    summary(e, "weight_bytes", n->weight_bytes, "bytes, working copies");
    summary(e, "gradient_bytes", n->gradient_bytes, "bytes, FP32");
    summary(e, "peak_activation", n->peak_activation, "bytes");
    summary(e, "optimizer_bytes",
            e->setting->optimizer_bytes * (double)n->parameters_on_rank,
            "bytes");
    summary(e, "total", n->total, "bytes on a rank");
}

/* The embedded recipes beside each other: peak activations, in GiB a rank. */
static ng_status compare(explaining *e, ng_error *error)
{
    json_t *rows = json_array();
    ng_status status = NG_OK;

    if (e->json == NULL)
        fprintf(e->out,
                "\npeak activations of a rank in GiB, and bytes a "
                "token\n  %-8s",
                "");
    for (int r = 0; r < NG_N_RECOMPUTES && e->json == NULL; r++)
        fprintf(e->out, " %22s", ng_recompute_name((ng_recompute)r));
    for (int i = 0; ng_recipe_embedded(i) != NULL && status == NG_OK; i++) {
        ng_recipe recipe = {.n_overrides = 0};

        status = ng_recipe_open(&recipe, ng_recipe_embedded(i), error);
        if (e->json == NULL)
            fprintf(e->out, "\n  %-8s", ng_recipe_embedded(i));
        for (int r = 0; r < NG_N_RECOMPUTES && status == NG_OK; r++) {
            ng_model_count n = {.parameters = 0};

            recipe.all.recompute = (ng_recompute)r;
            status =
                ng_model_count_of(&n, e->config, &recipe, e->setting, error);
            if (e->json == NULL)
                fprintf(e->out, " %10.3f %11.0f", n.peak_activation / 0x1p+30,
                        n.stored_token);
            else
                append(e, rows,
                       json_pack("{s:s, s:s, s:f, s:f, s:f, s:f}", "recipe",
                                 recipe.name, "recompute",
                                 ng_recompute_name((ng_recompute)r),
                                 "peak_activation", n.peak_activation,
                                 "stored_token", n.stored_token, "stored_moe",
                                 n.stored_moe, "sent_forward", n.sent_forward));
        }
        ng_recipe_free(&recipe);
    }
    if (e->json != NULL)
        put(e, "recipes", rows);
    else
        json_decref(rows);
    if (e->json == NULL)
        fprintf(e->out, "\n");
    return status;
}

ng_status ng_model_explain(FILE *out, const ng_model_config *config,
                           const ng_recipe *recipe,
                           const ng_explain_setting *setting, ng_error *error)
{
    explaining e = {
        .out = out, .config = config, .recipe = recipe, .setting = setting};
    ng_model_count count;
    ng_status status =
        ng_model_count_of(&count, config, recipe, setting, error);

    if (status != NG_OK)
        return status;
    if (setting->json) {
        e.json = json_pack("{s:s, s:s}", "recipe", recipe->name, "source",
                           recipe->source);
        if (e.json == NULL)
            return ng_fail(error, NG_NO_MEMORY, "explain: out of memory");
    } else {
        fprintf(out, "recipe %s%s%s\n", recipe->name,
                recipe->source[0] != '\0' ? ": " : "", recipe->source);
    }
    if (config->dense_layers > 0 || config->experts == 0)
        layer_flow(&e, 0);
    if (ng_model_moe_layers(config) > 0)
        layer_flow(&e, config->dense_layers);
    operations(&e);
    totals(&e, &count);
    status = compare(&e, error);
    if (e.json != NULL) {
        char *text = e.lost ? NULL : json_dumps(e.json, JSON_INDENT(1));

        if (status == NG_OK && text == NULL)
            status = ng_fail(error, NG_NO_MEMORY, "explain: out of memory");
        if (status == NG_OK)
            fprintf(out, "%s\n", text);
        free(text);
        json_decref(e.json);
    }
    if (status == NG_OK && (fflush(out) != 0 || ferror(out) != 0))
        status = ng_fail(error, NG_BAD_FILE, "explain: cannot write");
    return status;
}
