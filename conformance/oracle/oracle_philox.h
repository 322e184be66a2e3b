/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_CONFORMANCE_ORACLE_PHILOX_H
#define NG_CONFORMANCE_ORACLE_PHILOX_H

#include <stdint.h>

/* The random word of element `index`: word index mod 4 of Philox4x32-10 with
 * the counter (index div 4, stream) and the key seed, 64 bits each, low word
 * first. Source: Salmon, Moraes, Dror, Shaw, "Parallel Random Numbers: As Easy
 * as 1, 2, 3", SC 2011. */
uint32_t ng_oracle_philox(uint64_t seed, uint64_t stream, uint64_t index);

#endif
