/* SPDX-License-Identifier: Apache-2.0
 *
 * What the model refuses: configurations, recipes, calls out of turn, tokens that
 * are none.
 */
#include "conformance/checks/model_refusals.h"

/* ---- configurations ------------------------------------------------------ */

#define CASE(words, ...)                                                \
    do {                                                                \
        ng_model_config c = ng_model_config_default();                  \
        ng_model *m = NULL;                                             \
        __VA_ARGS__;                                                    \
        expect(ng_model_config_check(&c, &error), NG_BAD_VALUE, words); \
        expect(ng_model_create(&m, &c, &recipe, ng_backend_reference(), \
                               ng_comm_self(), &error),                 \
               NG_BAD_VALUE, words);                                    \
        ck_assert_ptr_null(m);                                          \
    } while (0)

START_TEST(configurations)
{
    CASE("attention: no such kind", c.attention = (ng_attention_kind)2);
    CASE("vocabulary: 0 is not in 1..2147483647", c.vocabulary = 0);
    CASE("hidden: 2147483648 is not in 1..2147483647", c.hidden = INT64_C(1)
                                                                  << 31);
    CASE("layers: 4097 is not in 1..4096", c.layers = 4097);
    CASE("dense_layers: 3 is not in 0..2", c.dense_layers = 3);
    CASE("mtp_depth: -1 is not in 0..16", c.mtp_depth = -1);
    /* 4096 layers, 2^20 + 1 experts of 3 matrices of 2^62 */
    CASE("hidden: with the other sizes about 5.9e+28 parameters, more than "
         "2^53",
         c.layers = 4096;
         c.experts = 1 << 20; c.expert_ffn = c.hidden = INT32_MAX);
    CASE("kv_rank: 0 is not in 1..2147483647", c.kv_rank = 0);
    CASE("rope_dim: 15 is odd", c.rope_dim = 15);
    CASE("kv_heads: 5 is not in 1..4", c.attention = NG_ATTENTION_GQA;
         c.kv_heads = 5);
    CASE("kv_heads: 3 does not divide the 4 heads",
         c.attention = NG_ATTENTION_GQA;
         c.kv_heads = 3);
    CASE("head_dim: 33 is odd", c.attention = NG_ATTENTION_GQA;
         c.head_dim = 33);
    CASE("expert_groups: 9 is not in 1..8", c.expert_groups = 9);
    CASE("expert_groups: 3 does not divide the 8 experts", c.expert_groups = 3);
    CASE("expert_groups: 0 is not in 1..8", c.expert_groups = 0);
    CASE("top_k: 9 is not in 1..8", c.top_k = 9);
    CASE("top_k: 5 is not in 1..4", c.expert_groups = 2; c.top_k = 5);
    CASE("rope_base: 0.5 is not in 1..1e+12", c.rope_base = 0.5);
    CASE("route_scale: nan is not in 0..1e+06", c.route_scale = (double)NAN);
    CASE("norm_eps: inf is not in 0..1", c.norm_eps = HUGE_VAL);
}
END_TEST

/* ---- recipes ------------------------------------------------------------- */

/* A layer that the model lacks; and one that it has, kept by copy. */
START_TEST(layers_of_recipes)
{
    ng_model_config c = small();
    ng_recipe r;
    ng_model *m = NULL;
    double loss[2], norm[2];

    ck_assert_int_eq(parse(&r, "layer 3 ffn.multiply bf16\n"), NG_OK);
    expect(ng_model_create(&m, &c, &r, ng_backend_reference(), ng_comm_self(),
                           &error),
           NG_BAD_VALUE, "recipe fp32: layer 3: the model has 3");
    ck_assert_ptr_null(m);
    ng_recipe_free(&r);

    ck_assert_int_eq(parse(&r, "layer 0 ffn.multiply bf16\n"
                               "layer 0 ffn.multiply_grad fp32\n"),
                     NG_OK);
    m = good_model(&r);
    ng_recipe_free(&r);
    ck_assert_int_eq(step(&loss[0], &norm[0], m), NG_OK);
    ng_model_free(m);
    m = good_model(&recipe);
    ck_assert_int_eq(step(&loss[1], &norm[1], m), NG_OK);
    ng_model_free(m);
    ck_assert(loss[0] != loss[1] && fabs(loss[0] - loss[1]) < 0.01);
}
END_TEST

/* Products in one format and their gradients in another are the products of
 * each: forward that of FP32, backward not. What is kept, or made again, of
 * SwiGLU changes no bit in FP32. */
