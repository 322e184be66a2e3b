/* SPDX-License-Identifier: Apache-2.0
 *
 * One run of the optimizer study: a model, an optimizer and a recipe from a
 * seed. Two runs of one seed see the same first weights and the same samples
 * whatever their recipe. Save and resume go bit for bit.
 */
#ifndef NG_REFERENCE_TRAIN_STUDY_RUN_H
#define NG_REFERENCE_TRAIN_STUDY_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/status.h"
#include "reference/optim/optimizer.h"
#include "reference/train/data.h"
#include "reference/train/study_setting.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a run is. All but seed is borrowed. */
typedef struct ng_study_job {
    const ng_study_setting *setting;
    const ng_study_task *task;
    const ng_study_recipe *recipe;
    const ng_text *text;
    uint64_t seed;
} ng_study_job;

typedef struct ng_study_run ng_study_run;

/* Make the run as it is before step 1. The text's last tenth is kept for
 * validation. Returns NG_OK; NG_BAD_SHAPE (too short a text), NG_BAD_VALUE (a
 * number that the optimizer refuses) or NG_NO_MEMORY. Null may be freed. */
ng_status ng_study_run_create(ng_study_run **out, const ng_study_job *job,
                              ng_error *error);
void ng_study_run_free(ng_study_run *run);

/* Take one step. *loss is that of its samples, before it. A gradient that is
 * not finite skips the update; the step counts, and its samples are used up. */
ng_status ng_study_run_step(double *loss, ng_study_run *run, ng_error *error);

/* The loss on the validation samples, the same ones each time. */
double ng_study_run_evaluate(ng_study_run *run);

int64_t ng_study_run_steps(const ng_study_run *run);
const ng_optimizer *ng_study_run_optimizer(const ng_study_run *run);

/* Write the checkpoint of this step under a root; take up the checkpoint in
 * directory `path`, which must be of the same job: optimizer, recipe, seed,
 * batch, text and schedule of the learning rate. A refused one changes
 * nothing. Returns as checkpoint.h and optimizer.h have it. */
ng_status ng_study_run_save(const ng_study_run *run, const char *root,
                            ng_error *error);
ng_status ng_study_run_resume(ng_study_run *run, const char *path,
                              ng_error *error);

#ifdef __cplusplus
}
#endif

#endif
