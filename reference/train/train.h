/* SPDX-License-Identifier: Apache-2.0
 *
 * A training run: model, optimizer, tokens, log and checkpoints, over a
 * backend and any number of ranks. Nothing here computes: forward, backward,
 * sums and steps are the model's, the backend's and the optimizer's.
 *
 * A step is config->shards shards of config->sequences sequences. Which
 * sequences they are depends on seed and step alone, and the model sums the
 * shards in a fixed tree: losses, weights, logs (but for times, the bytes of
 * rank 0's parameters and what goes over the wire) and checkpoints are the same
 * bits on any number of ranks, and after any number of stops.
 *
 *     ng_train_config_read(&config, path, NULL, 0, &error);
 *     ng_recipe_open(&recipe, config.recipe, &error);
 *     ng_train_create(&train, &config, &recipe, &options, &error);
 *     ng_train_run(train, until, &error);
 *     ng_train_free(train);
 *
 * The directory config->run holds log.jsonl and the checkpoints. Of the log's
 * lines "event" tells the kind:
 *   start       seed, recipe, backend, parameters, tokens of both texts, bytes
 *               by kind as the optimizer of rank 0 keeps them, and the loss of
 *               the trigram model (trigram.h) on the sequences of evaluation;
 *               pretrained (the files) where first weights are not drawn;
 *               configuration: a checksum of all fields but paths, of the
 *               recipe and of the texts; operations: the kernels of the
 *               recipe's by site
 *   step        step, loss, mtp_loss, balance_loss, norm (of all gradients,
 *               before clipping), lr, skipped (steps so far), taken (false: a
 *               gradient was not finite), tokens (so far), seconds and
 *               tokens_per_second of this step,
 *               sent     bytes: dispatch, combine, grad_y, grad_x; wire: of
 *                        those, to other ranks
 *               stored   bytes of activations of a shard, kept from forward to
 *                        backward on whatever rank: moe, attention, other
 *               converted: elements quantised, and of them inexact,
 *                        saturated, ... (events.h); uncounted: those more that
 *                        a kernel of the recipe's quantised, of whose events
 *                        nothing is known
 *               nan_rows of routers, load [moe layers][experts]
 *   evaluation  step, loss
 *   sample      step, text
 * A number that JSON lacks is the text "nan", "inf" or "-inf".
 */
#ifndef NG_REFERENCE_TRAIN_TRAIN_H
#define NG_REFERENCE_TRAIN_TRAIN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "formats/status.h"
#include "reference/backend.h"
#include "reference/model/model.h"
#include "reference/optim/optimizer.h"
#include "reference/train/comm.h"
#include "reference/train/train_config.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ng_train ng_train;

/* What people are told after a step, on rank 0. */
typedef struct ng_train_progress {
    int64_t step, steps; /* of the whole run */
    int64_t until;       /* the step at which it ends, if not stopped */
    double loss, norm, lr;
    double tokens_per_second;
    double evaluation; /* the last one; NaN: none yet */
    int64_t skipped;
    bool evaluated, saved; /* in this step */
} ng_train_progress;

typedef struct ng_train_options {
    const ng_backend *backend;
    const ng_comm *comm;
    /* A run's directory (its last checkpoint), or a checkpoint; null: begin
     * anew, which refuses a directory that holds checkpoints. Either refuses
     * one whose log another process writes. */
    const char *resume;
    bool read_only; /* nothing is written: to sample or to evaluate */
    /* Not 0: stop after the step under way, as if `until` were there. */
    const volatile sig_atomic_t *stop;
    void (*progress)(void *context, const ng_train_progress *progress);
    void *context;
} ng_train_options;

/* What the log calls the configuration of such a run, without making one.
 *   text  out  [NG_CHECKSUM_TEXT] (formats/files/checksum.h)
 * Returns NG_OK, or what ng_train_create does of the texts. */
ng_status ng_train_configuration(char *text, const ng_train_config *config,
                                 const ng_recipe *recipe, ng_error *error);

/* Make a directory and those above it that are missing, to last. Returns NG_OK or
 * NG_BAD_FILE. */
ng_status ng_train_make_directory(const char *path, ng_error *error);

/* Make a run, at step 0 or as the checkpoint has it. Collective. config and
 * recipe are borrowed.
 * Returns NG_OK; NG_BAD_FILE, NG_BAD_SHAPE (too short a text), NG_BAD_VALUE,
 * NG_NOT_COVERED or NG_BAD_SUBJECT (recipe), or NG_NO_MEMORY with *out
 * untouched, and on the ranks that are well a line that another one failed;
 * NG_BAD_FILE on all of them where their configurations, recipes, texts or
 * checkpoints are not the same. Null may be freed. */
ng_status ng_train_create(ng_train **out, const ng_train_config *config,
                          const ng_recipe *recipe,
                          const ng_train_options *options, ng_error *error);
void ng_train_free(ng_train *train);

/* Step until step `until` (at most config->steps) is done, with evaluations,
 * samples and checkpoints on the way and a checkpoint at the end. Collective:
 * on more than one rank an error inside a step is fatal to all of them, and the
 * caller has to abort. *stopped (may be null): whether options->stop ended it.
 */
ng_status ng_train_run(bool *stopped, ng_train *train, int64_t until,
                       ng_error *error);

/* The mean loss over the sequences of evaluation. Collective. */
ng_status ng_train_evaluate(double *loss, ng_train *train, ng_error *error);

/* Go on with a text. Collective; the same on every rank.
 *   text    out  tokens, prompt included, as bytes; anything but printable
 *                ASCII and line feeds as '?'. Tokens that are no bytes: their
 *                numbers. To be freed.
 *   prompt  in   text; where tokens are no bytes, or it is empty: one token 0
 *   n       in   how many tokens to add */
ng_status ng_train_sample(char **text, ng_train *train, const char *prompt,
                          int64_t n, ng_error *error);

/* Steps so far; those of them that were skipped; the yardstick's loss, NaN where
 * there is none, on other ranks than 0 and where nothing is written; the loss of
 * the last evaluation and its step. Before the first one of this run the step is
 * -1 and the loss that of the run that is resumed, or NaN. */
int64_t ng_train_step_of(const ng_train *train);
int64_t ng_train_skipped(const ng_train *train);
double ng_train_trigram(const ng_train *train);
double ng_train_last_evaluation(const ng_train *train, int64_t *step);

/* The model that is trained, and the optimizer that holds the weights of this
 * rank's parameters, in the model's order; for tests. */
const ng_optimizer *ng_train_optimizer(const ng_train *train);
ng_model *ng_train_model(ng_train *train);

#ifdef __cplusplus
}
#endif

#endif
