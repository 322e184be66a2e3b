/* SPDX-License-Identifier: Apache-2.0
 *
 * What coding does to states that real training made. The states are coded and
 * decoded once each way; nothing is trained on the result.
 */
#ifndef NG_REFERENCE_TRAIN_STUDY_CODING_H
#define NG_REFERENCE_TRAIN_STUDY_CODING_H

#include <jansson.h>
#include <stdint.h>

#include "reference/optim/optimizer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Measure the FP32 states of an optimizer, all parameters together, and append
 * to `rows`, for each of momentum, variance and (where there are both) update =
 * m/(sqrt(v) + eps), and for each way of coding, an object
 *   step, state, coding ("companded", "linear"), profile
 *   elements      that are not 0 (of update: m and v are not 0)
 *   flushed       share of them that came back 0 (of update: of which v did and
 *                 m did not, so that eps alone divides)
 *   relative_error  {p50, p90, p99, p999, max} of |decoded - x|/|x|
 *   snr_db        10 log10(sum x^2 / sum (decoded - x)^2)
 * Returns NG_OK; NG_BAD_DTYPE where a state is coded already; NG_NO_MEMORY. */
ng_status ng_study_measure_coding(json_t *rows, const ng_optimizer *optimizer,
                                  int64_t step, double eps, ng_error *error);

#ifdef __cplusplus
}
#endif

#endif
