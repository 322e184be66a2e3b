/* SPDX-License-Identifier: Apache-2.0
 *
 * What the model refuses: configurations, recipes and names, calls out of turn,
 * tokens that are none, ranks that fail and memory that runs out. Each with its
 * status and its line; outputs as they were, nothing leaked, and the model whole
 * afterwards: a step then gives the loss that it gave before.
 */
#include <jansson.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "conformance/checks/scratch.h"
#include "conformance/checks/failing_memory.h"
#include "conformance/checks/model_fixture.h"
#include "conformance/checks/model_ranks.h"
#include "formats/files/safetensors.h"
#include "reference/model/model.h"
#include "reference/model/pretrained.h"
#include "reference/train/tree_sum.h"

static ng_error error;
static ng_recipe recipe; /* FP32 */

static ng_status parse(ng_recipe *out, const char *more)
{
    char lines[8192];

    snprintf(lines, sizeof lines, "%s%s", recipe_fp32, more);
    return ng_recipe_parse(out, lines, (int64_t)strlen(lines), "mine", &error);
}

static void begin(void)
{
    fixture_at = 0;
    error.text[0] = '\0';
    scratch_make();
    ck_assert_int_eq(parse(&recipe, ""), NG_OK);
#ifdef _OPENMP
    omp_set_num_threads(1); /* an allocation that fails, fails here */
#endif
}

static void end(void)
{
    ng_recipe_free(&recipe);
    fixture_end();
    scratch_remove();
}

static void expect(ng_status got, ng_status want, const char *words)
{
    ck_assert_msg(got == want, "want \"%s\", got \"%s\": %s",
                  ng_status_text(want), ng_status_text(got), error.text);
    ck_assert_msg(strcmp(error.text, words) == 0, "want \"%s\", got \"%s\"",
                  words, error.text);
}

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

static ng_model_config small(void)
{
    ng_model_config c = ng_model_config_default();

    c.vocabulary = 11;
    c.hidden = 8;
    c.layers = 2;
    c.length = 4;
    c.heads = 1;
    c.q_rank = 4;
    c.kv_rank = 4;
    c.nope_dim = 2;
    c.rope_dim = 2;
    c.v_dim = 2;
    c.ffn = 6;
    c.experts = 3;
    c.expert_ffn = 4;
    c.balance_loss = 0.01;
    c.mtp_depth = 1;
    c.init_std = 0.3;
    return c;
}

static ng_status make(ng_model **m, const ng_recipe *r, const ng_comm *comm)
{
    const ng_model_config c = small();

    return ng_model_create(m, &c, r, ng_backend_reference(), comm, &error);
}

static bool load_all(ng_model *m)
{
    bool fine = true;

    for (int64_t i = 0; i < ng_model_n_parameters(m); i++) {
        const ng_model_parameter *p = ng_model_parameter_of(m, i);
        float *theta = malloc((size_t)p->n * sizeof *theta);

        if (p->local) {
            ng_model_initial(theta, m, i, 5);
            fine &= ng_model_load(m, i, theta, &error) == NG_OK;
        }
        free(theta);
    }
    return fine;
}

static ng_model *good_model(const ng_recipe *r)
{
    ng_model *m = NULL;

    ck_assert_msg(make(&m, r, ng_comm_self()) == NG_OK, "%s", error.text);
    ck_assert(load_all(m));
    return m;
}

static const int32_t tokens[8] = {1, 7, 3, 3, 9, 2, 10, 0};
static const int32_t targets[8] = {7, 3, 3, 5, 2, 10, 0, -1};

static ng_model_shard good_shard(void)
{
    return (ng_model_shard){0, 2, 4, tokens, targets};
}

static ng_status step(double *loss, double *norm, ng_model *m)
{
    const ng_model_shard shard = good_shard();
    ng_model_result result = {.loss = 0.0};
    ng_status status = ng_model_begin_step(m, 1, 7, &error);

    if (status == NG_OK)
        status = ng_model_forward_backward(m, &shard, &error);
    if (status == NG_OK)
        status = ng_model_end_step(&result, m, &error);
    if (status == NG_OK)
        status = ng_model_gradient_norm(norm, m, &error);
    *loss = result.loss;
    return status;
}

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

