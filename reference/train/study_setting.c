/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/train/study_setting.h"

#include <glob.h>
#include <jansson.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/files/file_error.h"
#include "reference/optim/ref_step_constants.h"

const ng_study_recipe ng_study_recipes[NG_N_STUDY_RECIPES] = {
    {"fp32", "FP32 weights and states", NG_FP32, 0, NG_STATE_FP32, "ng", false},
    {"nudged", "fp32 with the last bit of every first weight flipped", NG_FP32,
     0, NG_STATE_FP32, "ng", true},
    {"flash", "24-bit split weights, companded 8-bit states (profile ng)",
     NG_BF16, 8, NG_STATE_COMPANDED, "ng", false},
    {"flashoptim", "the same as published (profile flashoptim)", NG_BF16, 8,
     NG_STATE_COMPANDED, "flashoptim", false},
    {"linear", "24-bit split weights, 8-bit states without companding", NG_BF16,
     8, NG_STATE_LINEAR, "ng", false},
    {"bf16", "BF16 weights without correction, FP32 states", NG_BF16, 0,
     NG_STATE_FP32, "ng", false},
};

const ng_study_recipe *ng_study_recipe_find(const char *name)
{
    for (int i = 0; i < NG_N_STUDY_RECIPES; i++)
        if (strcmp(ng_study_recipes[i].name, name) == 0)
            return &ng_study_recipes[i];
    return NULL;
}

double ng_study_lr(const ng_study_setting *setting, double peak, int64_t step)
{
    const double rising = (double)setting->warmup;
    const double falling = (double)(setting->steps - setting->warmup);

    if (step <= setting->warmup)
        return peak * ((double)step / rising);
    return peak
           * (1.0
              - (1.0 - setting->final_lr)
                    * ((double)(step - setting->warmup) / falling));
}

typedef struct reading {
    const char *path;
    ng_error *error;
} reading;

#define FAULT(r, field, ...) \
    ng_file_fail((r)->error, NG_BAD_FILE, (r)->path, NULL, field, __VA_ARGS__)

typedef struct number {
    const char *name;
    size_t offset;
    double least, most;
} number;

#define SETTING(name, least, most)                           \
    {                                                        \
#name, offsetof(ng_study_setting, name), least, most \
    }
#define HYPER(name, least, most)                     \
    {                                                \
#name, offsetof(ng_hyper, name), least, most \
    }

static const number counts[] = {SETTING(seeds, 1, NG_STUDY_MAX_SEEDS),
                                SETTING(steps, 1, 1e9),
                                SETTING(batch, 1, 1e6),
                                SETTING(warmup, 0, 1e9),
                                SETTING(evaluations, 1, 1e4),
                                SETTING(evaluated, 1, 1e7)};

static const number numbers[] = {
    HYPER(lr, 0, 1e6),          HYPER(beta1, 0, 1),    HYPER(beta2, 0, 1),
    HYPER(eps, 0, 1),           HYPER(momentum, 0, 1), HYPER(dampening, 0, 1),
    HYPER(weight_decay, 0, 1e6)};

enum {
    N_COUNTS = sizeof counts / sizeof *counts,
    N_NUMBERS = sizeof numbers / sizeof *numbers
};

static const number *find(const number *list, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (strcmp(list[i].name, name) == 0)
            return &list[i];
    return NULL;
}

static ng_status take_number(double *out, const number *field,
                             const json_t *value, const reading *r)
{
    *out = json_number_value(value);
    if (!json_is_number(value) || !(*out >= field->least)
        || !(*out <= field->most))
        return FAULT(r, field->name, "is not a number in %g .. %g",
                     field->least, field->most);
    return NG_OK;
}

static ng_status take_recipes(ng_study_task *task, const json_t *list,
                              const reading *r)
{
    size_t i;
    json_t *name;

    if (!json_is_array(list) || json_array_size(list) == 0
        || json_array_size(list) > NG_N_STUDY_RECIPES)
        return FAULT(r, "recipes", "is not an array of 1 to %d names",
                     NG_N_STUDY_RECIPES);
    json_array_foreach(list, i, name)
    {
        const ng_study_recipe *recipe = json_is_string(name)
                                      ? ng_study_recipe_find(json_string_value(name))
                                      : NULL;

        if (recipe == NULL)
            return FAULT(r, "recipes", "entry %zu is no recipe", i + 1);
        for (int j = 0; j < task->n_recipes; j++)
            if (task->recipes[j] == recipe)
                return FAULT(r, "recipes", "\"%s\" is there twice",
                             recipe->name);
        task->recipes[task->n_recipes++] = recipe;
    }
    return NG_OK;
}

