/* SPDX-License-Identifier: Apache-2.0
 *
 * What a kind of optimizer reads of its settings, and which of them are errors
 * of the caller; semantics section 9.
 */
#ifndef NG_CONFORMANCE_ORACLE_HYPER_H
#define NG_CONFORMANCE_ORACLE_HYPER_H

#include <stdbool.h>

#include "formats/optim.h"

bool ng_oracle_is_sgd(ng_optimizer_kind kind);  /* SGD, SGDW */
bool ng_oracle_is_adam(ng_optimizer_kind kind); /* Adam, AdamW */
bool ng_oracle_is_l2(ng_optimizer_kind kind);   /* decay in the gradient */

/* The field that is wrong, or null. Fields that are read must be finite in
 * FP32, where eps must be positive and, with Nesterov, mu not 0. */
const char *ng_oracle_hyper_fault(ng_optimizer_kind kind, const ng_hyper *h);

/* An FP64 number as FP32, rounded once. */
float ng_oracle_narrow(double x);

#endif
