/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_CONFORMANCE_ORACLE_MERGE_WEIGHTS_H
#define NG_CONFORMANCE_ORACLE_MERGE_WEIGHTS_H

#include "formats/optim.h"
#include "formats/status.h"

/* Put split weights x [n], any bits, together in theta; semantics section 8,
 * rule split. NG_FP32 is moved. Returns as ng_oracle_split_weights. */
ng_status ng_oracle_merge_weights(float *theta, const ng_weights *x, int64_t n,
                                  const ng_optim_options *options);

#endif
