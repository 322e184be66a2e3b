/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps of the whole model: the same bits on any number of ranks and with any
 * choice of recomputation; counts that are what was measured; it learns. With
 * NG_LONG in the environment: on every number of ranks up to eight.
 */
#include <math.h>
#include <stdio.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "conformance/checks/model_fixture.h"
#include "conformance/checks/model_ranks.h"
#include "reference/model/model.h"
#include "reference/model/model_bytes.h"

enum { SHARDS = 5, SEQUENCES = 2, LENGTH = 12, TOKENS = SEQUENCES * LENGTH };

static int32_t tokens[SHARDS][TOKENS + 1];

static void begin(void)
{
    fixture_at = 0;
    for (int s = 0; s < SHARDS; s++)
        for (int t = 0; t <= TOKENS; t++) /* of the one before, mostly */
            tokens[s][t] = t > 0 && random_word() % 8 != 0
                               ? (tokens[s][t - 1] * 5 + 3) % 40
                               : (int32_t)(random_word() % 40);
}

static ng_model_config small(void)
{
    ng_model_config c = ng_model_config_default();

    c.vocabulary = 40;
    c.hidden = 64;
    c.layers = 2;
    c.length = LENGTH;
    c.heads = 2;
    c.q_rank = 24;
    c.kv_rank = 16;
    c.nope_dim = 16;
    c.rope_dim = 8;
    c.v_dim = 16;
    c.ffn = 72;
    c.experts = 6;
    c.expert_groups = 3;
    c.top_groups = 2;
    c.expert_ffn = 40;
    c.balance_loss = 0.01;
    c.route_scale = 1.5;
    c.init_std = 0.1;
    return c;
}

static ng_recipe recipe_of(const char *name, ng_recompute recompute)
{
    ng_recipe recipe;
    ng_error error = {""};
    const ng_status status =
        strcmp(name, "fp32") == 0 ? ng_recipe_parse(
            &recipe, recipe_fp32, (int64_t)sizeof recipe_fp32 - 1, name, &error)
                                  : ng_recipe_open(&recipe, name, &error);

    ck_assert_msg(status == NG_OK, "%s", error.text);
    recipe.all.recompute = recompute;
    return recipe;
}

/* ---- a few steps of plain gradient descent ------------------------------- */

typedef struct run {
    const ng_model_config *config;
    const ng_recipe *recipe;
    int steps;
    double rate;
    int threads; /* of OpenMP, in each rank */
    /* out, of the last step */
    ng_model_result result;
    double norm, first_loss, evaluated;
    int64_t n;        /* of all parameters */
    float *gradients; /* those of other ranks are 0 */
    float *state;
    float logits[64];
    char problem[512];
} run;

static bool fine(run *r, ng_status status, const ng_error *error)
{
    if (status != NG_OK && r->problem[0] == '\0')
        snprintf(r->problem, sizeof r->problem, "%d: %.480s", (int)status,
                 error->text);
    return status == NG_OK;
}

static bool one_step(run *r, ng_model *m, const ng_comm *comm)
{
    ng_error error = {""};
    int64_t first, last;

    ng_comm_share(&first, &last, SHARDS, comm->rank, comm->size);
    if (!fine(r, ng_model_begin_step(m, SHARDS, SHARDS * TOKENS, &error),
              &error))
        return false;
    for (int64_t wave = 0; wave < ng_comm_waves(SHARDS, comm->size); wave++) {
        const int64_t s = first + wave < last ? first + wave : -1;
        const ng_model_shard shard = {s, SEQUENCES, LENGTH,
                                      s < 0 ? NULL : tokens[s],
                                      s < 0 ? NULL : tokens[s] + 1};

        if (!fine(r, ng_model_forward_backward(m, &shard, &error), &error))
            return false;
    }
    return fine(r, ng_model_end_step(&r->result, m, &error), &error)
           && fine(r, ng_model_gradient_norm(&r->norm, m, &error), &error);
}

