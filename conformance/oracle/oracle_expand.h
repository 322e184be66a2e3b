/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_CONFORMANCE_ORACLE_EXPAND_H
#define NG_CONFORMANCE_ORACLE_EXPAND_H

#include "formats/optim.h"
#include "formats/status.h"

/* Decode the state x, any bits, to y [n]; semantics section 9, rule compand.
 * NG_STATE_FP32 is moved. Returns as ng_oracle_compand. */
ng_status ng_oracle_expand(float *y, const ng_state *x, int64_t n,
                           const ng_optim_options *options);

#endif
