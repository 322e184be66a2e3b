/* SPDX-License-Identifier: Apache-2.0
 *
 * A step without intermediate rounding, and how far FP32's row may be from it:
 * the exact writing (oracle_step.h) says which bits are right, this one that
 * they are near the real number that the optimizer's formula means.
 */
#ifndef NG_CONFORMANCE_ORACLE_STEP_BOUND_H
#define NG_CONFORMANCE_ORACLE_STEP_BOUND_H

#include "conformance/oracle/oracle_range.h"
#include "formats/optim.h"

typedef struct ng_oracle_step_ranges {
    ng_oracle_range theta, m, v;
} ng_oracle_step_ranges;

void ng_oracle_step_ranges_init(ng_oracle_step_ranges *y);
void ng_oracle_step_ranges_clear(ng_oracle_step_ranges *y);

/* The element (theta, m, v) after a step with gradient g and the constants c,
 * which are taken as they are; step is ng_step. What the kind lacks is left at
 * its old value. */
void ng_oracle_step_bound(ng_oracle_step_ranges *y, float theta, float m,
                          float v, float g, const ng_step_constants *c,
                          int step);

#endif