START_TEST(formats_of_each_way)
{
    ng_model *m = good_model(&recipe);
    double want[2], loss, norm;
    ng_recipe r;

    ck_assert_int_eq(step(&want[0], &want[1], m), NG_OK);
    ng_model_free(m);
    /* a line for a layer: those for all are in recipe_fp32 */
    ck_assert_int_eq(parse(&r, "layer 0-2 attention.multiply_grad bf16\n"
                               "layer 0-2 ffn.multiply_grad bf16\n"
                               "layer 0-2 head.multiply_grad bf16\n"),
                     NG_OK);
    m = good_model(&r);
    ck_assert_int_eq(step(&loss, &norm, m), NG_OK);
    ck_assert_double_eq(loss, want[0]);
    ck_assert(norm != want[1] && fabs(norm - want[1]) < 0.05 * want[1]);
    ng_model_free(m);
    ng_recipe_free(&r);
    ck_assert_int_eq(parse(&r, "ffn.store_h fp32\nshared.store_h fp32\n"),
                     NG_OK);
    m = good_model(&r);
    ck_assert_int_eq(step(&loss, &norm, m), NG_OK);
    ck_assert_double_eq(loss, want[0]);
    ck_assert_double_eq(norm, want[1]);
    ng_model_free(m);
    ng_recipe_free(&r);
}
END_TEST

START_TEST(recipe_files)
{
    static char large[64 * 1024 + 2];
    char want[600], path[300];
    ng_recipe r = {.n_overrides = 77};

    snprintf(path, sizeof path, "%s/r.recipe", scratch);
    write_text("r.recipe", recipe_fp32);
    ck_assert_int_eq(ng_recipe_open(&r, path, &error), NG_OK);
    ck_assert_str_eq(r.name, "fp32");
    ng_recipe_free(&r);
    r.n_overrides = 77;

    write_text("r.recipe", "name x\nresidual mxfp4\n");
    snprintf(want, sizeof want, "%s:2: mxfp4: not fp32 or bf16", path);
    expect(ng_recipe_open(&r, path, &error), NG_BAD_FILE, want);
    memset(large, '#', sizeof large - 1);
    write_text("r.recipe", large);
    snprintf(want, sizeof want, "%s: size: over 65536 bytes", path);
    expect(ng_recipe_open(&r, path, &error), NG_BAD_FILE, want);
    large[200] = '\0';
    memset(large, 'n', 200);
    memcpy(large, "name ", 5);
    write_text("r.recipe", large);
    ck_assert_int_eq(ng_recipe_open(&r, path, &error), NG_BAD_FILE);
    snprintf(want, sizeof want, "%s:1: nnn", path);
    ck_assert(strncmp(error.text, want, strlen(want)) == 0);
    ck_assert_str_eq(error.text + strlen(error.text) - 10, ": too long");
    ck_assert_int_eq(r.n_overrides, 77);
    ng_recipe_free(NULL);
}
END_TEST

/* ---- calls out of turn --------------------------------------------------- */

START_TEST(turns)
{
    const ng_model_shard shard = good_shard(), other = {.shard = -1};
    ng_model_result result = {.targets = 77};
    ng_model_config c = small();
    ng_model *m = good_model(&recipe), *none = NULL;
    double norm = 7.0, loss, again[2];

    expect(ng_model_create(&none, NULL, &recipe, ng_backend_reference(),
                           ng_comm_self(), &error),
           NG_BAD_POINTER, "model: a null pointer");
    expect(ng_model_create(&none, &c, &recipe, NULL, ng_comm_self(), &error),
           NG_BAD_POINTER, "model: a null pointer");
    ck_assert_ptr_null(none);

    expect(ng_model_gradient_norm(&norm, m, &error), NG_BAD_VALUE,
           "gradient norm: no step ended");
    ck_assert_ptr_null(ng_model_gradient(m, 0));
    expect(ng_model_end_step(&result, m, &error), NG_BAD_VALUE,
           "step: ended before all of its shards");
    expect(ng_model_forward_backward(m, &shard, &error), NG_BAD_VALUE,
           "shard 0: not the one of this rank and wave");
    expect(ng_model_begin_step(m, 0, 7, &error), NG_BAD_VALUE,
           "step: 0 shards, 7 targets");
    expect(ng_model_begin_step(m, (1 << 20) + 1, 7, &error), NG_BAD_VALUE,
           "step: 1048577 shards, 7 targets");
    expect(ng_model_begin_step(m, 1, 0, &error), NG_BAD_VALUE,
           "step: 1 shards, 0 targets");
    ck_assert_int_eq(ng_model_begin_step(m, 2, 14, &error), NG_OK);
    expect(ng_model_forward_backward(m, &other, &error), NG_BAD_VALUE,
           "shard -1: not the one of this rank and wave");
    ck_assert_int_eq(ng_model_forward_backward(m, &shard, &error), NG_OK);
    expect(ng_model_forward_backward(m, &shard, &error), NG_BAD_VALUE,
           "shard 0: not the one of this rank and wave");
    expect(ng_model_end_step(&result, m, &error), NG_BAD_VALUE,
           "step: ended before all of its shards");
    ck_assert(norm == 7.0 && result.targets == 77);

    /* begun anew, it is a step like any other */
    ck_assert_int_eq(step(&loss, &norm, m), NG_OK);
    ck_assert_int_eq(step(&again[0], &again[1], m), NG_OK);
    ck_assert(loss == again[0] && norm == again[1]);
    ck_assert_ptr_null(ng_model_gradient(m, -1));
    ck_assert_ptr_null(ng_model_gradient(m, ng_model_n_parameters(m)));
    ng_model_free(m);
    ng_model_free(NULL);
}
END_TEST

