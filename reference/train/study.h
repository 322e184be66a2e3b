/* SPDX-License-Identifier: Apache-2.0
 *
 * The optimizer study: every task, recipe and seed of a setting, run side by
 * side, and what came out as JSON (reports/schema/optimizers.schema.json).
 */
#ifndef NG_REFERENCE_TRAIN_STUDY_H
#define NG_REFERENCE_TRAIN_STUDY_H

#include <jansson.h>
#include <stdint.h>

#include "formats/status.h"
#include "reference/train/study_setting.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ng_study_options {
    const char *log;         /* a directory that exists: a JSON Lines log of
                                each run, OPTIMIZER-RECIPE-SEED.jsonl */
    const char *checkpoints; /* likewise: a root of each run, its last step */
    int threads;             /* 0: as many as OpenMP gives */
    /* Told, one call at a time, of each evaluation of any run. */
    void (*progress)(void *context, const char *what, int64_t done,
                     int64_t total);
    void *context;
} ng_study_options;

/* Run the study. The result depends on the setting and the text alone: not on
 * the number of threads, the machine or the clock.
 *   out      a new reference
 *   options  null: none
 * Returns NG_OK, or the first error of any run with *out untouched. */
ng_status ng_study_optimizers(json_t **out, const ng_study_setting *setting,
                              const ng_study_options *options, ng_error *error);

#ifdef __cplusplus
}
#endif

#endif
