/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/train/train.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "formats/files/file_error.h"
#include "reference/train/checkpoint.h"
#include "reference/train/checkpoint_files.h"
#include "reference/train/train_parts.h"

static double seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- making a run ------------------------------------------------------- */

ng_status ng_train_make_directory(const char *path, ng_error *error)
{
    char part[NG_TRAIN_MAX_TEXT];

    snprintf(part, sizeof part, "%s", path);
    for (char *at = part + 1; at[-1] != '\0'; at++) {
        const char here = *at;

        if (here != '/' && here != '\0')
            continue;
        *at = '\0';
        if (mkdir(part, 0777) == 0)
            ng_checkpoint_sync_above(part);
        else if (errno != EEXIST)
            return ng_file_fail(error, NG_BAD_FILE, part, NULL, "directory",
                                "%s", strerror(errno));
        *at = here;
        if (here == '\0')
            break;
    }
    return NG_OK;
}

/* The directory of a run that begins, which has no checkpoints, and its log. */
static ng_status open_run(ng_train *train, ng_error *error)
{
    const char *run = train->config->run;
    char *path = NULL;
    ng_status status = ng_train_make_directory(run, error);

    if (status == NG_OK)
        status = ng_checkpoint_latest(&path, run, error);
    if (status == NG_OK && path != NULL)
        status = ng_file_fail(error, NG_BAD_FILE, run, NULL, "run",
                              "holds checkpoints: resume it, or give another");
    free(path);
    if (status == NG_OK)
        status = ng_train_log_open(&train->log, train->log_path, 0, error);
    return status;
}

/* The optimizer, and which parameter of it is which of the model's. */
static ng_status take_optimizer(ng_train *train, ng_error *error)
{
    const ng_backend *backend = train->options.backend;
    const int64_t n = ng_model_n_parameters(train->model);
    int64_t number = 0, largest = 0;
    ng_status status =
        ng_train_new_optimizer(&train->optimizer, train, false, error);

    if (status != NG_OK)
        return status;
    train->number = calloc((size_t)n + 1, sizeof *train->number);
    for (int64_t p = 0; p < n && train->number != NULL; p++) {
        const ng_model_parameter *of = ng_model_parameter_of(train->model, p);

        train->number[p] = of->local ? number++ : -1;
        largest = of->local && of->n > largest ? of->n : largest;
    }
    train->theta = malloc((size_t)largest * sizeof *train->theta + 1);
    train->loaded = backend->alloc(backend->context,
                                   largest * (int64_t)sizeof *train->loaded);
    return train->number == NULL || train->theta == NULL
                   || (train->loaded == NULL && largest > 0)
               ? ng_train_no_memory(error)
               : NG_OK;
}

static ng_status start_weights(ng_train *train, ng_error *error)
{
    ng_status status = NG_OK;

    for (int64_t p = 0;
         p < ng_model_n_parameters(train->model) && status == NG_OK; p++) {
        if (train->number[p] < 0)
            continue;
        ng_model_initial(train->theta, train->model, p,
                         (uint64_t)train->config->seed);
        status = ng_optimizer_import(train->optimizer, train->number[p],
                                     train->theta, error);
    }
    return status;
}

/* All that a rank does by itself. */
static ng_status prepare(ng_train *train, ng_error *error)
{
    const ng_train_options *options = &train->options;
    ng_status status = ng_train_open_texts(train, error);

    if (status == NG_OK)
        status =
            ng_model_create(&train->model, &train->config->model, train->recipe,
                            options->backend, options->comm, error);
    if (status == NG_OK)
        status = take_optimizer(train, error);
    if (status == NG_OK)
        status = ng_train_digest(&train->digest, train, error);
    if (status != NG_OK)
        return status;
    if (options->resume != NULL)
        status = ng_train_resume(train, error);
    else {
        status = train->config->pretrained[0] != '\0'
                     ? ng_train_take_pretrained(train, error)
                     : start_weights(train, error);
        if (status == NG_OK && ng_train_writes(train))
            status = open_run(train, error);
    }
    if (status == NG_OK)
        status = ng_train_load_model(train, error);
    if (status == NG_OK && ng_train_writes(train)) /* who samples waits for it */
        status = ng_train_measure_trigram(&train->trigram, train, error);
    if (status == NG_OK && options->resume == NULL)
        status = ng_train_report(train, ng_train_start_line(train), error);
    return status;
}