static void finish(run *r, ng_model *m, const ng_comm *comm)
{
    const ng_model_shard shard = {comm->rank == 0 ? 0 : -1, SEQUENCES, LENGTH,
                                  tokens[0], tokens[0] + 1};
    ng_error error = {""};
    int64_t n = 0;
    double loss = 0.0;

    fine(r, ng_model_evaluate(&loss, &n, m, &shard, &error), &error);
    r->evaluated = loss;
    if (comm->rank == 0 && n != TOKENS)
        snprintf(r->problem, sizeof r->problem, "evaluated %d", (int)n);
    fine(r, ng_model_logits(r->logits, m, tokens[0], 7, &error), &error);
    r->state = calloc((size_t)ng_model_n_state(m) + 1, sizeof *r->state);
    ng_model_get_state(r->state, m);
}

static void do_run(void *argument, const ng_comm *comm)
{
    run *r = argument;
    ng_model *m = NULL;
    ng_error error = {""};
    float **theta = NULL;

#ifdef _OPENMP
    omp_set_num_threads(r->threads);
#endif
    if (!fine(r,
              ng_model_create(&m, r->config, r->recipe, ng_backend_reference(),
                              comm, &error),
              &error))
        return;
    theta = calloc((size_t)ng_model_n_parameters(m), sizeof *theta);
    r->n = 0;
    for (int64_t i = 0; i < ng_model_n_parameters(m); i++) {
        const ng_model_parameter *p = ng_model_parameter_of(m, i);

        r->n += p->n;
        if (!p->local)
            continue;
        theta[i] = malloc((size_t)p->n * sizeof **theta);
        ng_model_initial(theta[i], m, i, 3);
        fine(r, ng_model_load(m, i, theta[i], &error), &error);
    }
    r->gradients = calloc((size_t)r->n + 1, sizeof *r->gradients);
    for (int step = 0; step < r->steps && one_step(r, m, comm); step++) {
        float *out = r->gradients;

        if (step == 0)
            r->first_loss = r->result.loss;
        for (int64_t i = 0; i < ng_model_n_parameters(m); i++) {
            const ng_model_parameter *p = ng_model_parameter_of(m, i);
            const float *g = ng_model_gradient(m, i);

            for (int64_t j = 0; g != NULL && j < p->n; j++)
                theta[i][j] -= (float)r->rate * g[j];
            if (g != NULL && (p->owner >= 0 || comm->rank == 0))
                memcpy(out, g, (size_t)p->n * sizeof *out);
            if (p->local != (g != NULL)) /* zero gradients are there too */
                strcpy(r->problem, "a gradient is missing");
            if (g != NULL)
                fine(r, ng_model_load(m, i, theta[i], &error), &error);
            out += p->n;
        }
        ng_model_update_router(m);
    }
    finish(r, m, comm);
    for (int64_t i = 0; i < ng_model_n_parameters(m); i++)
        free(theta[i]);
    free(theta);
    ng_model_free(m);
}

static void run_free(run *r)
{
    free(r->gradients);
    free(r->state);
}

static run run_with(int ranks, int threads, const ng_model_config *config,
                    const ng_recipe *recipe, int steps, double rate)
{
    run runs[MAX_RANKS];
    void *arguments[MAX_RANKS];

    memset(runs, 0, sizeof runs);
    for (int i = 0; i < ranks; i++) {
        runs[i] = (run){.config = config,
                        .recipe = recipe,
                        .steps = steps,
                        .rate = rate,
                        .threads = threads};
        arguments[i] = &runs[i];
    }
    run_ranks(ranks, do_run, arguments);
    for (int i = 0; i < ranks; i++)
        ck_assert_msg(runs[i].problem[0] == '\0', "rank %d: %s", i,
                      runs[i].problem);
    for (int i = 1; i < ranks; i++) {
        ck_assert_double_eq(runs[i].result.loss, runs[0].result.loss);
        ck_assert_double_eq(runs[i].norm, runs[0].norm);
        ck_assert_mem_eq(runs[i].logits, runs[0].logits,
                         (size_t)config->vocabulary * sizeof(float));
        for (int64_t j = 0; j < runs[0].n; j++)
            if (runs[i].gradients[j] != 0.0f)
                runs[0].gradients[j] = runs[i].gradients[j];
        run_free(&runs[i]);
    }
    return runs[0];
}

