/* SPDX-License-Identifier: Apache-2.0
 *
 * Inputs of the grouped GEMMs; one table of strata serves all of those over
 * blocks, one those over plain BF16.
 */
#ifndef NG_CONFORMANCE_CHECKS_INPUTS_GEMM_H
#define NG_CONFORMANCE_CHECKS_INPUTS_GEMM_H

#include "conformance/checks/operation.h"

extern const ng_stratum ng_gemm_strata[];
extern const ng_stratum ng_gemm_bf16_strata[];

#endif
