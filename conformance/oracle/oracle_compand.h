/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_CONFORMANCE_ORACLE_COMPAND_H
#define NG_CONFORMANCE_ORACLE_COMPAND_H

#include "formats/optim.h"
#include "formats/status.h"

/* Code the numbers x [n] as the state y; semantics section 9, rule compand.
 * NG_STATE_FP32 is moved. Counts groups. Returns NG_OK, or with y untouched
 * NG_BAD_SHAPE, NG_BAD_LAYOUT or NG_BAD_POINTER. */
ng_status ng_oracle_compand(const ng_state *y, const float *x, int64_t n,
                            const ng_optim_options *options);

#endif