static run run_on(int ranks, const ng_model_config *config,
                  const ng_recipe *recipe, int steps, double rate)
{
    return run_with(ranks, 1, config, recipe, steps, rate);
}

static void same_run(const run *a, const run *b, const ng_model_config *c,
                     const char *what)
{
    int64_t at = 0;

    ck_assert_msg(a->result.loss == b->result.loss, "%s: loss", what);
    ck_assert_msg(a->result.mtp_loss == b->result.mtp_loss, "%s: mtp", what);
    ck_assert_msg(a->result.balance_loss == b->result.balance_loss,
                  "%s: balance", what);
    ck_assert_msg(a->norm == b->norm, "%s: norm", what);
    ck_assert_msg(a->evaluated == b->evaluated, "%s: evaluation", what);
    /* One assertion, not one a number: each tells the parent where it is. */
    while (at < a->n && a->gradients[at] == b->gradients[at])
        at++;
    ck_assert_msg(at == a->n, "%s: gradient %lld: %a, %a", what, (long long)at,
                  (double)a->gradients[at], (double)b->gradients[at]);
    ck_assert_mem_eq(a->logits, b->logits,
                     (size_t)c->vocabulary * sizeof(float));
}

/* ---- tests --------------------------------------------------------------- */

static const char *const names[] = {"fp32", "bf16", "fp8", "mxfp4"};

/* Two steps, so that weights and biases that differ would be seen. More ranks
 * than shards, and than experts, too. */
START_TEST(ranks_change_no_bit)
{
    const int step = getenv("NG_LONG") != NULL ? 1 : 5; /* 2 and 7 */
    ng_model_config c = small();
    const ng_recipe recipe = recipe_of(names[_i], NG_RECOMPUTE_NONE);
    run one;

    c.mtp_depth = _i % 2;
    one = run_on(1, &c, &recipe, 2, 0.1);
    ck_assert_double_gt(one.norm, 0.0);
    for (int ranks = 2; ranks <= MAX_RANKS; ranks += step) {
        run more = run_on(ranks, &c, &recipe, 2, 0.1);

        same_run(&one, &more, &c, names[_i]);
        ck_assert_int_eq(more.result.sent_dispatch, one.result.sent_dispatch);
        ck_assert_int_eq(more.result.sent_grad_x, one.result.sent_grad_x);
        ck_assert_int_eq(more.result.converted, one.result.converted);
        ck_assert_int_eq(more.result.stored_moe, one.result.stored_moe);
        ck_assert_int_eq(more.result.stored_attention,
                         one.result.stored_attention);
        ck_assert_int_eq(more.result.stored_other, one.result.stored_other);
        ck_assert_mem_eq(&more.result.events, &one.result.events,
                         sizeof one.result.events);
        ck_assert_int_gt(more.result.sent_wire, 0);
        ck_assert_mem_eq(more.state, one.state, 6 * sizeof(float));
        run_free(&more);
    }
    ck_assert_int_eq(one.result.sent_wire, 0);
    run_free(&one);
}
END_TEST

/* Nor do threads. */
START_TEST(threads_change_no_bit)
{
    const ng_model_config c = small();
    const ng_recipe recipe = recipe_of(names[_i], NG_RECOMPUTE_NORM_SWIGLU);
    run one = run_with(1, 1, &c, &recipe, 1, 0.1);
    run more = run_with(1, 3, &c, &recipe, 1, 0.1);

    same_run(&one, &more, &c, names[_i]);
    run_free(&one);
    run_free(&more);
}
END_TEST