ng_status ng_train_create(ng_train **out, const ng_train_config *config,
                          const ng_recipe *recipe,
                          const ng_train_options *options, ng_error *error)
{
    ng_train *train = calloc(1, sizeof *train);
    bool same = true;
    ng_status status;

    if (train == NULL)
        status = ng_train_no_memory(error);
    else {
        train->config = config;
        train->recipe = recipe;
        train->options = *options;
        train->schedule = ng_train_schedule(config);
        train->log = (ng_train_log){.descriptor = -1};
        train->trigram = train->evaluation = NAN;
        train->evaluated_at = -1;
        snprintf(train->log_path, sizeof train->log_path, "%s/log.jsonl",
                 config->run);
        status = prepare(train, error);
    }
    status = ng_train_agree(options->comm, status, error);
    if (status == NG_OK && train != NULL)
        status =
            ng_train_same(&same, options->comm, (int64_t)train->digest, error);
    if (status == NG_OK && !same)
        status = ng_fail(error, NG_BAD_FILE,
                         "ranks: they read different configurations, recipes "
                         "or texts");
    if (status == NG_OK && train != NULL)
        status = ng_train_same(&same, options->comm, train->step, error);
    if (status == NG_OK && !same)
        status = ng_fail(error, NG_BAD_FILE,
                         "%s: resume: the ranks see different checkpoints",
                         options->resume);
    if (status == NG_OK)
        *out = train;
    else
        ng_train_free(train);
    return status;
}

void ng_train_free(ng_train *train)
{
    if (train == NULL)
        return;

    const ng_backend *backend = train->options.backend;

    (void)ng_train_log_close(&train->log, NULL);
    ng_model_free(train->model);
    ng_optimizer_free(train->optimizer);
    ng_tokens_close(&train->text);
    ng_tokens_close(&train->other);
    free(train->number);
    free(train->theta);
    if (train->loaded != NULL)
        backend->free(backend->context, train->loaded);
    free(train->tokens);
    free(train->targets);
    free(train);
}

/* ---- a step ------------------------------------------------------------- */

/* Forward and backward of every shard, and their sum. */
static ng_status differentiate(ng_model_result *result, ng_train *train,
                               int64_t step, ng_error *error)
{
    const ng_train_config *config = train->config;
    const ng_comm *comm = train->options.comm;
    int64_t first, last;
    ng_status status = ng_model_begin_step(
        train->model, config->shards,
        config->shards * config->sequences * config->sequence, error);

    ng_comm_share(&first, &last, config->shards, comm->rank, comm->size);
    for (int64_t wave = 0;
         wave < ng_comm_waves(config->shards, comm->size) && status == NG_OK;
         wave++) {
        const int64_t number = first + wave < last ? first + wave : -1;
        ng_model_shard shard;

        status = ng_train_batch(&shard, train, step, number, error);
        if (status == NG_OK)
            status = ng_model_forward_backward(train->model, &shard, error);
    }
    return status == NG_OK ? ng_model_end_step(result, train->model, error)
                           : status;
}

/* Hand the optimizer the gradient of a parameter of the model. */
static ng_status hand_over(ng_train *train, int64_t p, ng_error *error)
{
    const ng_backend *backend = train->options.backend;
    const int64_t bytes =
        ng_model_parameter_of(train->model, p)->n * (int64_t)sizeof(float);
    void *gradient;
    const ng_status status = ng_optimizer_gradient(&gradient, train->optimizer,
                                                   train->number[p], error);

    return status != NG_OK || bytes == 0
               ? status
               : backend->copy(backend->context, gradient,
                               ng_model_gradient(train->model, p), bytes);
}

/* Step each parameter as its gradient is handed over, which is then dropped:
 * the optimizer never holds more than one. The norm is known by now, so that
 * clipping, by *scale, goes with it. */
static ng_status apply(ng_train *train, const float *scale, ng_error *error)
{
    const bool others = train->options.comm->size > 1;
    ng_release_report report = {.partial = true};
    bool stepped;
    ng_status status = ng_optimizer_begin_release(train->optimizer, error);

    for (int64_t p = 0;
         p < ng_model_n_parameters(train->model) && status == NG_OK; p++) {
        if (train->number[p] < 0)
            continue;
        status = hand_over(train, p, error);
        if (status == NG_OK)
            status = ng_optimizer_release(&stepped, train->optimizer,
                                          train->number[p], scale, error);
    }
    if (status == NG_OK)
        status =
            ng_optimizer_end_release(&report, train->optimizer, others, error);
    /* The norm, which is known to be finite, has seen them all. */
    if (status == NG_OK && (report.partial || !report.advanced))
        status = ng_fail(error, NG_BAD_VALUE, "train: a step was not taken");
    return status;
}

/* One step. Where a gradient is not finite nothing changes but the count: on
 * every rank, since the norm is the same number on each. */
