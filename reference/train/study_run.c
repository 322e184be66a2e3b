/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/train/study_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/files/checksum.h"
#include "formats/files/file_error.h"
#include "formats/fp32.h"
#include "formats/profile.h"
#include "reference/model/ref_rows.h"
#include "reference/train/checkpoint.h"
#include "reference/train/study_model.h"
#include "reference/train/train_log.h"

static const char SHARD[] = "optimizer";

struct ng_study_run {
    ng_study_job job;
    int64_t step;
    int64_t first_valid; /* where the validation text begins */
    ng_optimizer *optimizer;
    ng_study_model *model;
    int64_t *positions; /* [the larger of batch and evaluated] */
    float *theta[NG_STUDY_N_TENSORS];
    float *grad[NG_STUDY_N_TENSORS];
    uint16_t *bf16; /* [the largest parameter] */
};

static ng_status no_memory(ng_error *error)
{
    return ng_fail(error, NG_NO_MEMORY, "study: out of memory");
}

static const ng_study_tensor *tensor(int i)
{
    return &ng_study_tensors[i];
}

static bool take_buffers(ng_study_run *run)
{
    const ng_study_setting *setting = run->job.setting;
    const int64_t positions = setting->batch > setting->evaluated
                                  ? setting->batch
                                  : setting->evaluated;
    int64_t largest = 0;

    for (int i = 0; i < NG_STUDY_N_TENSORS; i++) {
        const int64_t n = tensor(i)->n;

        run->theta[i] = malloc((size_t)n * sizeof **run->theta);
        run->grad[i] = malloc((size_t)n * sizeof **run->grad);
        if (run->theta[i] == NULL || run->grad[i] == NULL)
            return false;
        largest = n > largest ? n : largest;
    }
    run->bf16 = malloc((size_t)largest * sizeof *run->bf16);
    run->positions = malloc((size_t)positions * sizeof *run->positions);
    run->model = ng_study_model_create();
    return run->bf16 != NULL && run->positions != NULL && run->model != NULL;
}

/* Biases, group 1, are not decayed. */
static ng_status add_groups(ng_study_run *run, ng_error *error)
{
    const ng_study_recipe *recipe = run->job.recipe;
    ng_group_settings settings = {.hyper = run->job.task->hyper,
                                  .weights = recipe->weights,
                                  .correction_bits = recipe->correction_bits,
                                  .momentum = recipe->states,
                                  .variance = recipe->states,
                                  .gradients = NG_BF16};
    ng_status status =
        ng_optimizer_add_group(NULL, run->optimizer, &settings, error);

    settings.hyper.weight_decay = 0.0;
    if (status == NG_OK)
        status = ng_optimizer_add_group(NULL, run->optimizer, &settings, error);
    return status;
}

static ng_status add_parameters(ng_study_run *run, ng_error *error)
{
    ng_status status = NG_OK;

    for (int i = 0; i < NG_STUDY_N_TENSORS && status == NG_OK; i++) {
        const ng_study_tensor *t = tensor(i);
        float *theta = run->theta[i];

        ng_study_start(theta, i, run->job.seed);
        for (int64_t j = 0; run->job.recipe->nudged && j < t->n; j++)
            theta[j] = ng_fp32_from_bits(ng_fp32_bits(theta[j]) ^ 1u);
        status = ng_optimizer_add_parameter(NULL, run->optimizer, t->rank == 1,
                                            t->name, t->rank, t->shape, theta,
                                            error);
    }
    return status;
}

ng_status ng_study_run_create(ng_study_run **out, const ng_study_job *job,
                              ng_error *error)
{
    ng_profile profile;
    ng_study_run *run = calloc(1, sizeof *run);

    if (run == NULL)
        return no_memory(error);
    run->job = *job;
    run->first_valid = job->text->n - job->text->n / 10;

    ng_status status = ng_profile_load(&profile, job->recipe->profile, error);

    if (status == NG_OK
        && (run->first_valid <= NG_STUDY_CONTEXT
            || job->text->n - run->first_valid < 1))
        status =
            ng_file_fail(error, NG_BAD_SHAPE, job->setting->text, NULL, "text",
                         "%" PRId64 " bytes are too few", job->text->n);
    if (status == NG_OK && !take_buffers(run))
        status = no_memory(error);
    if (status == NG_OK)
        status = ng_optimizer_create(&run->optimizer, job->task->kind,
                                     &profile.rules, error);
    if (status == NG_OK)
        status = add_groups(run, error);
    if (status == NG_OK)
        status = add_parameters(run, error);
    if (status == NG_OK)
        *out = run;
    else
        ng_study_run_free(run);
    return status;
}

void ng_study_run_free(ng_study_run *run)
{
    if (run == NULL)
        return;
    ng_optimizer_free(run->optimizer);
    ng_study_model_free(run->model);
    for (int i = 0; i < NG_STUDY_N_TENSORS; i++) {
        free(run->theta[i]);
        free(run->grad[i]);
    }
    free(run->bf16);
    free(run->positions);
    free(run);
}

static void widen(float *y, const uint16_t *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = ng_ref_of_bf16(x[i]);
}

static void narrow(uint16_t *y, const float *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = ng_ref_to_bf16(x[i]);
}

/* The weights that forward and backward use: BF16, which split weights are kept
 * in as they are. */
static void load_weights(ng_study_run *run)
{
    for (int i = 0; i < NG_STUDY_N_TENSORS; i++) {
        const ng_parameter *p = ng_optimizer_parameter(run->optimizer, i);
        const uint16_t *low = p->weights.low;

        if (p->weights.dtype == NG_FP32) {
            narrow(run->bf16, p->weights.low, p->n);
            low = run->bf16;
        }
        widen(run->theta[i], low, p->n);
    }
}