/* Where gate_up is stored as it is, what is made again is what was. */
START_TEST(recomputation_changes_no_bit)
{
    ng_model_config c = small();
    ng_recipe recipe = recipe_of(names[_i], NG_RECOMPUTE_NONE);
    run none;
    int64_t before = INT64_MAX;

    for (int site = 0; site < NG_N_SITES; site++)
        recipe.all.site[site].store_gate_up = recipe.residual;
    c.mtp_depth = 1;
    none = run_on(1, &c, &recipe, 1, 0.1);
    for (int r = 0; r < NG_N_RECOMPUTES; r++) {
        run again;

        recipe.all.recompute = (ng_recompute)r;
        again = run_on(1, &c, &recipe, 1, 0.1);
        same_run(&none, &again, &c, ng_recompute_name((ng_recompute)r));
        ck_assert_int_eq(again.result.nan_rows, 0);
        /* a whole layer made again has its all-to-alls twice */
        ck_assert_int_eq(again.result.sent_dispatch,
                         (r == NG_RECOMPUTE_FULL ? 2 : 1)
                             * none.result.sent_dispatch);
        ck_assert_int_eq(again.result.sent_grad_y, none.result.sent_grad_y);
        if (r == NG_RECOMPUTE_FULL)
            ck_assert_int_lt(again.result.stored_attention
                                 + again.result.stored_moe
                                 + again.result.stored_other,
                             before);
        else
            before = again.result.stored_attention + again.result.stored_moe
                     + again.result.stored_other;
        run_free(&again);
    }
    run_free(&none);
}
END_TEST

/* What explain counts is what a step measures. */
START_TEST(counts_are_what_is_measured)
{
    ng_model_config c = small();

    for (int r = 0; r < NG_N_RECOMPUTES; r++)
        for (int kind = 0; kind < 2; kind++) {
            const ng_recipe recipe = recipe_of(names[_i], (ng_recompute)r);
            const ng_explain_setting setting = {1, SEQUENCES, LENGTH, 7.125,
                                                false};
            ng_model_count count;
            ng_error error;
            int64_t bytes[NG_N_KEPT_KINDS] = {0};
            run one;

            c.attention = kind == 0 ? NG_ATTENTION_MLA : NG_ATTENTION_GQA;
            c.kv_heads = 1;
            c.mtp_depth = kind;
            one = run_on(1, &c, &recipe, 1, 0.1);
            ck_assert_int_eq(
                ng_model_count_of(&count, &c, &recipe, &setting, &error),
                NG_OK);
            ck_assert_int_eq(count.parameters, one.n);
            for (int64_t l = 0; l < ng_model_blocks(&c); l++)
                for (int k = 0; k < NG_N_KEPT_KINDS; k++)
                    bytes[k] += ng_layer_bytes(&c, &recipe, l, (ng_kept_kind)k,
                                               NG_N_RECOMPUTES)
                                * TOKENS;
            ck_assert_int_eq(one.result.stored_moe, bytes[NG_KEPT_FOR_MOE]);
            ck_assert_int_eq(one.result.stored_attention,
                             bytes[NG_KEPT_FOR_ATTENTION]);
            ck_assert_double_eq(count.stored_token * TOKENS,
                                (double)(one.result.stored_moe
                                         + one.result.stored_attention
                                         + one.result.stored_other));
            ck_assert_double_eq(
                count.sent_forward * (double)one.result.moe_layers * SHARDS
                    * TOKENS,
                (double)(one.result.sent_dispatch + one.result.sent_combine));
            ck_assert_double_eq(
                count.sent_backward * (double)one.result.moe_layers * SHARDS
                    * TOKENS,
                (double)(one.result.sent_grad_y + one.result.sent_grad_x));
            run_free(&one);
        }
}
END_TEST

