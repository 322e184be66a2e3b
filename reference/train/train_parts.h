/* SPDX-License-Identifier: Apache-2.0
 *
 * What a training run is made of. Private to train*.c.
 */
#ifndef NG_REFERENCE_TRAIN_TRAIN_PARTS_H
#define NG_REFERENCE_TRAIN_TRAIN_PARTS_H

#include <jansson.h>

#include "reference/train/train.h"
#include "reference/train/train_log.h"

enum { NG_TRAIN_DECAYED, NG_TRAIN_NOT_DECAYED, NG_TRAIN_N_GROUPS };

struct ng_train {
    const ng_train_config *config;
    const ng_recipe *recipe;
    ng_train_options options;
    ng_schedule schedule;
    ng_model *model;
    ng_optimizer *optimizer; /* the parameters of this rank */
    int64_t *number;         /* [model parameters] of it; -1: another rank's */
    float *theta;            /* [the largest parameter], host */
    float *loaded;           /* the same, in the backend's memory */

    ng_tokens text, other;        /* other: n = 0 where there is none */
    int64_t n_train;              /* of text */
    const ng_tokens *valid;       /* text or other */
    int64_t first_valid, n_valid; /* of it */
    int64_t n_evaluated;          /* sequences of an evaluation */
    int32_t *tokens, *targets;    /* of a shard, host */

    char log_path[2 * NG_TRAIN_MAX_TEXT];
    ng_train_log log; /* rank 0, and not read_only */
    int64_t step, skipped;
    double trigram, evaluation; /* NaN: none */
    int64_t evaluated_at;       /* the step of the latter; -1: not of this run */
    uint64_t digest;            /* the same on every rank */
};

/* One line, and the status: for an analyser that does not know ng_fail. */
static inline ng_status ng_train_no_memory(ng_error *error)
{
    (void)ng_fail(error, NG_NO_MEMORY, "train: out of memory");
    return NG_NO_MEMORY;
}

/* Whether this rank keeps the log and the checkpoints. */
static inline bool ng_train_writes(const ng_train *train)
{
    return train->options.comm->rank == 0 && !train->options.read_only;
}

/* ---- train_ranks.c ------------------------------------------------------ */

/* Whether all ranks are well: NG_OK, or a rank's own status, or a line that
 * names the first rank that is not. Collective. */
ng_status ng_train_agree(const ng_comm *comm, ng_status status,
                         ng_error *error);

/* Whether a number is the same on every rank. Collective. */
ng_status ng_train_same(bool *same, const ng_comm *comm, int64_t number,
                        ng_error *error);

/* The largest of the ranks' numbers. Collective. */
ng_status ng_train_largest(int64_t *number, const ng_comm *comm,
                           ng_error *error);

/* ---- train_batch.c ------------------------------------------------------ */

/* Open the texts and share them out. */
ng_status ng_train_open_texts(ng_train *train, ng_error *error);

/* The tokens of shard `shard` of step `step` (from 1), or of an evaluation, in
 * train->tokens and targets; a shard of -1 has none. */
ng_status ng_train_batch(ng_model_shard *out, ng_train *train, int64_t step,
                         int64_t shard, ng_error *error);
ng_status ng_train_evaluation_batch(ng_model_shard *out, ng_train *train,
                                    int64_t shard, ng_error *error);

/* The first token of sequence i of an evaluation. */
int64_t ng_train_evaluated(const ng_train *train, int64_t i);

/* ---- train_evaluate.c --------------------------------------------------- */

/* The trigram model's mean loss on what is evaluated; NaN where tokens are no
 * bytes, or too many to count. */
ng_status ng_train_measure_trigram(double *loss, const ng_train *train,
                                   ng_error *error);

/* ---- train_report.c ----------------------------------------------------- */

/* Write a line of the log, and release it; null is out of memory. A rank that
 * does not write releases it. */
ng_status ng_train_report(ng_train *train, json_t *line, ng_error *error);

json_t *ng_train_start_line(const ng_train *train);

typedef struct ng_train_step_report {
    ng_model_result result;
    double norm, lr, seconds;
    bool taken;
} ng_train_step_report;

json_t *ng_train_step_line(const ng_train *train,
                           const ng_train_step_report *report);

/* ---- train_pretrained.c ------------------------------------------------- */

/* The weights of this rank's parameters and the routers' biases from the files
 * that the configuration names. */
ng_status ng_train_take_pretrained(ng_train *train, ng_error *error);

/* ---- train_identity.c --------------------------------------------------- */

/* The kernels of the recipe's: an object {"expert": "SUBJECT:OPERATION", "layer 3
 * ffn": ...}, without members where it names none; "none" where a layer takes one
 * back. Null without memory. */
json_t *ng_train_operations(const ng_recipe *recipe);

/* What two runs must have in common for one to go on where the other stopped:
 * an object of fields of the configuration, recipe and texts included. Null
 * without memory. */
json_t *ng_train_identity(const ng_train *train);

/* A checksum of it and of every other field of the configuration but paths: what
 * the ranks of a run must have in common. */
ng_status ng_train_digest(uint64_t *digest, const ng_train *train,
                          ng_error *error);

/* NG_OK, or a line that begins with `path` for the first field that differs. */
ng_status ng_train_check_identity(const ng_train *train, const json_t *other,
                                  const char *path, ng_error *error);

/* ---- train_save.c, train_resume.c --------------------------------------- */

/* An optimizer with the groups and the parameters of the run: those of this
 * rank, on the backend, or (all) every one, on the host. Its weights are 0. */
ng_status ng_train_new_optimizer(ng_optimizer **out, const ng_train *train,
                                 bool all, ng_error *error);

/* Write the checkpoint of this step, and drop old ones. Collective. */
ng_status ng_train_save(ng_train *train, ng_error *error);

/* Take up the checkpoint that options->resume names. Not collective; the log is
 * opened where it left off. */
ng_status ng_train_resume(ng_train *train, ng_error *error);

/* Give the model the optimizer's weights. */
ng_status ng_train_load_model(ng_train *train, ng_error *error);

#endif
