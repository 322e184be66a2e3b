/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_REFERENCE_OPTIM_REF_COMPAND_H
#define NG_REFERENCE_OPTIM_REF_COMPAND_H

#include <stdint.h>

#include "formats/optim.h"
#include "formats/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Code an optimizer state in groups of 32, one scale each; the kind (momentum,
 * variance) and the coding (companded, linear) are y's. NG_STATE_FP32 is moved.
 *   y        out [n] codes and [ceil(n/32)] scales
 *   x        in  [n], any bits; not overlapping y
 *   options  rules: compand
 * a = the group's largest magnitude: |m|, or r = RN32(sqrt v), linear v itself.
 * ng, exactly: s = RNE_UE6M10(a), saturating;
 *   companded  sign(m) * min(127, RNI(254 |m| / (s + |m|))), and
 *              min(255, RNI(255 r / s)) but at least 1 where v > 0 and s > 0
 *   linear     sign(m) * min(127, RNI(127 |m| / s)), min(255, RNI(255 v / s))
 * all 0 where s = 0; -0 codes to 0. A NaN, an Inf or a v < 0 in the group:
 * scale 0xFFFF, codes 0. v = -0 is 0.
 * flashoptim, FP32, each operation rounded: A = max(a, 1e-12), n = m / A;
 *   companded  floor((2n / (1 + |n|)) * 127 + 0.5), floor((r / A) * 255 + 0.5)
 *   linear     floor(n * 127 + 0.5), floor((v / A) * 255 + 0.5)
 * scale RNE_FP16(A), Inf from 65520 and 0 to 2^-25. The largest is taken over
 * what is no NaN; a NaN (sqrt of v < 0 included) codes to 0, and so does every
 * element beside an Inf, the Inf too. Linear v < 0 codes to 0 (max(0, ...)).
 * Counts: groups[kind], under both rules: nan; else saturated (a, once rounded,
 * is past the largest scale); else lost (a > 0, scale 0).
 * Returns NG_OK, or with y untouched NG_BAD_POINTER, NG_BAD_SHAPE,
 * NG_BAD_LAYOUT (no such kind or coding), NG_BAD_RULES.
 * Source: semantics.md 9; linear under flashoptim is its softsign=False,
 * sqrt=False. */
ng_status ng_ref_compand(const ng_state *y, const float *x, int64_t n,
                         const ng_optim_options *options);

#ifdef __cplusplus
}
#endif

#endif