static ng_model_config deepseek(void)
{
    ng_model_config c = ng_model_config_default();

    c.vocabulary = 129280;
    c.hidden = 7168;
    c.layers = 61;
    c.length = 4096;
    c.heads = 128;
    c.q_rank = 1536;
    c.kv_rank = 512;
    c.nope_dim = 128;
    c.rope_dim = 64;
    c.v_dim = 128;
    c.ffn = 18432;
    c.dense_layers = 3;
    c.experts = 256;
    c.top_k = 8;
    c.expert_ffn = 2048;
    c.expert_groups = 8;
    c.top_groups = 4;
    return c;
}

/* The claim of mxfp4: half the bytes of bf16, or fewer, at equal recomputation.
 * In a model as narrow as the default one that needs norms to be made again:
 * the router's input in BF16 weighs as much as four of its experts' in MXFP4.
 */
START_TEST(mxfp4_halves_the_bytes)
{
    const ng_explain_setting setting = {8, 1, 4096, 5.125, false};
    const ng_model_config configs[] = {deepseek(), ng_model_config_default()};

    for (size_t i = 0; i < 2; i++)
        for (int r = i == 0 ? 0 : NG_RECOMPUTE_NORM_SWIGLU;
             r <= NG_RECOMPUTE_NORM_SWIGLU; r++) {
            const ng_recipe bf16 = recipe_of("bf16", (ng_recompute)r);
            const ng_recipe mxfp4 = recipe_of("mxfp4", (ng_recompute)r);
            ng_model_count of_bf16, of_mxfp4;
            ng_error error;

            ck_assert_int_eq(ng_model_count_of(&of_bf16, &configs[i], &bf16,
                                               &setting, &error),
                             NG_OK);
            ck_assert_int_eq(ng_model_count_of(&of_mxfp4, &configs[i], &mxfp4,
                                               &setting, &error),
                             NG_OK);
            ck_assert_double_le(of_mxfp4.stored_moe, 0.5 * of_bf16.stored_moe);
            ck_assert_double_le(of_mxfp4.sent_forward,
                                0.5 * of_bf16.sent_forward);
            ck_assert_double_le(
                of_mxfp4.sent_forward + of_mxfp4.sent_backward,
                0.5 * (of_bf16.sent_forward + of_bf16.sent_backward));
        }
}
END_TEST

/* 671B parameters, 37B of them active, as the authors of DeepSeek-V3 count
 * (arXiv 2412.19437), without a byte of them. */
START_TEST(deepseek_is_counted)
{
    const ng_explain_setting setting = {64, 1, 4096, 5.125, false};
    const ng_model_config c = deepseek();
    const ng_recipe recipe = recipe_of("mxfp4", NG_RECOMPUTE_MLA_UP);
    ng_model_count count;
    ng_error error;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    ck_assert_int_eq(ng_model_count_of(&count, &c, &recipe, &setting, &error),
                     NG_OK);
    /* embedding and head; of each layer an MLA and 2 norms; 3 dense FFNs; 58
     * layers of 257 SwiGLUs and a router; the last norm */
    ck_assert_int_eq(count.parameters,
                     2LL * 129280 * 7168 + 61LL * (187107328 + 2 * 7168)
                         + 3LL * 3 * 7168 * 18432
                         + 58LL * (257LL * 3 * 7168 * 2048 + 256 * 7168)
                         + 7168);
    ck_assert_int_eq(count.parameters / 1000000000, 671);
    ck_assert_int_eq(count.active / 1000000000, 37);
    ck_assert_int_eq(ng_model_explain(out, &c, &recipe, &setting, &error),
                     NG_OK);
    fclose(out);
    ck_assert_ptr_nonnull(strstr(text, "671026404352"));
    ck_assert_ptr_nonnull(strstr(text, "n2 to the experts"));
    ck_assert_ptr_nonnull(strstr(text, "mxfp4"));
    free(text);
}
END_TEST

