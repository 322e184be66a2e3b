/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/train/study.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "formats/files/file_error.h"
#include "reference/train/data.h"
#include "reference/train/study_coding.h"
#include "reference/train/study_losses.h"
#include "reference/train/study_result.h"
#include "reference/train/study_run.h"
#include "reference/train/train_log.h"

typedef struct study {
    const ng_study_setting *setting;
    const ng_study_options *options;
    ng_text text;
    ng_study_result *results;
    ng_study_result **order; /* the costliest first */
    int64_t n;
    int64_t done, total; /* evaluations */
} study;

int64_t ng_study_evaluation_step(const ng_study_setting *setting, int64_t i)
{
    return setting->steps * i / setting->evaluations;
}

static void describe(char *name, size_t size, const ng_study_job *job)
{
    snprintf(name, size, "%s-%s-%" PRIu64, ng_optimizer_name(job->task->kind),
             job->recipe->name, job->seed);
}

/* The path of a run's own file or root; "" if none is wanted. */
static ng_status own_path(char *path, size_t size, const char *directory,
                          const ng_study_job *job, const char *suffix,
                          ng_error *error)
{
    char name[64];

    *path = '\0';
    if (directory == NULL)
        return NG_OK;
    describe(name, sizeof name, job);
    if ((size_t)snprintf(path, size, "%s/%s%s", directory, name, suffix)
        >= size)
        return ng_file_fail(error, NG_BAD_FILE, directory, NULL, "name",
                            "too long");
    return NG_OK;
}

/* The study is about AdamW; of its FP32 runs the first gives the states to
 * measure, early, in the middle and at the end. */
static bool measures_coding(const ng_study_result *result, int64_t evaluation)
{
    const ng_study_job *job = &result->job;
    const int64_t n = job->setting->evaluations;

    return job->task->kind == NG_ADAMW && job->recipe == &ng_study_recipes[0]
           && job->seed == 1
           && (evaluation == (n + 9) / 10 || evaluation == (n + 1) / 2
               || evaluation == n);
}

static ng_status take_coding(ng_study_result *result, const ng_study_run *run,
                             ng_error *error)
{
    if (result->coding == NULL)
        result->coding = json_array();
    return ng_study_measure_coding(result->coding, ng_study_run_optimizer(run),
                                   ng_study_run_steps(run),
                                   result->job.task->hyper.eps, error);
}

static ng_status write_line(ng_train_log *log, int64_t step, double train,
                            double valid, ng_error *error)
{
    if (log->path == NULL)
        return NG_OK;

    json_t *line =
        json_pack("{s:I, s:o, s:o}", "step", (json_int_t)step, "train",
                  ng_json_number(train), "valid", ng_json_number(valid));
    const ng_status status =
        line == NULL
            ? ng_fail(error, NG_NO_MEMORY, "%s: line: out of memory", log->path)
            : ng_train_log_line(log, line, error);

    json_decref(line);
    return status;
}

/* Train to evaluation i and evaluate. */
static ng_status advance(ng_study_result *result, ng_study_run *run, int64_t i,
                         ng_train_log *log, ng_error *error)
{
    const int64_t until = ng_study_evaluation_step(result->job.setting, i);
    const int64_t from = ng_study_run_steps(run);
    double sum = 0.0;
    ng_status status = NG_OK;

    while (ng_study_run_steps(run) < until && status == NG_OK) {
        double loss = 0.0;

        status = ng_study_run_step(&loss, run, error);
        sum += loss;
    }
    if (status != NG_OK)
        return status;
    result->train[i] = until > from ? sum / (double)(until - from) : NAN;
    result->valid[i] = ng_study_run_evaluate(run);
    if (measures_coding(result, i))
        status = take_coding(result, run, error);
    if (status == NG_OK)
        status =
            write_line(log, until, result->train[i], result->valid[i], error);
    return status;
}

static void tell(study *s, const ng_study_job *job, int64_t evaluations)
{
    char what[64];

#ifdef _OPENMP
#pragma omp critical(ng_study_tell)
#endif
    {
        s->done += evaluations;
        if (s->options != NULL && s->options->progress != NULL) {
            describe(what, sizeof what, job);
            s->options->progress(s->options->context, what, s->done, s->total);
        }
    }
}

/* A run that has met a NaN is over: NaN it stays, in any recipe's weights. */
static ng_status train(study *s, ng_study_result *result, ng_study_run *run,
                       ng_train_log *log, ng_error *error)
{
    const int64_t n = s->setting->evaluations;
    int64_t i = 0;
    bool met = false;

    for (; i <= n && !met; i++) {
        const ng_status status = advance(result, run, i, log, error);

        if (status != NG_OK)
            return status;
        tell(s, &result->job, 1);
        met = !isfinite(result->valid[i]);
    }
    if (i <= n)
        tell(s, &result->job, n + 1 - i);
    for (; i <= n; i++)
        result->train[i] = result->valid[i] = NAN;
    return NG_OK;
}

static void sum_up(ng_study_result *result, const ng_study_run *run)
{
    const ng_optimizer *optimizer = ng_study_run_optimizer(run);
    const double last = result->valid[result->job.setting->evaluations];

    result->steps = ng_study_run_steps(run);
    /* worse than knowing nothing */
    result->diverged = !isfinite(last) || last > log(256.0);
    result->skipped = ng_optimizer_skipped(optimizer);
    result->counts = ng_optimizer_counts(optimizer);
    (void)ng_optimizer_bytes_of(&result->bytes, optimizer);
    (void)ng_optimizer_check_lr(&result->lr, optimizer, NULL);
}