static void write_text(const char *name, const char *text)
{
    scratch_write(name, text, strlen(text));
}

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

/* ---- explanations -------------------------------------------------------- */

START_TEST(explanations)
{
    static const ng_explain_setting bad[] = {{0, 1, 4, 7.125, false},
                                             {1, 0, 4, 7.125, false},
                                             {1, 1, 0, 7.125, true}};
    static const char *const words[] = {
        "explain: 0 ranks, 1 sequences of 4 tokens",
        "explain: 1 ranks, 0 sequences of 4 tokens",
        "explain: 1 ranks, 1 sequences of 0 tokens"};
    ng_model_config c = small();
    ng_model_count count = {.parameters = 77};
    FILE *full;

    for (int i = 0; i < 3; i++) {
        char *text = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);

        expect(ng_model_count_of(&count, &c, &recipe, &bad[i], &error),
               NG_BAD_VALUE, words[i]);
        expect(ng_model_explain(out, &c, &recipe, &bad[i], &error),
               NG_BAD_VALUE, words[i]);
        fclose(out);
        ck_assert_uint_eq(size, 0); /* nothing was printed */
        free(text);
    }
    ck_assert_int_eq(count.parameters, 77);
    c.hidden = 0;
    expect(ng_model_count_of(&count, &c, &recipe, &bad[0], &error),
           NG_BAD_VALUE, "hidden: 0 is not in 1..2147483647");
    c = small();
    for (int json = 0; json < 2; json++) {
        const ng_explain_setting good = {1, 1, 4, 7.125, json != 0};

        full = fopen("/dev/full", "w");
        if (full == NULL)
            return;
        expect(ng_model_explain(full, &c, &recipe, &good, &error), NG_BAD_FILE,
               "explain: cannot write");
        fclose(full);
    }
}
END_TEST

/* A matrix in two formats is there twice; a tied head has a copy of its own. */
START_TEST(bytes_of_copies)
{
    const ng_explain_setting setting = {1, 1, 4, 7.125, false};
    ng_model_config c = small();
    ng_model_count one, two, tied;
    ng_recipe r;

    ck_assert_int_eq(parse(&r, "layer 0 ffn.multiply_grad bf16\n"), NG_OK);
    ck_assert_int_eq(ng_model_count_of(&one, &c, &recipe, &setting, &error),
                     NG_OK);
    ck_assert_int_eq(ng_model_count_of(&two, &c, &r, &setting, &error), NG_OK);
    ck_assert_double_eq(two.weight_bytes - one.weight_bytes,
                        2.0 * (12.0 * 8.0 + 8.0 * 6.0));
    c.tie_head = true;
    ck_assert_int_eq(ng_model_count_of(&tied, &c, &recipe, &setting, &error),
                     NG_OK);
    ck_assert_int_eq(one.parameters - tied.parameters, 11 * 8);
    ck_assert_double_eq(tied.weight_bytes, one.weight_bytes);
    ng_recipe_free(&r);
}
END_TEST

/* ---- names of others ----------------------------------------------------- */

