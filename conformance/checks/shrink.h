/* SPDX-License-Identifier: Apache-2.0
 *
 * A failing case made small: the fewest rows and columns that still fail, and
 * in them the simplest numbers.
 */
#ifndef NG_CONFORMANCE_CHECKS_SHRINK_H
#define NG_CONFORMANCE_CHECKS_SHRINK_H

#include "conformance/checks/verify.h"

/* Shrink the first kept failure in an output's bits of which that is possible:
 * an encoder's or a quantiser's, dense and not stochastic. Describe what is
 * left in result->shrunk: shape, numbers, and what is wanted and got. Left
 * empty where there is none, or where the subject cannot be asked again. Costs
 * at most a few hundred calls. */
void ng_shrink(ng_operation_result *result, const ng_verify_plan *plan);

#endif
