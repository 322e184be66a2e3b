/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/train/convergence.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/files/file_error.h"
#include "formats/version.h"
#include "reference/train/study_setting.h"
#include "reference/train/study_statistics.h"
#include "reference/train/train_log.h"

/* A number of a log, which has "nan" and "inf" as text. */
static double number(const json_t *value)
{
    return json_is_string(value)   ? strtod(json_string_value(value), NULL)
           : json_is_number(value) ? json_number_value(value)
                                   : NAN;
}

static double member(const json_t *object, const char *name)
{
    return number(json_object_get(object, name));
}

/* ---- a run -------------------------------------------------------------- */

typedef struct sums {
    double seconds, tokens, converted, inexact;
} sums;

static void take_step(sums *s, json_t *run, json_t *line)
{
    const json_t *converted = json_object_get(line, "converted");

    s->seconds += member(line, "seconds");
    s->tokens = member(line, "tokens");
    s->converted += member(converted, "elements");
    s->inexact += member(converted, "inexact");
    json_object_set(run, "steps", json_object_get(line, "step"));
    json_object_set(run, "skipped", json_object_get(line, "skipped"));
    json_object_set(run, "last", line);
}

static void take_start(json_t *run, const json_t *line)
{
    static const char *const names[] = {"version", "recipe",       "backend",
                                        "seed",    "train_tokens", "trigram",
                                        "bytes",   "parameters"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        json_object_set(run, names[i], json_object_get(line, names[i]));
}

static void take_line(sums *s, json_t *run, json_t *line)
{
    const char *event = json_string_value(json_object_get(line, "event"));

    if (event == NULL)
        return;
    if (strcmp(event, "start") == 0)
        take_start(run, line);
    else if (strcmp(event, "step") == 0)
        take_step(s, run, line);
    else if (strcmp(event, "evaluation") == 0) {
        json_array_append(json_object_get(run, "evaluated_at"),
                          json_object_get(line, "step"));
        json_array_append(json_object_get(run, "loss"),
                          json_object_get(line, "loss"));
    }
}

/* An object's numbers, each divided. */
static json_t *divided(const json_t *object, double divisor)
{
    json_t *out = json_object();
    const char *name;
    json_t *value;

    json_object_foreach((json_t *)object, name, value)
        json_object_set_new(out, name, ng_json_number(number(value) / divisor));
    return out;
}

static void finish(const sums *s, json_t *run)
{
    const json_t *last = json_object_get(run, "last");
    const double tokens =
        s->tokens / (double)json_integer_value(json_object_get(last, "step"));

    json_object_set_new(run, "tokens_per_second",
                        ng_json_number(s->tokens / s->seconds));
    json_object_set_new(
        run, "inexact",
        ng_json_number(s->converted > 0.0 ? s->inexact / s->converted : 0.0));
    json_object_set_new(run, "sent",
                        divided(json_object_get(last, "sent"), tokens));
    json_object_set(run, "stored", json_object_get(last, "stored"));
    json_object_del(run, "last");
}

ng_status ng_convergence_read(json_t **out, const char *log, ng_error *error)
{
    FILE *file = fopen(log, "r");
    json_t *run = json_pack("{s:[], s:[]}", "evaluated_at", "loss");
    char *text = NULL;
    size_t room = 0;
    int64_t n = 0;
    sums s = {.seconds = 0.0};
    ng_status status = NG_OK;

    if (file == NULL)
        status = ng_file_fail(error, NG_BAD_FILE, log, NULL, "open", "%s",
                              strerror(errno));
    while (status == NG_OK && getline(&text, &room, file) > 0) {
        json_t *line = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

        n++;
        if (line == NULL)
            status = ng_file_fail(error, NG_BAD_FILE, log, NULL, "log",
                                  "line %lld is no JSON", (long long)n);
        else
            take_line(&s, run, line);
        json_decref(line);
    }
    if (status == NG_OK
        && (json_object_get(run, "last") == NULL
            || json_object_get(run, "recipe") == NULL
            || json_array_size(json_object_get(run, "loss")) == 0))
        status = ng_file_fail(error, NG_BAD_FILE, log, NULL, "log",
                              "holds no steps, no evaluation or no start");
    if (file != NULL)
        fclose(file);
    free(text);
    if (status == NG_OK) {
        finish(&s, run);
        *out = run;
    } else
        json_decref(run);
    return status;
}

/* ---- all of them -------------------------------------------------------- */

static const json_t *run_of(const json_t *runs, int64_t n_seeds, int64_t recipe,
                            int64_t seed)
{
    return json_array_get(runs, (size_t)(recipe * n_seeds + seed));
}

/* Evaluation `at` of a run; the last one there is for -1. */
static double loss_at(const json_t *run, int64_t at)
{
    const json_t *loss = json_object_get(run, "loss");

    return number(
        json_array_get(loss, at < 0 ? json_array_size(loss) - 1 : (size_t)at));
}

/* Over the seeds: the losses, or (base) their deviations in %. */
static ng_mean mean_of(const json_t *runs, int64_t n_seeds, int64_t recipe,
                       int64_t at, bool deviation)
{
    double x[NG_STUDY_MAX_SEEDS];
    int64_t n = 0;

    for (int64_t seed = 0; seed < n_seeds; seed++) {
        const double own = loss_at(run_of(runs, n_seeds, recipe, seed), at);
        const double base = loss_at(run_of(runs, n_seeds, 0, seed), at);
        const double value = deviation ? 100.0 * (own / base - 1.0) : own;

        if (isfinite(value) && n < NG_STUDY_MAX_SEEDS)
            x[n++] = value;
    }
    return ng_student_mean(x, n);
}

static json_t *pack_mean(ng_mean mean)
{
    return json_pack("{s:o, s:o, s:o, s:o}", "mean", ng_json_number(mean.mean),
                     "sd", ng_json_number(mean.sd), "low",
                     ng_json_number(mean.low), "high",
                     ng_json_number(mean.high));
}

static json_t *curves_of(const json_t *runs, int64_t n_seeds, int64_t recipe)
{
    const json_t *first =
        json_object_get(run_of(runs, n_seeds, recipe, 0), "evaluated_at");
    json_t *curves = json_pack("{s:O, s:[], s:[], s:[], s:[]}", "evaluated_at",
                               first, "loss", "deviation", "low", "high");

    for (int64_t at = 0; at < (int64_t)json_array_size(first); at++) {
        const ng_mean loss = mean_of(runs, n_seeds, recipe, at, false);
        const ng_mean deviation = mean_of(runs, n_seeds, recipe, at, true);

        json_array_append_new(json_object_get(curves, "loss"),
                              ng_json_number(loss.mean));
        json_array_append_new(json_object_get(curves, "deviation"),
                              ng_json_number(deviation.mean));
        json_array_append_new(json_object_get(curves, "low"),
                              ng_json_number(deviation.low));
        json_array_append_new(json_object_get(curves, "high"),
                              ng_json_number(deviation.high));
    }
    return curves;
}

static json_t *recipe_of(const json_t *runs, int64_t n_seeds, int64_t recipe)
{
    json_t *own = json_array();
    int64_t diverged = 0;

    for (int64_t seed = 0; seed < n_seeds; seed++) {
        const json_t *run = run_of(runs, n_seeds, recipe, seed);

        json_array_append(own, (json_t *)run);
        diverged += !isfinite(loss_at(run, -1));
    }
    return json_pack(
        "{s:O, s:I, s:o, s:o, s:o, s:o}", "name",
        json_object_get(run_of(runs, n_seeds, recipe, 0), "recipe"), "diverged",
        (json_int_t)diverged, "loss",
        pack_mean(mean_of(runs, n_seeds, recipe, -1, false)),
        "deviation_percent",
        pack_mean(mean_of(runs, n_seeds, recipe, -1, true)), "curves",
        curves_of(runs, n_seeds, recipe), "runs", own);
}

json_t *ng_convergence_report(const json_t *runs, int64_t n_recipes,
                              int64_t n_seeds)
{
    json_t *recipes = json_array();
    const json_t *first = json_array_get(runs, 0);

    for (int64_t recipe = 0; recipe < n_recipes; recipe++)
        json_array_append_new(recipes, recipe_of(runs, n_seeds, recipe));
    return json_pack("{s:s, s:s, s:O, s:O, s:O, s:O, s:I, s:o}", "schema",
                     NG_CONVERGENCE_SCHEMA, "version", ng_version_text(),
                     "backend", json_object_get(first, "backend"), "parameters",
                     json_object_get(first, "parameters"), "train_tokens",
                     json_object_get(first, "train_tokens"), "trigram",
                     json_object_get(first, "trigram"), "seeds",
                     (json_int_t)n_seeds, "recipes", recipes);
}