START_TEST(maps)
{
    static const int64_t shape[1] = {8};
    static char large[4 << 20];
    char path[300], weights[300], want[700];
    const char *const files[] = {weights};
    ng_model *m = good_model(&recipe);
    ng_pretrained *p = NULL;
    ng_tensor_file file = {.tensors = NULL};
    float theta[8];
    void *data;

    snprintf(path, sizeof path, "%s/map.names", scratch);
    snprintf(weights, sizeof weights, "%s/w.safetensors", scratch);
    ck_assert_int_eq(
        ng_tensor_file_add_tensor(&data, &file, "w", NG_U8, 1, shape), NG_OK);
    ck_assert_int_eq(ng_safetensors_write(weights, &file, &error), NG_OK);
    ng_tensor_file_free(&file);

    scratch_write("map.names", "norm w\0", 7);
    snprintf(want, sizeof want, "%s: not text", path);
    expect(ng_pretrained_open(&p, path, files, 1, &error), NG_BAD_FILE, want);
    memset(large, '#', sizeof large);
    scratch_write("map.names", large, sizeof large);
    ck_assert_int_eq(ng_pretrained_open(&p, path, files, 1, &error),
                     NG_BAD_FILE);
    ck_assert_ptr_nonnull(strstr(error.text, ": size: over "));
    ck_assert_ptr_null(p);

    memcpy(large, "norm w ", 7);
    memset(large + 7, 'x', 2000);
    scratch_write("map.names", large, 2007);
    ck_assert_int_eq(ng_pretrained_open(&p, path, files, 1, &error), NG_OK);
    for (int64_t i = 0; i < ng_model_n_parameters(m); i++) {
        if (strcmp(ng_model_parameter_of(m, i)->name, "norm") != 0)
            continue;
        ck_assert_int_eq(ng_pretrained_read(theta, p, m, i, &error),
                         NG_BAD_FILE);
        ck_assert_str_eq(error.text, "tensor \"w\": dtype: u8");
    }
    ng_pretrained_free(p);
    ng_pretrained_free(NULL);

    /* of the right type, but a name behind it is no name */
    ck_assert_int_eq(
        ng_tensor_file_add_tensor(&data, &file, "w", NG_FP32, 1, shape), NG_OK);
    ck_assert_int_eq(ng_safetensors_write(weights, &file, &error), NG_OK);
    ng_tensor_file_free(&file);
    p = NULL;
    ck_assert_int_eq(ng_pretrained_open(&p, path, files, 1, &error), NG_OK);
    for (int64_t i = 0; i < ng_model_n_parameters(m); i++) {
        if (strcmp(ng_model_parameter_of(m, i)->name, "norm") != 0)
            continue;
        expect(ng_pretrained_read(theta, p, m, i, &error), NG_BAD_FILE,
               "norm: tensor \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...\": "
               "too long");
    }
    ng_pretrained_free(p);
    ng_model_free(m);
}
END_TEST

/* ---- ranks --------------------------------------------------------------- */

/* Threads as ranks, whose exchange number `cut` and all further ones fail. */
typedef struct wire {
    const ng_comm *comm;
    int left;
} wire;

static ng_status cut_counts(void *context, int64_t *from, const int64_t *to,
                            int64_t n, ng_error *e)
{
    wire *w = context;

    if (w->left-- <= 0)
        return ng_fail(e, NG_BAD_FILE, "the wire is cut");
    return w->comm->exchange_counts(w->comm->context, from, to, n, e);
}

static ng_status cut_bytes(void *context, void *from, const int64_t *from_bytes,
                           const void *to, const int64_t *to_bytes, ng_error *e)
{
    wire *w = context;

    if (w->left-- <= 0)
        return ng_fail(e, NG_BAD_FILE, "the wire is cut");
    return w->comm->exchange(w->comm->context, from, from_bytes, to, to_bytes,
                             e);
}

typedef struct attempt {
    int cut;
    ng_status status;
    ng_error error;
    bool was_cut;
    double loss, norm;
} attempt;

/* A step of two shards, on one of two ranks; then, if it was cut, a whole one
 * with the same model: what it held is gone. */
static void try_step(void *argument, const ng_comm *comm)
{
    attempt *a = argument;
    const ng_model_config c = small();
    wire w = {comm, a->cut};
    ng_comm cutting = *comm;
    ng_model *m = NULL;
    const ng_model_shard shard = {comm->rank, 1, 4, tokens + 4 * comm->rank,
                                  targets + 4 * comm->rank};

    cutting.context = &w;
    cutting.exchange_counts = cut_counts;
    cutting.exchange = cut_bytes;
#ifdef _OPENMP
    omp_set_num_threads(1);
#endif
    a->status = ng_model_create(&m, &c, &recipe, ng_backend_reference(),
                                &cutting, &a->error);
    for (int64_t i = 0; a->status == NG_OK && i < ng_model_n_parameters(m);
         i++) {
        float theta[256];

        ng_model_initial(theta, m, i, 5);
        if (ng_model_parameter_of(m, i)->local)
            a->status = ng_model_load(m, i, theta, &a->error);
    }
    for (int try = 0; try < 2; try++) {
        ng_model_result result = {.loss = 0.0};

        if (a->status == NG_OK)
            a->status = ng_model_begin_step(m, 2, 7, &a->error);
        if (a->status == NG_OK)
            a->status = ng_model_forward_backward(m, &shard, &a->error);
        if (a->status == NG_OK)
            a->status = ng_model_end_step(&result, m, &a->error);
        if (a->status == NG_OK)
            a->status = ng_model_gradient_norm(&a->norm, m, &a->error);
        a->loss = result.loss;
        if (a->cut >= 1000 || w.left >= 0 || try == 1)
            break;
        if (a->status != NG_BAD_FILE
            || strstr(a->error.text, "the wire is cut") == NULL)
            break;
        a->was_cut = true;
        w.left = 1000;
        a->status = NG_OK;
    }
    ng_model_free(m);
}

