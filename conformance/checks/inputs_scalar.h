/* SPDX-License-Identifier: Apache-2.0
 *
 * Inputs of the scalar codecs. Which format a stratum works on is read from the
 * name of the operation ("encode_e4m3").
 */
#ifndef NG_CONFORMANCE_CHECKS_INPUTS_SCALAR_H
#define NG_CONFORMANCE_CHECKS_INPUTS_SCALAR_H

#include "conformance/checks/operation.h"

extern const ng_stratum ng_encode_strata[];
extern const ng_stratum ng_decode_strata[];
extern const ng_stratum ng_philox_strata[];

#endif
