/* SPDX-License-Identifier: Apache-2.0
 *
 * The training loop as a library: ranks that are threads of this process write
 * the same checkpoints and log the same losses as one rank, also where their
 * number changes on the way; what one rank cannot do, all refuse; and where an
 * allocation fails the line says so and the last checkpoint is whole.
 */
#define _XOPEN_SOURCE 700
#include <check.h>
#include <math.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "conformance/checks/failing_memory.h"
#include "conformance/checks/model_ranks.h"
#include "conformance/checks/scratch.h"
#include "reference/model/recipe.h"
#include "reference/train/checkpoint.h"
#include "reference/train/train.h"
#include "reference/train/train_config.h"

static const char yaml[] =
    "run: none\n"
    "seed: 7\n"
    "steps: 4\n"
    "model: {vocabulary: 256, hidden: 32, layers: 2, length: 16,\n"
    "  attention: mla, heads: 2, q_rank: 16, kv_rank: 16, nope_dim: 8,\n"
    "  rope_dim: 8, v_dim: 8, ffn: 32, dense_layers: 1, experts: 5,\n"
    "  shared_experts: 1, top_k: 2, expert_ffn: 16, bias_speed: 0.001}\n"
    "data: {train: none, validation_share: 0.1}\n"
    "batch: {sequence: 8, sequences: 2, shards: 5}\n"
    "optimizer: {lr: 0.003}\n"
    "schedule: {warmup: 2}\n"
    "evaluation: {every: 2, sequences: 7}\n"
    "checkpoint: {every: 2, keep: 2, shard_mib: 1}\n"
    "sample: {every: 4, tokens: 6, prompt: \"a b\"}\n";

static ng_recipe recipe;
static ng_error error;

static void set_up(void)
{
    char text[3000];

    scratch_make();
    for (size_t i = 0; i < sizeof text; i++) /* some structure, some not */
        text[i] = "the rain in spain falls "[i * i / 7 % 24];
    scratch_write("text", text, sizeof text);
    scratch_write("c.yaml", yaml, sizeof yaml - 1);
    ck_assert_int_eq(ng_recipe_open(&recipe, "mxfp4", &error), NG_OK);
}

static void clear(void)
{
    ng_recipe_free(&recipe);
    scratch_remove();
}

static ng_train_config config_of(const char *run, const char *data)
{
    ng_train_config config;
    char in[600], out[600];
    const char *const set[] = {in, out};

    snprintf(in, sizeof in, "data.train=%s", scratch_path(data));
    snprintf(out, sizeof out, "run=%s", scratch_path(run));
    ck_assert_msg(
        ng_train_config_read(&config, scratch_path("c.yaml"), set, 2, &error)
            == NG_OK,
        "%s", error.text);
    return config;
}

/* ---- a part of a run, on one of the ranks ---------------------------------- */

typedef struct part {
    const ng_train_config *config;
    const char *resume;
    int64_t until;
    /* out */
    ng_status status;
    ng_error error;
    bool stopped;
    double evaluated;
    char *sample;
} part;

static ng_status try_part(part *p, const ng_comm *comm)
{
    const ng_train_options options = {
        .backend = ng_backend_reference(), .comm = comm, .resume = p->resume};
    ng_train *train = NULL;
    ng_status status =
        ng_train_create(&train, p->config, &recipe, &options, &p->error);

    if (status == NG_OK)
        status = ng_train_run(&p->stopped, train, p->until, &p->error);
    if (status == NG_OK)
        status = ng_train_evaluate(&p->evaluated, train, &p->error);
    if (status == NG_OK)
        status = ng_train_sample(&p->sample, train, "the ", 5, &p->error);
    ng_train_free(train);
    return status;
}

static void do_part(void *argument, const ng_comm *comm)
{
    part *p = argument;

#ifdef _OPENMP
    omp_set_num_threads(1);
#endif
    p->status = try_part(p, comm);
}

