/* SPDX-License-Identifier: Apache-2.0
 *
 * A convergence study: what the logs of several recipes' runs, with several
 * seeds each, say together (reports/schema/convergence.schema.json).
 */
#ifndef NG_REFERENCE_TRAIN_CONVERGENCE_H
#define NG_REFERENCE_TRAIN_CONVERGENCE_H

#include <jansson.h>
#include <stdint.h>

#include "formats/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NG_CONVERGENCE_SCHEMA "narrowgauge-convergence-1"

/* What one run's log.jsonl (train.h) comes to:
 *   recipe, seed, steps, parameters, trigram, skipped
 *   evaluated_at  [steps], loss [losses] of the evaluations
 *   tokens_per_second  of all steps, without evaluations and checkpoints
 *   sent, stored  as in the log, bytes a token of the last step
 *   inexact       share of the converted elements, over the whole run
 *   bytes         of the optimizer, as in the log
 * *out is a new reference. Returns NG_OK, NG_BAD_FILE (a line that is no JSON,
 * or no run) or NG_NO_MEMORY. */
ng_status ng_convergence_read(json_t **out, const char *log, ng_error *error);

/* The report of runs [n_recipes][n_seeds], recipes as named, the first of them
 * the one that the others are compared with. For each recipe
 *   name, runs    as read
 *   loss          of the last evaluation: mean, sd, Student's 95 % interval
 *                 (low, high)
 *   deviation_percent  100 (loss/loss of the first recipe with that seed - 1),
 *                 likewise
 *   curves        by evaluation: loss (mean), deviation, low, high
 * Runs whose last loss is not finite are counted (diverged); a mean is over the
 * runs whose loss is finite there.
 *   runs  in  borrowed
 * Null without memory. n_seeds up to NG_STUDY_MAX_SEEDS. */
json_t *ng_convergence_report(const json_t *runs, int64_t n_recipes,
                              int64_t n_seeds);

#ifdef __cplusplus
}
#endif

#endif