START_TEST(learns)
{
    ng_model_config c = small();
    const ng_recipe recipe = recipe_of(names[_i], NG_RECOMPUTE_NONE);
    run r;

    c.balance_loss = 0.0;
    r = run_on(1, &c, &recipe, 30, 0.4);
    ck_assert_double_lt(fabs(r.first_loss - log(40.0)), 1.0);
    ck_assert_double_lt(r.result.loss, r.first_loss - 1.0);
    run_free(&r);
}
END_TEST

/* Softmax, dense only, q without a rank, a tied head, an override: each runs
 * and has gradients; a plug-in operation is refused in words. */
START_TEST(variants)
{
    ng_recipe recipe = recipe_of("mxfp4", NG_RECOMPUTE_NONE);
    ng_model_config c = small();
    ng_error error = {""};
    ng_model *m = NULL;
    run r;

    c.softmax_router = true;
    c.normalize_weights = false;
    c.shared_experts = 0;
    c.q_rank = 0;
    c.tie_head = true;
    r = run_on(2, &c, &recipe, 2, 0.1);
    ck_assert(isfinite(r.norm) && r.norm > 0.0);
    run_free(&r);
    c.experts = 0;
    r = run_on(2, &c, &recipe, 1, 0.1);
    ck_assert(isfinite(r.norm) && r.norm > 0.0);
    ck_assert_int_eq(r.result.moe_layers, 0);
    run_free(&r);

    strcpy(recipe.all.operation[NG_SITE_FFN], "mine:swiglu");
    ck_assert_int_eq(ng_model_create(&m, &c, &recipe, ng_backend_reference(),
                                     ng_comm_self(), &error),
                     NG_NOT_COVERED);
    ck_assert_ptr_nonnull(strstr(error.text, "mine:swiglu"));
    recipe.all.operation[NG_SITE_FFN][0] = '\0';
    c.rope_dim = 7;
    ck_assert_int_eq(ng_model_create(&m, &c, &recipe, ng_backend_reference(),
                                     ng_comm_self(), &error),
                     NG_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(error.text, "rope_dim"));
}
END_TEST

/* The last part of DeepSeek-V3's training stops the biases; they still choose
 * (arXiv 2412.19437, 4.2). Expert 4, sigmoids below 1 and a bias of 10, is every
 * token's. */
START_TEST(trap_bias_that_no_longer_moves)
{
    static const float state[6] = {0.0f, 0.0f, 0.0f, 0.0f, 10.0f, 0.0f};
    ng_model_config c = small();
    const ng_recipe recipe = recipe_of("bf16", NG_RECOMPUTE_NONE);
    const ng_model_shard shard = {0, SEQUENCES, LENGTH, tokens[0],
                                  tokens[0] + 1};
    ng_model_result result;
    ng_model *m = NULL;
    ng_error error;
    float kept[6];

    c.bias_speed = 0.0;
    ck_assert_int_eq(ng_model_create(&m, &c, &recipe, ng_backend_reference(),
                                     ng_comm_self(), &error),
                     NG_OK);
    ck_assert_int_eq(ng_model_n_state(m), 6);
    for (int64_t i = 0; i < ng_model_n_parameters(m); i++) {
        float *theta = malloc((size_t)ng_model_parameter_of(m, i)->n
                              * sizeof *theta);

        ng_model_initial(theta, m, i, 3);
        ck_assert_int_eq(ng_model_load(m, i, theta, &error), NG_OK);
        free(theta);
    }
    ck_assert_int_eq(ng_model_set_state(m, state, &error), NG_OK);
    ck_assert_int_eq(ng_model_begin_step(m, 1, TOKENS, &error), NG_OK);
    ck_assert_int_eq(ng_model_forward_backward(m, &shard, &error), NG_OK);
    ck_assert_int_eq(ng_model_end_step(&result, m, &error), NG_OK);
    ck_assert_int_eq(ng_model_load_of_experts(m)[4], TOKENS);
    ng_model_update_router(m);
    ng_model_get_state(kept, m);
    ck_assert_mem_eq(kept, state, sizeof state);
    ng_model_free(m);
}
END_TEST

