/* SPDX-License-Identifier: Apache-2.0
 *
 * What the optimizer study does, as data: recipes (how weights and states are
 * kept) and a configuration (text, steps, seeds, optimizers and their numbers).
 */
#ifndef NG_REFERENCE_TRAIN_STUDY_SETTING_H
#define NG_REFERENCE_TRAIN_STUDY_SETTING_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/optim.h"
#include "formats/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a run keeps its parameters between steps. All runs compute with BF16
 * weights and BF16 gradients, as mixed-precision training does. */
typedef struct ng_study_recipe {
    const char *name, *meaning;
    ng_dtype weights;
    int correction_bits;
    ng_state_coding states;
    const char *profile; /* rules of split, compand and step */
    bool nudged;         /* the last bit of every first weight is flipped */
} ng_study_recipe;

enum { NG_N_STUDY_RECIPES = 6 };

/* fp32 first: the others are compared with it. */
extern const ng_study_recipe ng_study_recipes[NG_N_STUDY_RECIPES];

/* The recipe of that name, or null. */
const ng_study_recipe *ng_study_recipe_find(const char *name);

/* An optimizer of the study and the recipes it runs with. */
typedef struct ng_study_task {
    ng_optimizer_kind kind;
    ng_hyper hyper; /* lr is the peak of the schedule */
    const ng_study_recipe *recipes[NG_N_STUDY_RECIPES];
    int n_recipes;
} ng_study_task;

enum { NG_STUDY_MAX_TASKS = 8, NG_STUDY_MAX_SEEDS = 17 };

typedef struct ng_study_setting {
    char text[4096]; /* path; "" if none of the texts is there */
    int64_t seeds;   /* 1 .. NG_STUDY_MAX_SEEDS */
    int64_t steps, batch;
    int64_t warmup;      /* steps of rising learning rate */
    double final_lr;     /* what the last step has of the peak */
    int64_t evaluations; /* over the run, besides the one at step 0 */
    int64_t evaluated;   /* bytes predicted in each */
    ng_study_task tasks[NG_STUDY_MAX_TASKS];
    int n_tasks;
} ng_study_setting;

/* Read a configuration: JSON, which is YAML too. Members (all required but
 * "about"):
 *   about         any text
 *   text          patterns (glob) of texts; the first file found is taken
 *   seeds, steps, batch, warmup, final_lr, evaluations, evaluated
 *   optimizers    [{optimizer, recipes: [...], lr, and what it needs of beta1,
 *                 beta2, eps, momentum, dampening, nesterov, weight_decay}]
 * An unknown member, a wrong type, a number out of range, one that the
 * optimizer refuses, an optimizer or a recipe of it there twice are refused.
 * Returns NG_OK, or NG_BAD_FILE or NG_NO_MEMORY with one line in *error. */
ng_status ng_study_setting_read(ng_study_setting *out, const char *path,
                                ng_error *error);

/* The learning rate of step 1 .. steps: up to the peak over the warm-up, then
 * linearly down to final_lr of it. FP64 arithmetic without library functions.
 */
double ng_study_lr(const ng_study_setting *setting, double peak, int64_t step);

#ifdef __cplusplus
}
#endif

#endif
