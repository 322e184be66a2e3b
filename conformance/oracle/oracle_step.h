/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_CONFORMANCE_ORACLE_STEP_H
#define NG_CONFORMANCE_ORACLE_STEP_H

#include <stdint.h>

#include "formats/optim.h"
#include "formats/status.h"

/* One step of the optimizer c->kind on theta, m and v [n], in place; semantics
 * section 9, rules split, compand, step. Every operation of the row is an exact
 * real rounded once to FP32. m may be null where mu is 0, v where the kind has
 * none. Counts weights and groups as split and compand do. Returns NG_OK, or
 * with everything untouched NG_BAD_SHAPE, NG_BAD_DTYPE, NG_BAD_LAYOUT,
 * NG_BAD_POINTER or NG_BAD_VALUE. */
ng_status ng_oracle_step(const ng_weights *theta, const ng_state *m,
                         const ng_state *v, const ng_gradient *g, int64_t n,
                         const ng_step_constants *c,
                         const ng_optim_options *options);

#endif