static ng_status run_one(study *s, ng_study_result *result, ng_error *error)
{
    const size_t size = (size_t)s->setting->evaluations + 1;
    const ng_study_options none = {NULL};
    const ng_study_options *options = s->options != NULL ? s->options : &none;
    char log_path[4096], root[4096];
    ng_train_log log = {.descriptor = -1};
    ng_study_run *run = NULL;
    ng_status status = ng_study_run_create(&run, &result->job, error);

    if (status != NG_OK)
        return status;
    result->valid = calloc(size, sizeof *result->valid);
    result->train = calloc(size, sizeof *result->train);
    if (result->valid == NULL || result->train == NULL)
        status = ng_fail(error, NG_NO_MEMORY, "study: out of memory");
    if (status == NG_OK)
        status = own_path(log_path, sizeof log_path, options->log, &result->job,
                          ".jsonl", error);
    if (status == NG_OK)
        status = own_path(root, sizeof root, options->checkpoints, &result->job,
                          "", error);
    if (status == NG_OK && log_path[0] != '\0')
        status = ng_train_log_open(&log, log_path, 0, error);
    if (status == NG_OK)
        status = train(s, result, run, &log, error);
    if (status == NG_OK && root[0] != '\0')
        status = ng_study_run_save(run, root, error);
    if (status == NG_OK) {
        sum_up(result, run);
        status = ng_train_log_close(&log, error);
    } else
        (void)ng_train_log_close(&log, NULL);
    ng_study_run_free(run);
    return status;
}

/* Roughly: what a step of this job costs. */
static int cost(const ng_study_job *job)
{
    const bool adam = job->task->kind == NG_ADAM || job->task->kind == NG_ADAMW;
    const int state = job->recipe->states == NG_STATE_FP32      ? 1
                      : strcmp(job->recipe->profile, "ng") == 0 ? 6
                                                                : 3;

    return state * (adam ? 2 : 1);
}

static int costlier(const void *a, const void *b)
{
    const ng_study_result *x = *(ng_study_result *const *)a;
    const ng_study_result *y = *(ng_study_result *const *)b;
    const int more = cost(&y->job) - cost(&x->job);

    return more != 0 ? more : (x > y) - (x < y);
}

static ng_status prepare(study *s, ng_error *error)
{
    const ng_study_setting *setting = s->setting;

    for (int i = 0; i < setting->n_tasks; i++)
        s->n += setting->tasks[i].n_recipes * setting->seeds;
    s->total = s->n * (setting->evaluations + 1);
    s->results = calloc((size_t)s->n + 1, sizeof *s->results);
    s->order = calloc((size_t)s->n + 1, sizeof *s->order);
    if (s->results == NULL || s->order == NULL) {
        (void)ng_fail(error, NG_NO_MEMORY, "study: out of memory");
        return NG_NO_MEMORY;
    }

    ng_study_result *result = s->results;

    for (int i = 0; i < setting->n_tasks; i++)
        for (int j = 0; j < setting->tasks[i].n_recipes; j++)
            for (int64_t seed = 1; seed <= setting->seeds; seed++, result++) {
                result->job = (ng_study_job){setting, &setting->tasks[i],
                                             setting->tasks[i].recipes[j],
                                             &s->text, (uint64_t)seed};
                s->order[result - s->results] = result;
            }
    qsort(s->order, (size_t)s->n, sizeof *s->order, costlier);
    return NG_OK;
}

/* How many runs at a time. */
static int threads_of(const study *s)
{
    const int wanted = s->options != NULL ? s->options->threads : 0;

#ifdef _OPENMP
    return wanted > 0 ? wanted : omp_get_max_threads();
#else
    return wanted > 0 ? wanted : 1;
#endif
}

static void run_all(study *s)
{
    const int threads = threads_of(s);

    (void)threads; /* without OpenMP */
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
#endif
    for (int64_t i = 0; i < s->n; i++)
        s->order[i]->status = run_one(s, s->order[i], &s->order[i]->error);
}

static ng_status first_error(const study *s, ng_error *error)
{
    for (int64_t i = 0; i < s->n; i++)
        if (s->results[i].status != NG_OK) {
            char name[64];

            describe(name, sizeof name, &s->results[i].job);
            return ng_fail(error, s->results[i].status, "%s: %s", name,
                           s->results[i].error.text);
        }
    return NG_OK;
}

static ng_status report(json_t **out, const study *s, ng_error *error)
{
    json_t *root = ng_study_report(s->setting, &s->text, s->results, s->n);
    json_t *losses = json_object_get(root, "losses");
    ng_status status =
        losses == NULL ? ng_fail(error, NG_NO_MEMORY, "study: out of memory")
                       : ng_study_list_losses(losses, error);

    if (status == NG_OK)
        *out = root;
    else
        json_decref(root);
    return status;
}

ng_status ng_study_optimizers(json_t **out, const ng_study_setting *setting,
                              const ng_study_options *options, ng_error *error)
{
    study s = {.setting = setting, .options = options};
    ng_status status = ng_text_read(&s.text, setting->text, error);

    if (status == NG_OK)
        status = prepare(&s, error);
    if (status == NG_OK) {
        run_all(&s);
        status = first_error(&s, error);
    }
    if (status == NG_OK)
        status = report(out, &s, error);
    for (int64_t i = 0; i < s.n && s.results != NULL; i++) {
        free(s.results[i].valid);
        free(s.results[i].train);
        json_decref(s.results[i].coding);
    }
    free(s.results);
    free(s.order);
    ng_text_free(&s.text);
    return status;
}
