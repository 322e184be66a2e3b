/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_REFERENCE_OPTIM_REF_EXPAND_H
#define NG_REFERENCE_OPTIM_REF_EXPAND_H

#include <stdint.h>

#include "formats/optim.h"
#include "formats/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Decode an optimizer state to FP32; kind and coding are x's. NG_STATE_FP32 is
 * moved.
 *   y        out [n]
 *   x        in  [n] codes, [ceil(n/32)] scales, any bits; not overlapping y
 *   options  rules: compand
 * ng, s the value of the UE6M10 scale:
 *   companded  RN32(RN32(q / (254 - |q|)) * s), and t = RN32(RN32(q/255) * s),
 *              RN32(t*t)
 *   linear     RN32(RN32(q/127) * s), RN32(RN32(q/255) * s)
 * Scale 0xFFFF makes every element NaN.
 * flashoptim, FP32, each operation rounded, s the value of the FP16 scale:
 *   companded  t = q/127, (t / (2 - |t|)) * s, and u = (q/255) * s, u * u
 *   linear     (q/127) * s, (q/255) * s
 * so that a scale of Inf gives NaN under code 0. NaN is 0x7FFFFFFF. Code 0
 * under a finite scale is +0 (flashoptim: of the scale's sign, which is never
 * minus). -128, which is never written, decodes by the same rule.
 * Returns NG_OK, or with y untouched the errors of ng_ref_compand.
 * Source: semantics.md 9. */
ng_status ng_ref_expand(float *y, const ng_state *x, int64_t n,
                        const ng_optim_options *options);

#ifdef __cplusplus
}
#endif

#endif
