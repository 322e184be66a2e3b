/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "formats/files/checksum.h"
#include "reference/train/study_model.h"
#include "reference/train/study_result.h"
#include "reference/train/study_statistics.h"
#include "reference/train/train_log.h"

static json_t *mean_json(ng_mean mean)
{
    return json_pack("{s:o, s:o, s:o, s:o}", "mean", ng_json_number(mean.mean),
                     "sd", ng_json_number(mean.sd), "low",
                     ng_json_number(mean.low), "high",
                     ng_json_number(mean.high));
}

/* Append to an array, or without memory give it up: *array is null then, and so
 * is whatever it was to be part of. */
static void append(json_t **array, json_t *value)
{
    if (json_array_append_new(*array, value) != 0) {
        json_decref(*array);
        *array = NULL;
    }
}

static json_t *curve(const double *x, int64_t n)
{
    json_t *array = json_array();

    for (int64_t i = 0; i < n; i++)
        append(&array, ng_json_number(x[i]));
    return array;
}

static json_t *groups(const ng_group_counts *counts)
{
    return json_pack("{s:I, s:I, s:I}", "nan", (json_int_t)counts->nan,
                     "saturated", (json_int_t)counts->saturated, "lost",
                     (json_int_t)counts->lost);
}

static json_t *run_json(const ng_study_result *r)
{
    const int64_t n = r->job.setting->evaluations + 1;

    return json_pack(
        "{s:s, s:s, s:I, s:I, s:b, s:I, s:o, s:o, s:{s:I, s:o, s:o}, s:{s:I, "
        "s:I}}",
        "optimizer", ng_optimizer_name(r->job.task->kind), "recipe",
        r->job.recipe->name, "seed", (json_int_t)r->job.seed, "steps",
        (json_int_t)r->steps, "diverged", r->diverged, "skipped",
        (json_int_t)r->skipped, "valid", curve(r->valid, n), "train",
        curve(r->train, n), "events", "weights_saturated",
        (json_int_t)r->counts.weights_saturated, "momentum",
        groups(&r->counts.groups[NG_MOMENTUM]), "variance",
        groups(&r->counts.groups[NG_VARIANCE]), "stuck_weights", "of",
        (json_int_t)r->lr.weights, "stuck", (json_int_t)r->lr.stuck);
}

/* The results of one recipe: seeds 1, 2 ..., and fp32's beside them (null: it
 * is not among the recipes). */
typedef struct recipe_results {
    const ng_study_result *mine, *fp32;
    int64_t seeds;
} recipe_results;

/* The losses at evaluation i of the seeds that are not NaN there; of the whole
 * run if `whole`, then only of those that did not diverge. */
static int64_t losses_at(double *loss, const recipe_results *r, int64_t i,
                         bool whole)
{
    int64_t n = 0;

    for (int64_t seed = 0; seed < r->seeds; seed++) {
        const ng_study_result *mine = &r->mine[seed];

        if (isfinite(mine->valid[i]) && !(whole && mine->diverged))
            loss[n++] = mine->valid[i];
    }
    return n;
}

/* Likewise the deviations from fp32 in percent, paired by seed. */
static int64_t deviations_at(double *deviation, const recipe_results *r,
                             int64_t i, bool whole)
{
    int64_t n = 0;

    for (int64_t seed = 0; r->fp32 != NULL && seed < r->seeds; seed++) {
        const ng_study_result *mine = &r->mine[seed], *fp32 = &r->fp32[seed];
        const double loss = fp32->valid[i];

        if (isfinite(mine->valid[i]) && isfinite(loss)
            && !(whole && (mine->diverged || fp32->diverged)))
            deviation[n++] = 100.0 * (mine->valid[i] - loss) / loss;
    }
    return n;
}

static json_t *curves(const recipe_results *r, int64_t points)
{
    json_t *loss = json_array(), *mean = json_array(), *low = json_array(),
           *high = json_array();

    for (int64_t i = 0; i < points; i++) {
        double x[NG_STUDY_MAX_SEEDS];
        ng_mean at = ng_student_mean(x, losses_at(x, r, i, false));

        append(&loss, ng_json_number(at.mean));
        at = ng_student_mean(x, deviations_at(x, r, i, false));
        append(&mean, ng_json_number(at.mean));
        append(&low, ng_json_number(at.low));
        append(&high, ng_json_number(at.high));
    }
    return json_pack("{s:o, s:o, s:o, s:o}", "loss", loss, "deviation", mean,
                     "low", low, "high", high);
}

