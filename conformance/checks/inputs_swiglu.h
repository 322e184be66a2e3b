/* SPDX-License-Identifier: Apache-2.0
 *
 * Inputs of SwiGLU; one table of strata serves all its operations.
 */
#ifndef NG_CONFORMANCE_CHECKS_INPUTS_SWIGLU_H
#define NG_CONFORMANCE_CHECKS_INPUTS_SWIGLU_H

#include "conformance/checks/operation.h"

extern const ng_stratum ng_swiglu_strata[];

#endif