static ng_status take_step(ng_train_step_report *report, ng_train *train,
                           ng_error *error)
{
    const ng_train_config *config = train->config;
    const int64_t step = train->step + 1;
    const double start = seconds_now();
    float scale;
    ng_status status = differentiate(&report->result, train, step, error);

    if (status == NG_OK)
        status = ng_model_gradient_norm(&report->norm, train->model, error);
    if (status != NG_OK)
        return status;
    report->lr = config->hyper.lr * ng_schedule_share(&train->schedule, step);
    report->taken = isfinite(report->norm) && isfinite(report->result.loss);
    scale = (float)(config->clip / report->norm);
    if (report->taken) {
        for (int g = 0; g < NG_TRAIN_N_GROUPS; g++)
            ng_optimizer_hyper(train->optimizer, g)->lr = report->lr;
        status = apply(
            train,
            config->clip > 0.0 && report->norm > config->clip ? &scale : NULL,
            error);
        if (status == NG_OK) {
            ng_model_update_router(train->model);
            status = ng_train_load_model(train, error);
        }
    } else {
        status = ng_optimizer_skip(train->optimizer, error);
        train->skipped++;
    }
    train->step = step;
    report->seconds = seconds_now() - start;
    return status;
}

/* ---- the loop ----------------------------------------------------------- */

static bool is_due(int64_t every, int64_t step)
{
    return every > 0 && step % every == 0;
}

static ng_status report_evaluation(ng_train *train, ng_error *error)
{
    const ng_status status =
        ng_train_evaluate(&train->evaluation, train, error);

    train->evaluated_at = train->step;
    return status != NG_OK
               ? status
               : ng_train_report(train,
                                 json_pack("{s:s, s:I, s:o}", "event",
                                           "evaluation", "step",
                                           (json_int_t)train->step, "loss",
                                           ng_json_number(train->evaluation)),
                                 error);
}

static ng_status report_sample(ng_train *train, ng_error *error)
{
    const ng_train_config *config = train->config;
    char *text = NULL;
    ng_status status = ng_train_sample(&text, train, config->prompt,
                                       config->sample_tokens, error);

    if (status == NG_OK)
        status = ng_train_report(train,
                                 json_pack("{s:s, s:I, s:s}", "event", "sample",
                                           "step", (json_int_t)train->step,
                                           "text", text),
                                 error);
    free(text);
    return status;
}

/* What follows a step: evaluation, sample, checkpoint, in this order, so that a
 * checkpoint has all that was logged. */
static ng_status follow_up(ng_train *train, ng_train_progress *progress,
                           bool last, ng_error *error)
{
    const ng_train_config *config = train->config;
    ng_status status = NG_OK;

    progress->evaluated = is_due(config->evaluate_every, train->step);
    if (progress->evaluated)
        status = report_evaluation(train, error);
    if (status == NG_OK && is_due(config->sample_every, train->step))
        status = report_sample(train, error);
    progress->saved = (last || is_due(config->save_every, train->step))
                      && !train->options.read_only;
    if (status == NG_OK && progress->saved)
        status = ng_train_save(train, error);
    progress->evaluation = train->evaluation;
    return status;
}

/* Whether this is the last step: by number, or because some rank was told. */
static ng_status is_last(bool *last, bool *stopped, const ng_train *train,
                         int64_t until, ng_error *error)
{
    const ng_train_options *options = &train->options;
    int64_t stop = options->stop != NULL && *options->stop != 0;
    const ng_status status = ng_train_largest(&stop, options->comm, error);

    *stopped = stop != 0;
    *last = *stopped || train->step >= until;
    return status;
}

ng_status ng_train_run(bool *stopped, ng_train *train, int64_t until,
                       ng_error *error)
{
    const ng_train_config *config = train->config;
    const ng_train_options *options = &train->options;
    bool last, stop = false;
    ng_status status = NG_OK;

    until = until < config->steps ? until : config->steps;
    last = train->step >= until;
    while (!last && status == NG_OK) {
        ng_train_step_report report = {.norm = 0.0};

        status = take_step(&report, train, error);
        if (status == NG_OK)
            status = ng_train_report(train, ng_train_step_line(train, &report),
                                     error);
        if (status == NG_OK)
            status = is_last(&last, &stop, train, until, error);
        if (status != NG_OK)
            break;

        ng_train_progress progress = {
            .step = train->step,
            .steps = config->steps,
            .until = until,
            .loss = report.result.loss,
            .norm = report.norm,
            .lr = report.lr,
            .tokens_per_second = (double)report.result.targets / report.seconds,
            .skipped = train->skipped};

        status = follow_up(train, &progress, last, error);
        if (status == NG_OK && options->progress != NULL
            && options->comm->rank == 0)
            options->progress(options->context, &progress);
    }
    if (stopped != NULL)
        *stopped = stop;
    return status;
}

int64_t ng_train_step_of(const ng_train *train)
{
    return train->step;
}

int64_t ng_train_skipped(const ng_train *train)
{
    return train->skipped;
}

double ng_train_trigram(const ng_train *train)
{
    return train->trigram;
}

double ng_train_last_evaluation(const ng_train *train, int64_t *step)
{
    *step = train->evaluated_at;
    return train->evaluation;
}

const ng_optimizer *ng_train_optimizer(const ng_train *train)
{
    return train->optimizer;
}

ng_model *ng_train_model(ng_train *train)
{
    return train->model;
}
