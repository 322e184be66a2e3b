/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_REFERENCE_OPTIM_REF_SPLIT_WEIGHTS_H
#define NG_REFERENCE_OPTIM_REF_SPLIT_WEIGHTS_H

#include <stdint.h>

#include "formats/optim.h"
#include "formats/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Split FP32 weights into low halves and corrections.
 *   y        out [n]; NG_BF16 or NG_FP16 with 0, 8 or 16 bits of correction. Of
 *            NG_FP32 the weights are moved, NaN bits included
 *   theta    in  [n], any bits; not overlapping y
 *   options  rules: split
 * ulp: with F_n the low format and n more fraction bits, X = code of
 * RNE_Fn(theta), low = (X + 2^(n-1)) >> n, rho = X - (low << n). Inf and NaN:
 * low Inf or 0x7FFF, rho 0. A finite theta whose low would be Inf gets the
 * largest finite low of its sign and rho = 2^(n-1) - 1. With n = 0 low is
 * RNE(theta), a finite one never Inf.
 * flashoptim: low = RNE(theta), rho = the rounding error in units of half an
 * ulp of low's binade times 127 or 32767, computed in FP32. Where low is Inf or
 * NaN rho is free, and here 0. A finite theta can become Inf.
 * Counts: weights_saturated, the finite theta whose low would be, or is, Inf.
 * Returns NG_OK, or with y untouched NG_BAD_POINTER, NG_BAD_SHAPE (n negative,
 * or its bytes past INT64_MAX), NG_BAD_DTYPE, NG_BAD_LAYOUT (correction bits
 * other than 0, 8, 16, or not 0 with NG_FP32), NG_BAD_RULES.
 * Source: semantics.md 8. */
ng_status ng_ref_split_weights(const ng_weights *y, const float *theta,
                               int64_t n, const ng_optim_options *options);

#ifdef __cplusplus
}
#endif

#endif
