/* SPDX-License-Identifier: Apache-2.0
 *
 * What two or more rows share: the update of SGD and SGDW, that of Adam and
 * AdamW, and the two decays.
 */
#ifndef NG_REFERENCE_OPTIM_REF_UPDATES_H
#define NG_REFERENCE_OPTIM_REF_UPDATES_H

#include "reference/optim/ref_stepping.h"

#ifdef __cplusplus
extern "C" {
#endif

/* m = (mu*m) + (cd*g) and the update u = m, Nesterov g + (mu*m) of the new m;
 * mu = 0: u = g. Returns u. */
float ng_ref_sgd_update(ng_ref_element *element, const ng_step_constants *c);

/* m = (b1*m) + (c1*g), v = (b2*v) + (c2*(g*g)) and the update, ng: (al*m) /
 * ((ka*sqrt(v)) + eps), flashoptim: (lr*(m/bc1)) / (sqrt(v/bc2) + eps). Returns
 * the update, lr included. */
float ng_ref_adam_update(ng_ref_element *element, const ng_step_constants *c,
                         int step);

/* g = g + (w*theta); skipped where w = 0. */
void ng_ref_l2_decay(ng_ref_element *element, const ng_step_constants *c);

/* theta = d*theta; skipped where d = 1. */
void ng_ref_decoupled_decay(ng_ref_element *element,
                            const ng_step_constants *c);

#ifdef __cplusplus
}
#endif

#endif