static ng_status store_gradients(ng_study_run *run, ng_error *error)
{
    for (int i = 0; i < NG_STUDY_N_TENSORS; i++) {
        void *gradient;
        const ng_status status =
            ng_optimizer_gradient(&gradient, run->optimizer, i, error);

        if (status != NG_OK)
            return status;
        narrow(gradient, run->grad[i], tensor(i)->n);
    }
    return NG_OK;
}

ng_status ng_study_run_step(double *loss, ng_study_run *run, ng_error *error)
{
    const ng_study_setting *setting = run->job.setting;
    const int64_t choices = run->first_valid - NG_STUDY_CONTEXT;
    const double lr =
        ng_study_lr(setting, run->job.task->hyper.lr, run->step + 1);

    load_weights(run);
    for (int64_t i = 0; i < setting->batch; i++)
        run->positions[i] =
            NG_STUDY_CONTEXT
            + ng_sample(run->job.seed, choices, run->step * setting->batch + i);
    *loss =
        ng_study_loss(run->model, run->grad, (const float *const *)run->theta,
                      run->job.text->tokens, run->positions, setting->batch);

    ng_status status = store_gradients(run, error);

    if (status != NG_OK)
        return status;
    for (int64_t i = 0; i < ng_optimizer_n_groups(run->optimizer); i++)
        ng_optimizer_hyper(run->optimizer, i)->lr = lr;
    status = ng_optimizer_step(NULL, run->optimizer, NULL, error);
    if (status == NG_OK)
        run->step++;
    return status;
}

double ng_study_run_evaluate(ng_study_run *run)
{
    const int64_t length = run->job.text->n - run->first_valid;
    const int64_t wanted = run->job.setting->evaluated;
    const int64_t n = wanted < length ? wanted : length;

    load_weights(run);
    for (int64_t i = 0; i < n; i++)
        run->positions[i] = run->first_valid + i * length / n;
    return ng_study_loss(run->model, NULL, (const float *const *)run->theta,
                         run->job.text->tokens, run->positions, n);
}

int64_t ng_study_run_steps(const ng_study_run *run)
{
    return run->step;
}

const ng_optimizer *ng_study_run_optimizer(const ng_study_run *run)
{
    return run->optimizer;
}

/* What a checkpoint must agree on to be of this job. */
static json_t *state_of(const ng_study_run *run)
{
    const ng_study_job *job = &run->job;
    char text[NG_CHECKSUM_TEXT], seed[32];

    ng_checksum_text(text,
                     ng_checksum(job->text->tokens, (size_t)job->text->n));
    snprintf(seed, sizeof seed, "%" PRIu64, job->seed);
    return json_pack("{s:s, s:s, s:s, s:I, s:s, s:I, s:I, s:o, s:o}",
                     "optimizer", ng_optimizer_name(job->task->kind), "recipe",
                     job->recipe->name, "seed", seed, "batch",
                     (json_int_t)job->setting->batch, "text", text, "steps",
                     (json_int_t)job->setting->steps, "warmup",
                     (json_int_t)job->setting->warmup, "final_lr",
                     ng_json_number(job->setting->final_lr), "lr",
                     ng_json_number(job->task->hyper.lr));
}

/* Whether a checkpoint's state is this run's. */
static ng_status check_state(const json_t *mine, const json_t *theirs,
                             const char *path, ng_error *error)
{
    const char *name;
    json_t *value;

    json_object_foreach((json_t *)mine, name, value)
    {
        if (!json_equal(value, json_object_get(theirs, name)))
            return ng_file_fail(error, NG_BAD_FILE, path, NULL, "state",
                                "\"%s\" is not this run's", name);
    }
    return NG_OK;
}

ng_status ng_study_run_save(const ng_study_run *run, const char *root,
                            ng_error *error)
{
    ng_checkpoint_writer writer;
    ng_tensor_file tensors = {0};
    json_t *state = state_of(run);
    ng_status status = state == NULL ? no_memory(error) : NG_OK;

    if (status == NG_OK)
        status = ng_optimizer_to_tensors(&tensors, run->optimizer, error);
    if (status == NG_OK)
        status = ng_checkpoint_begin(&writer, root, run->step, error);
    if (status == NG_OK) {
        status = ng_checkpoint_add(&writer, SHARD, &tensors, error);
        if (status == NG_OK)
            status = ng_checkpoint_commit(&writer, state, error);
        else
            ng_checkpoint_abandon(&writer);
    }
    ng_tensor_file_free(&tensors);
    json_decref(state);
    return status;
}

ng_status ng_study_run_resume(ng_study_run *run, const char *path,
                              ng_error *error)
{
    char shard[4096]; /* for error lines, which hold less */
    ng_checkpoint checkpoint;
    ng_tensor_file tensors = {0};
    ng_status status = ng_checkpoint_open(&checkpoint, path, error);

    if (status != NG_OK)
        return status;

    json_t *state = state_of(run);

    if (state == NULL)
        status = no_memory(error);
    else
        status = check_state(state, checkpoint.state, path, error);
    if (status == NG_OK)
        status = ng_checkpoint_load(&tensors, &checkpoint, SHARD, error);
    snprintf(shard, sizeof shard, "%s/%s.safetensors", path, SHARD);
    if (status == NG_OK)
        status =
            ng_optimizer_from_tensors(run->optimizer, &tensors, shard, error);
    if (status == NG_OK)
        run->step = checkpoint.step;
    ng_tensor_file_free(&tensors);
    json_decref(state);
    ng_checkpoint_close(&checkpoint);
    return status;
}
