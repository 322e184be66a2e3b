/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_CONFORMANCE_ORACLE_STEP_CONSTANTS_H
#define NG_CONFORMANCE_ORACLE_STEP_CONSTANTS_H

#include <stdint.h>

#include "formats/optim.h"
#include "formats/status.h"

/* The constants of step t; semantics section 9, rule step. FP64 and FP32
 * operations are MPFR's, each rounded once. Returns NG_OK, or NG_BAD_VALUE with
 * *c untouched and, if error is not null, a line. */
ng_status ng_oracle_step_constants(ng_step_constants *c, ng_optimizer_kind kind,
                                   const ng_hyper *hyper, uint64_t t,
                                   const ng_optim_options *options,
                                   ng_error *error);

#endif