/* The same part on every rank. All end alike; the last one's results. */
static part on_ranks(int ranks, const ng_train_config *config,
                     const char *resume, int64_t until)
{
    part parts[MAX_RANKS] = {{.config = NULL}};
    void *arguments[MAX_RANKS] = {NULL};

    for (int r = 0; r < ranks; r++) {
        parts[r] = (part){.config = config, .resume = resume, .until = until};
        arguments[r] = &parts[r];
    }
    run_ranks(ranks, do_part, arguments);
    for (int r = 0; r < ranks; r++)
        ck_assert_msg(parts[r].status == NG_OK, "rank %d of %d: %s", r, ranks,
                      parts[r].error.text);
    for (int r = 1; r < ranks; r++) {
        ck_assert_double_eq(parts[r].evaluated, parts[0].evaluated);
        ck_assert_str_eq(parts[r].sample, parts[0].sample);
        free(parts[r].sample);
    }
    return parts[0];
}

static void same_file(const char *one, const char *two, const char *name)
{
    char path[2][600];
    size_t n[2];
    unsigned char *bytes[2];

    snprintf(path[0], sizeof path[0], "%s/%s", scratch_path(one), name);
    snprintf(path[1], sizeof path[1], "%s/%s", scratch_path(two), name);
    bytes[0] = scratch_read(&n[0], path[0]);
    bytes[1] = scratch_read(&n[1], path[1]);
    ck_assert_msg(n[0] == n[1] && memcmp(bytes[0], bytes[1], n[0]) == 0,
                  "%s: %s and %s differ", name, one, two);
    free(bytes[0]);
    free(bytes[1]);
}

static void same_runs(const char *one, const char *two)
{
    same_file(one, two, "step-0000000004/parameters-00000.safetensors");
    same_file(one, two, "step-0000000004/router.safetensors");
    same_file(one, two, "step-0000000002/parameters-00000.safetensors");
}

/* ---- tests ------------------------------------------------------------------ */

START_TEST(ranks_write_the_same)
{
    const ng_train_config alone = config_of("alone", "text");
    const ng_train_config many = config_of("many", "text");
    char resume[600];
    part one = on_ranks(1, &alone, NULL, 4);
    part more = on_ranks(3, &many, NULL, 2);

    ck_assert(!one.stopped && isfinite(one.evaluated));
    ck_assert_int_eq(strncmp(one.sample, "the ", 4), 0);
    ck_assert_uint_eq(strlen(one.sample), 9);
    free(more.sample);
    snprintf(resume, sizeof resume, "%s", scratch_path("many"));
    more = on_ranks(2, &many, resume, 4);
    ck_assert_double_eq(more.evaluated, one.evaluated);
    ck_assert_str_eq(more.sample, one.sample);
    same_runs("alone", "many");
    free(more.sample);
    /* more ranks than shards and experts; at its end it does nothing */
    more = on_ranks(7, &many, resume, 4);
    ck_assert_double_eq(more.evaluated, one.evaluated);
    same_runs("alone", "many");
    free(more.sample);
    free(one.sample);
}
END_TEST

/* What one cannot do: the others say which one. */
START_TEST(ranks_agree)
{
    const ng_train_config good = config_of("run", "text");
    const ng_train_config bad = config_of("run", "missing");
    part parts[3] = {{.config = &good, .until = 1},
                     {.config = &bad, .until = 1},
                     {.config = &good, .until = 1}};
    void *arguments[3] = {&parts[0], &parts[1], &parts[2]};

    run_ranks(3, do_part, arguments);
    for (int r = 0; r < 3; r++)
        ck_assert_int_eq(parts[r].status, NG_BAD_FILE);
    ck_assert_ptr_nonnull(strstr(parts[1].error.text, "missing: open"));
    ck_assert_ptr_nonnull(strstr(parts[0].error.text, "rank 1 failed"));
    ck_assert_ptr_nonnull(strstr(parts[2].error.text, "rank 1 failed"));
}
END_TEST

