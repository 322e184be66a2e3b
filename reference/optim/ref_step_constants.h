/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_REFERENCE_OPTIM_REF_STEP_CONSTANTS_H
#define NG_REFERENCE_OPTIM_REF_STEP_CONSTANTS_H

#include <stdint.h>

#include "formats/optim.h"
#include "formats/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Make the constants of step t, the same for every element.
 *   c        out
 *   hyper    in; lr and weight_decay may be of either sign
 *   t        in, from 1
 *   options  rules: step
 *   error    out, may be null: one line naming the field
 * ng: in FP64, each operation rounded, then to FP32. c1 = 1 - beta1, c2 = 1 -
 *   beta2, cd = 1 - dampening; d = 1 - lr*wd, LR-decoupled 1 - wd*(lr/lr0);
 *   al = lr/(1 - p1), ka = 1/sqrt(1 - p2), p = beta^t by square-and-multiply
 *   from t's lowest bit: p = 1, x = beta; bit set: p = p*x; then x = x*x.
 * flashoptim: lr*wd, LR-decoupled wd*(lr/lr0), in FP64, then all to FP32; then
 *   in FP32 c1 = 1 - b1, c2 = 1 - b2, cd = 1 - dampening, d = 1 - that product,
 *   bc = 1 - p. FlashOptim leaves the power to its device's pow; here p is the
 *   FP32 of the FP64 square-and-multiply above on the FP32 beta.
 * L2 kinds set w = weight_decay and d = 1, the others w = 0. Fields not read by
 * the kind or the profile are 0. A decay is skipped where w = 0, d = 1.
 * Returns NG_OK, or with *c untouched NG_BAD_POINTER, NG_BAD_RULES, or
 * NG_BAD_VALUE: a field that is read is not finite, beta or momentum outside
 * [0, 1), eps not positive in FP32, lr0 = 0 with LR-decoupled decay (whatever
 * the decay), Nesterov with dampening or without momentum, t = 0, or no such
 * kind.
 * Source: semantics.md 9. */
ng_status ng_ref_step_constants(ng_step_constants *c, ng_optimizer_kind kind,
                                const ng_hyper *hyper, uint64_t t,
                                const ng_optim_options *options,
                                ng_error *error);

#ifdef __cplusplus
}
#endif

#endif
