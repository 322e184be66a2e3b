/* SPDX-License-Identifier: Apache-2.0
 *
 * What the published scheme loses, and what ours makes of the same inputs.
 */
#ifndef NG_REFERENCE_TRAIN_STUDY_LOSSES_H
#define NG_REFERENCE_TRAIN_STUDY_LOSSES_H

#include <jansson.h>

#include "formats/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Append to `rows` an object a case:
 *   case, input     in words
 *   unit            "value", or "lr" for an update over the learning rate
 *   exact           in FP64, or a value that needs no computing
 *   flashoptim, ng  by the reference under that profile
 * Returns NG_OK, or NG_NO_MEMORY or what an operation refuses. */
ng_status ng_study_list_losses(json_t *rows, ng_error *error);

#ifdef __cplusplus
}
#endif

#endif