START_TEST(ranks_that_are_cut_off)
{
    attempt whole[2] = {{.cut = 1000}, {.cut = 1000}};
    void *arguments[2] = {&whole[0], &whole[1]};
    int cut = 0;

    run_ranks(2, try_step, arguments);
    ck_assert_msg(whole[0].status == NG_OK, "%s", whole[0].error.text);
    for (;; cut++) {
        attempt parts[2] = {{.cut = cut}, {.cut = cut}};
        void *of_parts[2] = {&parts[0], &parts[1]};

        run_ranks(2, try_step, of_parts);
        for (int r = 0; r < 2; r++) {
            ck_assert_msg(parts[r].status == NG_OK, "cut %d, rank %d: %s", cut,
                          r, parts[r].error.text);
            ck_assert_double_eq(parts[r].loss, whole[0].loss);
            ck_assert_double_eq(parts[r].norm, whole[0].norm);
        }
        ck_assert(parts[0].was_cut == parts[1].was_cut);
        if (!parts[0].was_cut)
            break;
    }
    ck_assert_int_gt(cut, 15);
}
END_TEST

/* What one rank sends itself must be what it expects. */
START_TEST(a_rank_by_itself)
{
    const ng_comm *self = ng_comm_self();
    const int64_t three = 3, four = 4;
    char from[4] = "abc";

    expect(self->exchange(self->context, from, &four, "xyz", &three, &error),
           NG_BAD_SHAPE, "a rank expects 4 bytes of itself, and sends 3");
    ck_assert_str_eq(from, "abc");
    self->abort(self->context, 4); /* there is no other to end */
    self->free(self->context);
}
END_TEST

/* ---- trees of sums ------------------------------------------------------- */

static int sums_left;

static ng_status failing_sum(void *context, float *y, const float *a,
                             const float *x, int64_t n)
{
    return sums_left-- > 0 ? ng_backend_reference()->sum(context, y, a, x, n)
                           : NG_NOT_COVERED;
}

static ng_status add_leaf(ng_tree *tree, int64_t index)
{
    float *leaf = NULL;

    ck_assert_int_eq(ng_tree_leaf(&leaf, tree), NG_OK);
    leaf[0] = index < 0 ? 0.0f : (float)(1 << index % 20);
    return ng_tree_add(tree, index, leaf);
}