static ng_status take_task(ng_study_task *task, const json_t *object,
                           const reading *r)
{
    const char *name;
    json_t *value;
    bool named = false;
    ng_step_constants constants;
    ng_error cause = {{0}};

    if (!json_is_object(object))
        return FAULT(r, "optimizers", "has an entry that is no object");
    json_object_foreach((json_t *)object, name, value)
    {
        const number *field = find(numbers, N_NUMBERS, name);
        ng_status status = NG_OK;

        if (field != NULL)
            status = take_number(
                (double *)(void *)((char *)&task->hyper + field->offset), field,
                value, r);
        else if (strcmp(name, "nesterov") == 0 && json_is_boolean(value))
            task->hyper.nesterov = json_is_true(value);
        else if (strcmp(name, "recipes") == 0)
            status = take_recipes(task, value, r);
        else if (strcmp(name, "optimizer") == 0 && json_is_string(value))
            named = ng_optimizer_find(json_string_value(value), &task->kind);
        else
            status = FAULT(r, "optimizers",
                           "\"%.64s\": unknown, or of a wrong "
                           "type",
                           name);
        if (status != NG_OK)
            return status;
    }
    if (!named || task->n_recipes == 0)
        return FAULT(r, "optimizers", "an entry lacks optimizer or recipes");
    task->hyper.lr0 = task->hyper.lr;
    /* What an optimizer reads and the file leaves out is 0, which may not do.
     */
    return ng_ref_step_constants(&constants, task->kind, &task->hyper, 1, NULL,
                                 &cause)
                   == NG_OK
               ? NG_OK
               : FAULT(r, "optimizers", "%s: %s", ng_optimizer_name(task->kind),
                       cause.text);
}

/* Runs are named by their optimizer: none may be there twice. */
static bool is_repeated(const ng_study_setting *setting)
{
    const int last = setting->n_tasks - 1;

    for (int i = 0; i < last; i++)
        if (setting->tasks[i].kind == setting->tasks[last].kind)
            return true;
    return false;
}

static ng_status take_tasks(ng_study_setting *out, const json_t *list,
                            const reading *r)
{
    size_t i;
    json_t *object;

    if (!json_is_array(list) || json_array_size(list) == 0
        || json_array_size(list) > NG_STUDY_MAX_TASKS)
        return FAULT(r, "optimizers", "is not an array of 1 to %d objects",
                     NG_STUDY_MAX_TASKS);
    json_array_foreach(list, i, object)
    {
        const ng_status status =
            take_task(&out->tasks[out->n_tasks++], object, r);

        if (status != NG_OK)
            return status;
        if (is_repeated(out))
            return FAULT(r, "optimizers", "\"%s\" is there twice",
                         ng_optimizer_name(out->tasks[i].kind));
    }
    return NG_OK;
}

/* Take the first file that a pattern names. */
static ng_status take_text(ng_study_setting *out, const json_t *list,
                           const reading *r)
{
    size_t i;
    json_t *pattern;

    if (!json_is_array(list))
        return FAULT(r, "text", "is not an array of patterns");
    json_array_foreach(list, i, pattern)
    {
        glob_t found;
        struct stat facts;

        if (!json_is_string(pattern))
            return FAULT(r, "text", "entry %zu is no text", i + 1);
        if (out->text[0] != '\0'
            || glob(json_string_value(pattern), 0, NULL, &found) != 0)
            continue;
        for (size_t j = 0; j < found.gl_pathc && out->text[0] == '\0'; j++)
            if (strlen(found.gl_pathv[j]) < sizeof out->text
                && stat(found.gl_pathv[j], &facts) == 0
                && S_ISREG(facts.st_mode))
                strcpy(out->text, found.gl_pathv[j]);
        globfree(&found);
    }
    return NG_OK;
}

static ng_status take_all(ng_study_setting *out, const json_t *root,
                          const reading *r)
{
    static const number final_lr = {"final_lr", 0, 0.0, 1.0};
    const char *name;
    json_t *value;
    int n_taken = 0;

    if (!json_is_object(root))
        return FAULT(r, "configuration", "is not an object");
    json_object_foreach((json_t *)root, name, value)
    {
        const number *field = find(counts, N_COUNTS, name);
        ng_status status = NG_OK;
        double x = 0.0;

        n_taken++;
        if (field != NULL) {
            status = take_number(&x, field, value, r);
            if (status == NG_OK && !json_is_integer(value))
                status = FAULT(r, name, "is not a whole number");
            *(int64_t *)(void *)((char *)out + field->offset) = (int64_t)x;
        } else if (strcmp(name, "final_lr") == 0)
            status = take_number(&out->final_lr, &final_lr, value, r);
        else if (strcmp(name, "text") == 0)
            status = take_text(out, value, r);
        else if (strcmp(name, "optimizers") == 0)
            status = take_tasks(out, value, r);
        else if (strcmp(name, "about") == 0)
            n_taken--;
        else
            status = FAULT(r, name, "is no member of a study");
        if (status != NG_OK)
            return status;
    }
    if (n_taken != N_COUNTS + 3)
        return FAULT(r, "configuration", "lacks a member");
    return NG_OK;
}

ng_status ng_study_setting_read(ng_study_setting *out, const char *path,
                                ng_error *error)
{
    const reading r = {path, error};
    ng_study_setting setting = {.text = ""};
    json_error_t fault;
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &fault);

    if (root == NULL)
        return fault.line > 0
                   ? FAULT(&r, "JSON", "line %d: %s", fault.line, fault.text)
                   : FAULT(&r, "open", "%s", fault.text);

    const ng_status status = take_all(&setting, root, &r);

    json_decref(root);
    if (status == NG_OK)
        *out = setting;
    return status;
}
