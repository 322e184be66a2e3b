/* SPDX-License-Identifier: Apache-2.0
 *
 * What the five steps share: the walk over groups from stored weights and
 * states to FP32 and back. Each step is one function of an element.
 */
#ifndef NG_REFERENCE_OPTIM_REF_STEPPING_H
#define NG_REFERENCE_OPTIM_REF_STEPPING_H

#include <stdint.h>

#include "formats/optim.h"
#include "formats/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One element, in FP32: theta, m and v are old when a row begins and new when
 * it ends. States that the optimizer does not have are 0 and stay unread. */
typedef struct ng_ref_element {
    float theta, g, m, v;
} ng_ref_element;

/* A row of the table of semantics.md 9; step is ng_step. */
typedef void ng_ref_row(ng_ref_element *element, const ng_step_constants *c,
                        int step);

/* Check everything, then load, step and store all groups; m, v null where the
 * optimizer has none. The errors are those of ref_step.h; c is not null. */
ng_status ng_ref_run_step(ng_ref_row *row, const ng_weights *theta,
                          const ng_state *m, const ng_state *v,
                          const ng_gradient *g, int64_t n,
                          const ng_step_constants *c,
                          const ng_optim_options *options);

#ifdef __cplusplus
}
#endif

#endif