static json_t *summary(const recipe_results *r)
{
    const ng_study_result *first = &r->mine[0];
    const ng_study_recipe *recipe = first->job.recipe;
    const int64_t last = first->job.setting->evaluations;
    const ng_optimizer_bytes *bytes = &first->bytes;
    const double parameters = (double)bytes->parameters;
    double x[NG_STUDY_MAX_SEEDS];
    int64_t diverged = 0;

    for (int64_t seed = 0; seed < r->seeds; seed++)
        diverged += r->mine[seed].diverged;

    const ng_mean loss = ng_student_mean(x, losses_at(x, r, last, true));
    const ng_mean deviation =
        ng_student_mean(x, deviations_at(x, r, last, true));

    return json_pack(
        "{s:s, s:s, s:s, s:I, s:I, s:o, s:o, s:o, s:o, s:o}", "optimizer",
        ng_optimizer_name(first->job.task->kind), "recipe", recipe->name,
        "meaning", recipe->meaning, "seeds", (json_int_t)r->seeds, "diverged",
        (json_int_t)diverged, "loss", mean_json(loss), "deviation_percent",
        mean_json(deviation), "bytes_per_parameter",
        ng_json_number((double)bytes->total / parameters),
        "saved_bytes_per_parameter",
        ng_json_number((double)(bytes->total - bytes->gradients) / parameters),
        "curves", curves(r, last + 1));
}

static json_t *setting_json(const ng_study_setting *s, const ng_text *text)
{
    char digits[NG_CHECKSUM_TEXT];
    const char *name = strrchr(s->text, '/');
    int64_t parameters = 0;

    for (int i = 0; i < NG_STUDY_N_TENSORS; i++)
        parameters += ng_study_tensors[i].n;
    ng_checksum_text(digits, ng_checksum(text->tokens, (size_t)text->n));
    return json_pack(
        "{s:{s:s, s:I, s:s}, s:{s:I, s:i, s:i, s:i}, s:I, s:I, s:I, s:I, s:o, "
        "s:I, s:I}",
        "text", "name", name == NULL ? s->text : name + 1, "bytes",
        (json_int_t)text->n, "xxh3", digits, "model", "parameters",
        (json_int_t)parameters, "context", (int)NG_STUDY_CONTEXT, "embedding",
        (int)NG_STUDY_EMBEDDING, "hidden", (int)NG_STUDY_HIDDEN, "seeds",
        (json_int_t)s->seeds, "steps", (json_int_t)s->steps, "batch",
        (json_int_t)s->batch, "warmup", (json_int_t)s->warmup, "final_lr",
        ng_json_number(s->final_lr), "evaluations", (json_int_t)s->evaluations,
        "evaluated", (json_int_t)s->evaluated);
}

static json_t *hyper_json(const ng_study_task *task)
{
    const ng_hyper *h = &task->hyper;

    return json_pack(
        "{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o}", "optimizer",
        ng_optimizer_name(task->kind), "lr", ng_json_number(h->lr), "beta1",
        ng_json_number(h->beta1), "beta2", ng_json_number(h->beta2), "eps",
        ng_json_number(h->eps), "momentum", ng_json_number(h->momentum),
        "dampening", ng_json_number(h->dampening), "nesterov", h->nesterov,
        "weight_decay", ng_json_number(h->weight_decay));
}

/* The results of fp32 of the task whose results begin at `results`. */
static const ng_study_result *find_fp32(const ng_study_task *task,
                                        const ng_study_result *results,
                                        int64_t seeds)
{
    for (int i = 0; i < task->n_recipes; i++)
        if (task->recipes[i] == &ng_study_recipes[0])
            return results + i * seeds;
    return NULL;
}

json_t *ng_study_report(const ng_study_setting *setting, const ng_text *text,
                        const ng_study_result *results, int64_t n)
{
    json_t *optimizers = json_array(), *summaries = json_array(),
           *steps = json_array(), *runs = json_array(), *coding = json_array();
    const ng_study_result *result = results;

    for (int i = 0; i < setting->n_tasks; i++) {
        const ng_study_task *task = &setting->tasks[i];
        const ng_study_result *fp32 = find_fp32(task, result, setting->seeds);

        append(&optimizers, hyper_json(task));
        for (int j = 0; j < task->n_recipes; j++, result += setting->seeds) {
            const recipe_results r = {result, fp32, setting->seeds};

            append(&summaries, summary(&r));
        }
    }
    for (int64_t i = 0; i <= setting->evaluations; i++)
        append(&steps, json_integer(ng_study_evaluation_step(setting, i)));
    for (int64_t i = 0; i < n; i++) {
        append(&runs, run_json(&results[i]));
        if (results[i].coding != NULL
            && json_array_extend(coding, results[i].coding) != 0) {
            json_decref(coding);
            coding = NULL;
        }
    }
    return json_pack("{s:s, s:o, s:o, s:o, s:[], s:o, s:o, s:o}", "schema",
                     "narrowgauge-optimizers-1", "setting",
                     setting_json(setting, text), "optimizers", optimizers,
                     "summary", summaries, "losses", "coding", coding,
                     "evaluated_at", steps, "runs", runs);
}
