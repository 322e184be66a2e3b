/* SPDX-License-Identifier: Apache-2.0
 *
 * The rows of the table of semantics section 9, on one element.
 */
#ifndef NG_CONFORMANCE_ORACLE_STEP_ROW_H
#define NG_CONFORMANCE_ORACLE_STEP_ROW_H

#include <mpfr.h>
#include <stdbool.h>

#include "formats/optim.h"

/* All of 24 bits. theta, m and v are old at first and new after; g is FP32 of
 * the gradient, its scale multiplied in, and is used up. */
typedef struct ng_oracle_row {
    mpfr_ptr theta, m, v, g;
} ng_oracle_row;

/* Perform the row of c->kind; step is ng_step. */
void ng_oracle_perform_row(const ng_oracle_row *row, const ng_step_constants *c,
                           int step);

/* Which states the row reads and writes. */
bool ng_oracle_row_has_m(const ng_step_constants *c);
bool ng_oracle_row_has_v(const ng_step_constants *c);

#endif