/* One dense layer in FP8: every element that is quantised, by hand. T rows; of
 * each product its input forward, its grad_y as rows and as columns, and its
 * input as columns; what has no codes to go by is made from BF16 again. */
START_TEST(trap_what_is_converted)
{
    ng_model_config c = small();
    const ng_recipe recipe = recipe_of("fp8", NG_RECOMPUTE_NONE);
    const int64_t H = 64, F = 72, Q = 24, KV = 16, qk = 2 * 24, v = 2 * 16;
    const int64_t up = 2 * (16 + 16), down = KV + 8;
    const int64_t forward = H + Q + KV + v /* n1, cqn, ckvn, y */
                            + H + F;       /* n2, h */
    const int64_t ffn = 2 * H + F /* grad, h */ + 2 * (2 * F) + H; /* n2 */
    const int64_t attention = 2 * H + v + v /* grad, y, rows and columns */
                              + 2 * up + KV + 2 * down + H    /* kv */
                              + 2 * qk + Q + 2 * Q + H;       /* q */
    run r;

    c.layers = c.dense_layers = 1;
    c.experts = 0;
    r = run_on(1, &c, &recipe, 1, 0.1);
    ck_assert_int_eq(r.result.converted,
                     SHARDS * TOKENS * (forward + ffn + attention));
    run_free(&r);
}
END_TEST

/* Of 5 experts on 2 ranks the second has 3: that is what a rank needs. */
START_TEST(trap_rank_with_the_most_experts)
{
    ng_model_config c = small();
    const ng_recipe recipe = recipe_of("bf16", NG_RECOMPUTE_NONE);
    ng_explain_setting setting = {1, SEQUENCES, LENGTH, 7.125, false};
    const int64_t expert = 3LL * 64 * 40; /* gate, up and down */
    ng_model_count one, two, many;
    ng_error error;

    c.experts = 5;
    c.expert_groups = c.top_groups = 1;
    ck_assert_int_eq(ng_model_count_of(&one, &c, &recipe, &setting, &error),
                     NG_OK);
    setting.ranks = 2;
    ck_assert_int_eq(ng_model_count_of(&two, &c, &recipe, &setting, &error),
                     NG_OK);
    setting.ranks = 100; /* more than experts: some have one */
    ck_assert_int_eq(ng_model_count_of(&many, &c, &recipe, &setting, &error),
                     NG_OK);
    ck_assert_int_eq(one.parameters_on_rank, one.parameters);
    ck_assert_int_eq(two.parameters_on_rank, one.parameters - 2 * expert);
    ck_assert_int_eq(many.parameters_on_rank, one.parameters - 4 * expert);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("model, steps");
    TCase *tcase = tcase_create("steps");

    tcase_add_checked_fixture(tcase, begin, fixture_end);
    tcase_set_timeout(tcase, 300);
    tcase_add_loop_test(tcase, ranks_change_no_bit, 0, 4);
    tcase_add_loop_test(tcase, threads_change_no_bit, 0, 4);
    tcase_add_loop_test(tcase, recomputation_changes_no_bit, 0, 4);
    tcase_add_loop_test(tcase, counts_are_what_is_measured, 1, 4);
    tcase_add_test(tcase, mxfp4_halves_the_bytes);
    tcase_add_test(tcase, deepseek_is_counted);
    tcase_add_loop_test(tcase, learns, 1, 4);
    tcase_add_test(tcase, variants);
    tcase_add_test(tcase, trap_bias_that_no_longer_moves);
    tcase_add_test(tcase, trap_what_is_converted);
    tcase_add_test(tcase, trap_rank_with_the_most_experts);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
