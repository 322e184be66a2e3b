/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_REFERENCE_OPTIM_REF_MERGE_WEIGHTS_H
#define NG_REFERENCE_OPTIM_REF_MERGE_WEIGHTS_H

#include <stdint.h>

#include "formats/optim.h"
#include "formats/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Put split weights together again.
 *   theta    out [n]
 *   x        in  [n], any bits; not overlapping theta. NG_FP32 is moved
 *   options  rules: split
 * ulp: the value of the F_n code (low << n) + rho modulo 2^(16+n), RN32 where
 * F_n has more fraction bits than FP32 (NG_FP16 with 16); NaN is 0x7FFFFFFF.
 * flashoptim: low + (rho / M) * 2^l in FP32, M = 127 or 32767; so a stored -0
 * with rho 0 comes back as +0. With 0 bits theta is the value of low.
 * Total: pairs that split never writes have a value too (loaders refuse them).
 * Returns NG_OK, or with theta untouched the errors of ng_ref_split_weights.
 * Source: semantics.md 8. */
ng_status ng_ref_merge_weights(float *theta, const ng_weights *x, int64_t n,
                               const ng_optim_options *options);

#ifdef __cplusplus
}
#endif

#endif