/* Disks of their own: another text, or another learning rate, on one of them. */
START_TEST(trap_ranks_of_two_minds)
{
    const ng_train_config one = config_of("run", "text");
    ng_train_config two = config_of("elsewhere", "text");
    ng_train_config texts[2];
    char text[3000];
    part parts[2];
    void *arguments[2] = {&parts[0], &parts[1]};

    memset(text, 'x', sizeof text);
    scratch_write("other", text, sizeof text);
    two.hyper.lr = 0.002;
    texts[0] = two;
    texts[1] = config_of("run", "other");
    for (int i = 0; i < 2; i++) {
        parts[0] = (part){.config = &one, .until = 1};
        parts[1] = (part){.config = &texts[i], .until = 1};
        run_ranks(2, do_part, arguments);
        for (int r = 0; r < 2; r++) {
            ck_assert_int_eq(parts[r].status, NG_BAD_FILE);
            ck_assert_str_eq(parts[r].error.text,
                             "ranks: they read different configurations, "
                             "recipes or texts");
        }
    }
    /* only rank 0 writes: another place is no other run */
    two.hyper.lr = one.hyper.lr;
    parts[0] = (part){.config = &one, .until = 1};
    parts[1] = (part){.config = &two, .until = 1};
    run_ranks(2, do_part, arguments);
    for (int r = 0; r < 2; r++) {
        ck_assert_msg(parts[r].status == NG_OK, "%s", parts[r].error.text);
        free(parts[r].sample);
    }
}
END_TEST

START_TEST(ranks_resume_the_same)
{
    const ng_train_config config = config_of("run", "text");
    char older[600], newer[600];
    part done = on_ranks(1, &config, NULL, 4);
    part parts[2];
    void *arguments[2] = {&parts[0], &parts[1]};

    free(done.sample);
    snprintf(older, sizeof older, "%s", scratch_path("run/step-0000000002"));
    snprintf(newer, sizeof newer, "%s", scratch_path("run/step-0000000004"));
    parts[0] = (part){.config = &config, .resume = older, .until = 4};
    parts[1] = (part){.config = &config, .resume = newer, .until = 4};
    run_ranks(2, do_part, arguments);
    for (int r = 0; r < 2; r++) {
        ck_assert_int_eq(parts[r].status, NG_BAD_FILE);
        ck_assert_ptr_nonnull(
            strstr(parts[r].error.text, "the ranks see different checkpoints"));
    }
}
END_TEST

/* ---- what goes through the table ----------------------------------------- */

static int n_steps, n_splits, n_merges;

static ng_status count_step(void *context, const ng_weights *theta,
                            const ng_state *m, const ng_state *v,
                            const ng_gradient *g, int64_t n,
                            const ng_step_constants *c, const ng_rules *rules,
                            ng_optim_counts *counts)
{
    n_steps++;
    return ng_backend_reference()->step(context, theta, m, v, g, n, c, rules,
                                        counts);
}

static ng_status count_split(void *context, const ng_weights *weights,
                             const float *theta, int64_t n,
                             const ng_rules *rules, ng_optim_counts *counts)
{
    n_splits++;
    return ng_backend_reference()->split(context, weights, theta, n, rules,
                                         counts);
}

static ng_status count_merge(void *context, float *theta,
                             const ng_weights *weights, int64_t n,
                             const ng_rules *rules)
{
    n_merges++;
    return ng_backend_reference()->merge(context, theta, weights, n, rules);
}

/* Every parameter's first value, its step and its new value are the backend's
 * to compute. */
