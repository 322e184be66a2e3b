/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_CONFORMANCE_ORACLE_SPLIT_WEIGHTS_H
#define NG_CONFORMANCE_ORACLE_SPLIT_WEIGHTS_H

#include "formats/optim.h"
#include "formats/status.h"

/* Split FP32 weights theta [n] into y; semantics section 8, rule split. NG_FP32
 * is moved. Counts weights_saturated. Returns NG_OK, or with y untouched
 * NG_BAD_SHAPE, NG_BAD_DTYPE, NG_BAD_LAYOUT or NG_BAD_POINTER. */
ng_status ng_oracle_split_weights(const ng_weights *y, const float *theta,
                                  int64_t n, const ng_optim_options *options);

#endif