START_TEST(parameters)
{
    ng_model *m = good_model(&recipe);
    const int64_t n = ng_model_n_state(m);
    float *state = malloc((size_t)n * sizeof *state);
    float *back = malloc((size_t)n * sizeof *back);
    const float theta = 0.0f;

    expect(ng_model_load(m, -1, &theta, &error), NG_BAD_SHAPE,
           "parameter -1: not on this rank");
    expect(ng_model_load(m, 1000, &theta, &error), NG_BAD_SHAPE,
           "parameter 1000: not on this rank");
    for (int64_t i = 0; i < n; i++)
        state[i] = (float)i;
    ck_assert_int_eq(ng_model_set_state(m, state, &error), NG_OK);
    state[0] = 77.0f;
    state[n - 1] = -INFINITY;
    ck_assert_int_eq(n, 6);
    expect(ng_model_set_state(m, state, &error), NG_BAD_VALUE,
           "router bias 5: not finite");
    ng_model_get_state(back, m);
    for (int64_t i = 0; i < n; i++)
        ck_assert_float_eq(back[i], (float)i);
    free(state);
    free(back);
    ng_model_free(m);
}
END_TEST

static const struct {
    ng_model_shard shard;
    ng_status status;
    const char *words;
} bad_shards[] = {
    {{0, 0, 4, tokens, targets},
     NG_BAD_SHAPE,
     "shard 0: 0 sequences of 4 tokens"},
    {{0, 2, 0, tokens, targets},
     NG_BAD_SHAPE,
     "shard 0: 2 sequences of 0 tokens"},
    {{0, 1, 5, tokens, targets},
     NG_BAD_SHAPE,
     "shard 0: 1 sequences of 5 tokens"},
    {{0, 2, 4, NULL, targets},
     NG_BAD_SHAPE,
     "shard 0: 2 sequences of 4 tokens"},
    {{0, 2, 4, tokens, NULL}, NG_BAD_SHAPE, "shard 0: 2 sequences of 4 tokens"},
    {{0, 1, 2, (const int32_t[]){0, 11}, targets},
     NG_BAD_VALUE,
     "shard 0: token 1 is not in the vocabulary"},
    {{0, 1, 2, (const int32_t[]){-1, 3}, targets},
     NG_BAD_VALUE,
     "shard 0: token 0 is not in the vocabulary"},
    {{0, 1, 2, tokens, (const int32_t[]){0, 11}},
     NG_BAD_VALUE,
     "shard 0: token 1 is not in the vocabulary"},
    {{0, 1, 2, tokens, (const int32_t[]){-2, 3}},
     NG_BAD_VALUE,
     "shard 0: token 0 is not in the vocabulary"},
};

START_TEST(shards)
{
    ng_model *m = good_model(&recipe);
    double loss = 7.0, norm;
    int64_t n = 7;
    float logits[11] = {7.0f};

    for (size_t i = 0; i < sizeof bad_shards / sizeof *bad_shards; i++) {
        const ng_model_shard *shard = &bad_shards[i].shard;

        ck_assert_int_eq(ng_model_begin_step(m, 1, 7, &error), NG_OK);
        expect(ng_model_forward_backward(m, shard, &error),
               bad_shards[i].status, bad_shards[i].words);
        expect(ng_model_evaluate(&loss, &n, m, shard, &error),
               bad_shards[i].status, bad_shards[i].words);
        ck_assert(loss == 7.0 && n == 7);
    }
    expect(ng_model_logits(logits, m, tokens, 5, &error), NG_BAD_SHAPE,
           "shard 0: 1 sequences of 5 tokens");
    expect(ng_model_logits(logits, m, tokens, 0, &error), NG_BAD_SHAPE,
           "shard 0: 1 sequences of 0 tokens");
    ck_assert_float_eq(logits[0], 7.0f);
    ck_assert_int_eq(step(&loss, &norm, m), NG_OK);
    ng_model_free(m);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("calls");

    tcase_add_test(tcase, configurations);
    tcase_add_test(tcase, layers_of_recipes);
    tcase_add_test(tcase, formats_of_each_way);
    tcase_add_test(tcase, recipe_files);
    tcase_add_test(tcase, turns);
    tcase_add_test(tcase, parameters);
    tcase_add_test(tcase, shards);
    return run_refusals(tcase);
}
