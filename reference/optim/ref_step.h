/* SPDX-License-Identifier: Apache-2.0
 *
 * One step of each optimizer, from stored weights and states to stored ones.
 * Any weights (FP32, split) go with any states (FP32, companded, linear) and
 * any gradient. For every element, FP32 throughout:
 *   theta = merge, g = gradient (times its scale), m, v = expand; then the row
 *   below, each operation rounded to nearest by itself; then split, compand.
 * A group of 32 is read before it is written. A NaN that is stored is canonical
 * (the step computed it). sqrt(v) of the step and of the coder are of the same
 * new v. What happens to weights and groups is counted as split and compand do.
 *   theta    in-out [n]
 *   m, v     in-out [n]; kinds NG_MOMENTUM, NG_VARIANCE
 *   g        in     [n]; NaN and Inf are taken as they come (a loop that skips
 *            such steps looks first: ng_ref_gradient_is_finite)
 *   n        elements; 0 is legal, pointers may then be null
 *   c        the constants of this step, of the function's own kind
 *   options  rules: split, compand, step
 * Returns NG_OK, or with everything untouched NG_BAD_POINTER, NG_BAD_SHAPE,
 * NG_BAD_DTYPE, NG_BAD_LAYOUT, NG_BAD_RULES, NG_BAD_VALUE (c of another kind).
 * Source: semantics.md 9.
 */
#ifndef NG_REFERENCE_OPTIM_REF_STEP_H
#define NG_REFERENCE_OPTIM_REF_STEP_H

#include <stdint.h>

#include "formats/optim.h"
#include "formats/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* g = g + (w*theta); m = (mu*m) + (cd*g); u = m, Nesterov g + (mu*m) of the new
 * m; theta = theta - (lr*u). mu = 0: u = g, and m is not looked at (may be
 * null). */
ng_status ng_ref_step_sgd(const ng_weights *theta, const ng_state *m,
                          const ng_gradient *g, int64_t n,
                          const ng_step_constants *c,
                          const ng_optim_options *options);

/* m and u as above, without w; theta = d*theta; theta = theta - (lr*u). */
ng_status ng_ref_step_sgdw(const ng_weights *theta, const ng_state *m,
                           const ng_gradient *g, int64_t n,
                           const ng_step_constants *c,
                           const ng_optim_options *options);

/* g = g + (w*theta); m = (b1*m) + (c1*g); v = (b2*v) + (c2*(g*g));
 * ng: theta = theta - ((al*m) / ((ka*sqrt(v)) + eps))
 * flashoptim: theta = theta - ((lr*(m/bc1)) / (sqrt(v/bc2) + eps)) */
ng_status ng_ref_step_adam(const ng_weights *theta, const ng_state *m,
                           const ng_state *v, const ng_gradient *g, int64_t n,
                           const ng_step_constants *c,
                           const ng_optim_options *options);

/* As Adam without w; theta = d*theta before theta's update. */
ng_status ng_ref_step_adamw(const ng_weights *theta, const ng_state *m,
                            const ng_state *v, const ng_gradient *g, int64_t n,
                            const ng_step_constants *c,
                            const ng_optim_options *options);

/* u = sign((b1*m) + (c1*g)), of zero +0, of NaN NaN (flashoptim: 0);
 * m = (b2*m) + (c2*g) of the old m; theta = d*theta; theta = theta - (lr*u). */
ng_status ng_ref_step_lion(const ng_weights *theta, const ng_state *m,
                           const ng_gradient *g, int64_t n,
                           const ng_step_constants *c,
                           const ng_optim_options *options);

/* The step of c->kind. v may be null where the kind has none. */
ng_status ng_ref_step(const ng_weights *theta, const ng_state *m,
                      const ng_state *v, const ng_gradient *g, int64_t n,
                      const ng_step_constants *c,
                      const ng_optim_options *options);

/* *finite = whether every element, widened and multiplied by the scale as a
 * step does, is finite (true for n = 0). Returns NG_OK, NG_BAD_POINTER,
 * NG_BAD_SHAPE or NG_BAD_DTYPE with *finite untouched. */
ng_status ng_ref_gradient_is_finite(bool *finite, const ng_gradient *g,
                                    int64_t n);

#ifdef __cplusplus
}
#endif

#endif