START_TEST(trees)
{
    ng_backend backend = *ng_backend_reference();
    ng_tree tree = {0};
    float *leaves[NG_TREE_MAX_NODES + 2];

    backend.sum = failing_sum;
    sums_left = 1;
    ng_tree_begin(&tree, &backend, 3, 4);
    ng_tree_drop(&tree, NULL);
    ck_assert_int_eq(add_leaf(&tree, -1), NG_BAD_SHAPE);
    ck_assert_int_eq(add_leaf(&tree, 4), NG_BAD_SHAPE);
    ck_assert_int_eq(add_leaf(&tree, 0), NG_OK);
    ck_assert_int_eq(add_leaf(&tree, 1), NG_OK);
    ck_assert_int_eq(add_leaf(&tree, 2), NG_OK);
    ck_assert_int_eq(add_leaf(&tree, 3), NG_NOT_COVERED);
    ck_assert_ptr_null(ng_tree_total(&tree));
    expect(ng_tree_reduce(&tree, ng_comm_self(), &error), NG_BAD_SHAPE,
           "sum over shards: bad shape");

    /* begun anew: 1 + 2 + 4 + 8 */
    sums_left = 100;
    ng_tree_begin(&tree, &backend, 3, 4);
    for (int64_t i = 3; i >= 0; i--)
        ck_assert_int_eq(add_leaf(&tree, i), NG_OK);
    ck_assert_ptr_nonnull(ng_tree_total(&tree));
    ck_assert_float_eq(ng_tree_total(&tree)[0], 15.0f);

    /* every other leaf: no sum can be made, and all of them wait */
    ng_tree_begin(&tree, &backend, 1, 1000);
    for (int64_t i = 0; i < 500; i++)
        ck_assert_int_eq(add_leaf(&tree, 2 * i), NG_OK);
    ck_assert_int_eq(tree.n_nodes, 500);
    ck_assert_int_eq(add_leaf(&tree, 1), NG_OK); /* it completes one */
    ck_assert_int_eq(tree.n_nodes, 500);
    /* 24 ranks of 8 shards, by waves: three sums of each wait before the last
     * one. 9 times 2^20 - 1, and 2^12 - 1 */
    sums_left = 191;
    ng_tree_begin(&tree, &backend, 1, 192);
    for (int64_t wave = 0; wave < 8; wave++)
        for (int64_t rank = 0; rank < 24; rank++)
            ck_assert_int_eq(add_leaf(&tree, 8 * rank + wave), NG_OK);
    ck_assert_ptr_nonnull(ng_tree_total(&tree));
    ck_assert_float_eq(ng_tree_total(&tree)[0], 9441270.0f);
    /* more arrays than are kept for later */
    for (int i = 0; i < NG_TREE_MAX_NODES + 2; i++)
        ck_assert_int_eq(ng_tree_leaf(&leaves[i], &tree), NG_OK);
    for (int i = 0; i < NG_TREE_MAX_NODES + 2; i++)
        ng_tree_drop(&tree, leaves[i]);
    ck_assert_int_eq(tree.n_spare, NG_TREE_MAX_NODES);
    ng_tree_free(&tree);
    ck_assert_int_eq(tree.n_spare, 0);
}
END_TEST

/* ---- memory -------------------------------------------------------------- */

#ifdef FAILING_MEMORY
static ng_model *whole; /* in which a step is taken, and others are not */

static ng_status make_one(void)
{
    ng_model *m = NULL;
    const ng_status status = make(&m, &recipe, ng_comm_self());

    ng_model_free(m);
    return status;
}

static ng_status load_one(void)
{
    static const float theta[1024];

    return ng_model_load(whole, 0, theta, &error);
}

static ng_status take_step(void)
{
    double loss, norm;

    return step(&loss, &norm, whole);
}

static ng_status evaluate(void)
{
    const ng_model_shard shard = good_shard();
    double loss;
    int64_t n;

    return ng_model_evaluate(&loss, &n, whole, &shard, &error);
}

static ng_status logits_of(void)
{
    float logits[11];

    return ng_model_logits(logits, whole, tokens, 3, &error);
}

static ng_status open_recipe(void)
{
    ng_recipe r;
    const ng_status status =
        ng_recipe_open(&r, scratch_path("r.recipe"), &error);

    if (status == NG_OK)
        ng_recipe_free(&r);
    return status;
}

static ng_status open_map(void)
{
    const char *files[] = {scratch_path("w.safetensors")};
    ng_pretrained *p = NULL;
    const ng_status status =
        ng_pretrained_open(&p, scratch_path("map.names"), files, 1, &error);

    ng_pretrained_free(p);
    return status;
}

static FILE *printed;

static ng_status explain(void)
{
    const ng_explain_setting setting = {1, 1, 4, 7.125, true};
    const ng_model_config c = small();

    rewind(printed);
    return ng_model_explain(printed, &c, &recipe, &setting, &error);
}

