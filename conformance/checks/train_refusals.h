/* SPDX-License-Identifier: Apache-2.0
 *
 * What a training run refuses: a small run over a text, and what a refusal is
 * held to: a status, one line with file and field, and the last checkpoint as it
 * was.
 */
#ifndef NG_CONFORMANCE_CHECKS_TRAIN_REFUSALS_H
#define NG_CONFORMANCE_CHECKS_TRAIN_REFUSALS_H

#ifdef _OPENMP
#include <omp.h>
#endif

#include "conformance/checks/scratch.h"
#include "reference/model/recipe.h"
#include "reference/train/train.h"
#include "reference/train/train_config.h"
#include "reference/train/train_parts.h"

static const char yaml[] = "run: none\n"
                           "seed: 7\n"
                           "steps: 4\n"
                           "model:\n"
                           "  vocabulary: 256\n"
                           "  hidden: 16\n"
                           "  layers: 2\n"
                           "  length: 16\n"
                           "  attention: mla\n"
                           "  heads: 2\n"
                           "  q_rank: 8\n"
                           "  kv_rank: 8\n"
                           "  nope_dim: 4\n"
                           "  rope_dim: 4\n"
                           "  v_dim: 4\n"
                           "  ffn: 16\n"
                           "  dense_layers: 1\n"
                           "  experts: 3\n"
                           "  shared_experts: 1\n"
                           "  top_k: 2\n"
                           "  expert_ffn: 8\n"
                           "data: {train: none, validation_share: 0.1}\n"
                           "batch: {sequence: 8, sequences: 1, shards: 2}\n"
                           "optimizer: {lr: 0.003}\n"
                           "schedule: {warmup: 2}\n"
                           "evaluation: {every: 2, sequences: 3}\n"
                           "checkpoint: {every: 2, keep: 3, shard_mib: 1}\n";

static ng_recipe recipe;
static ng_error error;

static inline void write_yaml(const char *more)
{
    char all[4096];

    snprintf(all, sizeof all, "%s%s", yaml, more);
    scratch_write("c.yaml", all, strlen(all));
}

static inline void set_up(void)
{
    char text[3000];

    scratch_make();
    for (size_t i = 0; i < sizeof text; i++) /* some structure, some not */
        text[i] = "the rain in spain falls "[i * i / 7 % 24];
    scratch_write("text", text, sizeof text);
    scratch_write("short", text, 50);
    scratch_write("other", text + 1000, 1000);
    write_yaml("");
    ck_assert_int_eq(ng_recipe_open(&recipe, "bf16", &error), NG_OK);
#ifdef _OPENMP
    omp_set_num_threads(1);
#endif
}

static inline void clear(void)
{
    ng_recipe_free(&recipe);
    scratch_remove();
}

static inline void expect(ng_status got, ng_status want, const char *words)
{
    ck_assert_msg(got == want, "want \"%s\", got \"%s\": %s",
                  ng_status_text(want), ng_status_text(got), error.text);
    ck_assert_msg(strstr(error.text, words) != NULL, "want \"%s\", got \"%s\"",
                  words, error.text);
    ck_assert_ptr_null(strchr(error.text, '\n'));
}

/* The configuration of `run` over the text, and what `set` (or null) changes. */
static inline ng_status read_config(ng_train_config *config, const char *set)
{
    char in[600], out[600];
    const char *assignments[3] = {in, out, set};

    snprintf(in, sizeof in, "data.train=%s", scratch_path("text"));
    snprintf(out, sizeof out, "run=%s", scratch_path("run"));
    return ng_train_config_read(config, scratch_path("c.yaml"), assignments,
                                set != NULL ? 3 : 2, &error);
}

static inline ng_train_config config_with(const char *set)
{
    ng_train_config config;

    ck_assert_msg(read_config(&config, set) == NG_OK, "%s", error.text);
    return config;
}

static inline ng_status start(ng_train **train, const ng_train_config *config,
                       const char *resume)
{
    const ng_train_options options = {.backend = ng_backend_reference(),
                                      .comm = ng_comm_self(),
                                      .resume = resume};

    return ng_train_create(train, config, &recipe, &options, &error);
}

/* From its start, or `resume`, to step `until`; the loss of an evaluation. */
static inline ng_status run(const ng_train_config *config, const char *resume,
                     int64_t until, double *loss)
{
    ng_train *train = NULL;
    ng_status status = start(&train, config, resume);

    if (status == NG_OK)
        status = ng_train_run(NULL, train, until, &error);
    if (status == NG_OK && loss != NULL)
        status = ng_train_evaluate(loss, train, &error);
    ng_train_free(train);
    return status;
}

/* Run a program's one case. */
static inline int run_refusals(TCase *tcase)
{
    Suite *suite = suite_create("train, refusals");

    tcase_add_checked_fixture(tcase, set_up, clear);
    tcase_set_timeout(tcase, 120);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}

#endif