START_TEST(steps_are_the_backends)
{
    const ng_train_config config = config_of("run", "text");
    ng_backend counting = *ng_backend_reference();
    const ng_train_options options = {.backend = &counting,
                                      .comm = ng_comm_self()};
    ng_train *train = NULL;
    int64_t n;

    counting.step = count_step;
    counting.split = count_split;
    counting.merge = count_merge;
    ck_assert_int_eq(
        ng_train_create(&train, &config, &recipe, &options, &error), NG_OK);
    n = ng_model_n_parameters(ng_train_model(train));
    ck_assert_int_eq(n_splits, n);
    ck_assert_int_eq(n_merges, n);
    ck_assert_int_eq(n_steps, 0);
    ck_assert_int_eq(ng_train_run(NULL, train, 2, &error), NG_OK);
    ck_assert_int_eq(n_steps, 2 * n);
    ck_assert_int_eq(n_merges, 3 * n);
    ck_assert_int_eq(n_splits, n);
    ng_train_free(train);
}
END_TEST

#ifdef FAILING_MEMORY
static ng_train_config short_config(const char *run)
{
    ng_train_config config = config_of(run, "text");

    config.shards = config.sequences = config.evaluate_sequences = 1;
    return config;
}

/* Steps 3 and 4 of a run whose steps 1 and 2 are there, with allocation n
 * failing: wherever it fails, step 2's checkpoint is whole and leads to the same
 * end. Most allocations repeat: the further, the fewer are tried. */
START_TEST(no_memory)
{
    const ng_train_config whole = short_config("whole");
    const ng_train_config config = short_config("run");
    char resume[600];
    int failures = 0;
    part p = on_ranks(1, &whole, NULL, 4);

    free(p.sample);
    p = on_ranks(1, &config, NULL, 2);
    free(p.sample);
    snprintf(resume, sizeof resume, "%s", scratch_path("run/step-0000000002"));
    for (int n = 0;; n += 1 + n / 2) {
        bool did_fail;

        p = (part){.config = &config, .resume = resume, .until = 4};
        json_set_alloc_funcs(sure_malloc, free); /* reads could not tell */
        fail_at(n);
        p.status = try_part(&p, ng_comm_self());
        did_fail = fail_no_more();
        json_set_alloc_funcs(malloc, free);
        if (p.status == NG_OK) { /* stdio can do without its buffer */
            free(p.sample);
            if (!did_fail)
                break;
            continue;
        }
        failures++;
        ck_assert_msg(did_fail, "allocation %d: %s", n, p.error.text);
        ck_assert_msg(strstr(p.error.text, "memory") != NULL,
                      "allocation %d: %s", n, p.error.text);
    }
    ck_assert_int_gt(failures, 10);
    same_runs("whole", "run");
}
END_TEST

/* The beginning of a run: weights, a directory, a log. */
START_TEST(no_memory_at_the_start)
{
    int failures = 0;

    for (int n = 0;; n += 1 + n / 2) {
        char name[32];
        bool did_fail;

        snprintf(name, sizeof name, "run-%d", n);

        const ng_train_config config = short_config(name);
        part p = {.config = &config, .until = 0};

        fail_at(n);
        p.status = try_part(&p, ng_comm_self());
        did_fail = fail_no_more();
        free(p.sample);
        if (p.status == NG_OK && !did_fail)
            break;
        failures += p.status != NG_OK;
        ck_assert_msg(
            p.status == NG_OK
                || (did_fail && strstr(p.error.text, "memory") != NULL),
            "allocation %d: %s", n, p.error.text);
    }
    ck_assert_int_gt(failures, 10);
}
END_TEST
#endif

int main(void)
{
    Suite *suite = suite_create("train_loop");
    TCase *tcase = tcase_create("train_loop");

    tcase_add_checked_fixture(tcase, set_up, clear);
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, ranks_write_the_same);
    tcase_add_test(tcase, ranks_agree);
    tcase_add_test(tcase, trap_ranks_of_two_minds);
    tcase_add_test(tcase, ranks_resume_the_same);
    tcase_add_test(tcase, steps_are_the_backends);
#ifdef FAILING_MEMORY
    tcase_add_test(tcase, no_memory);
    tcase_add_test(tcase, no_memory_at_the_start);
#endif
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