/* One that overrides layers: a copy is made of them. */
static ng_status make_other(void)
{
    ng_model *m = NULL;
    ng_recipe r;
    ng_status status = parse(&r, "layer 0 ffn.multiply_grad bf16\n"
                                 "layer 1-2 expert.multiply_grad fp8\n"
                                 "layer 1-2 expert.multiply fp8\n"
                                 "layer 1-2 recompute full\n");

    if (status != NG_OK)
        return status;
    status = make(&m, &r, ng_comm_self());
    ng_model_free(m);
    ng_recipe_free(&r);
    return status;
}

static const struct {
    const char *name;
    ng_status (*perform)(void);
    int least, stride; /* past the first 40 */
} calls[] = {
    {"create", make_one, 40, 3},   {"create another", make_other, 40, 3},
    {"load", load_one, 1, 1},      {"step", take_step, 200, 1},
    {"evaluate", evaluate, 50, 1}, {"logits", logits_of, 50, 1},
    {"recipe", open_recipe, 1, 1}, {"names", open_map, 5, 1},
    {"explain", explain, 100, 7},
};

START_TEST(memory)
{
    static const int64_t shape[1] = {8};
    ng_tensor_file file = {.tensors = NULL};
    double want[2], loss, norm;
    int n = 0;
    void *data;

    whole = good_model(&recipe);
    ck_assert_int_eq(step(&want[0], &want[1], whole), NG_OK);
    write_text("r.recipe", recipe_fp32);
    write_text("map.names", "norm w\n");
    ck_assert_int_eq(
        ng_tensor_file_add_tensor(&data, &file, "w", NG_FP32, 1, shape), NG_OK);
    ck_assert_int_eq(
        ng_safetensors_write(scratch_path("w.safetensors"), &file, &error),
        NG_OK);
    ng_tensor_file_free(&file);
    printed = tmpfile();
    ck_assert_ptr_nonnull(printed);
    for (;; n += n < 40 ? 1 : calls[_i].stride) {
        ng_status status;
        bool did_fail;

        error.text[0] = '\0';
        /* what reads JSON cannot tell want of memory from bad text */
        json_set_alloc_funcs(
            calls[_i].perform == open_map ? sure_malloc : malloc, free);
        fail_at(n);
        status = calls[_i].perform();
        did_fail = fail_no_more();
        if (status == NG_OK && !did_fail)
            break;
        if (status == NG_OK) /* stdio can do without its buffer */
            continue;
        ck_assert_msg(did_fail, "%s: %s", calls[_i].name, error.text);
        ck_assert_msg(
            status == NG_NO_MEMORY
                || (status == NG_BAD_FILE && calls[_i].perform != take_step),
            "%s, allocation %d: %s", calls[_i].name, n, ng_status_text(status));
        ck_assert_msg(strstr(error.text, "memory") != NULL,
                      "%s, allocation %d: \"%s\"", calls[_i].name, n,
                      error.text);
    }
    ck_assert_msg(n >= calls[_i].least, "%s: %d", calls[_i].name, n);
    if (calls[_i].perform != load_one) {
        ck_assert_int_eq(step(&loss, &norm, whole), NG_OK);
        ck_assert(loss == want[0] && norm == want[1]);
    }
    fclose(printed);
    ng_model_free(whole);
}
END_TEST
#endif

int main(void)
{
    Suite *suite = suite_create("model, refusals");
    TCase *tcase = tcase_create("refusals");

    tcase_add_checked_fixture(tcase, begin, end);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, configurations);
    tcase_add_test(tcase, layers_of_recipes);
    tcase_add_test(tcase, formats_of_each_way);
    tcase_add_test(tcase, recipe_files);
    tcase_add_test(tcase, turns);
    tcase_add_test(tcase, parameters);
    tcase_add_test(tcase, shards);
    tcase_add_test(tcase, explanations);
    tcase_add_test(tcase, bytes_of_copies);
    tcase_add_test(tcase, maps);
    tcase_add_test(tcase, ranks_that_are_cut_off);
    tcase_add_test(tcase, a_rank_by_itself);
    tcase_add_test(tcase, trees);
#ifdef FAILING_MEMORY
    tcase_add_loop_test(tcase, memory, 0, (int)(sizeof calls / sizeof *calls));
#endif
    suite_add_tcase(suite, tcase);
    return scratch_run(suite);
}
