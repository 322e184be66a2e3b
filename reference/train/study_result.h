/* SPDX-License-Identifier: Apache-2.0
 *
 * What one run of the study leaves, and how all of them become JSON.
 * Private to study*.c.
 */
#ifndef NG_REFERENCE_TRAIN_STUDY_RESULT_H
#define NG_REFERENCE_TRAIN_STUDY_RESULT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "reference/optim/optimizer.h"
#include "reference/train/study_run.h"

typedef struct ng_study_result {
    ng_study_job job;
    double *valid, *train; /* [evaluations + 1]; train is the mean loss of
                              the steps since the evaluation before */
    int64_t steps;         /* taken: fewer where the loss became NaN */
    bool diverged;
    uint64_t skipped;
    ng_optim_counts counts;
    ng_optimizer_bytes bytes;
    ng_lr_report lr; /* at the last step */
    json_t *coding;  /* array, or null */
    ng_status status;
    ng_error error;
} ng_study_result;

/* Where evaluation i, from 0, comes: after so many steps. */
int64_t ng_study_evaluation_step(const ng_study_setting *setting, int64_t i);

/* The report of n results, those of a task and recipe in the order of seeds.
 * Null without memory. */
json_t *ng_study_report(const ng_study_setting *setting, const ng_text *text,
                        const ng_study_result *results, int64_t n);

#endif
