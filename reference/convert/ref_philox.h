/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_REFERENCE_CONVERT_REF_PHILOX_H
#define NG_REFERENCE_CONVERT_REF_PHILOX_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Word `index` of the random stream (seed, stream): word index mod 4 of
 * Philox4x32-10 with the counter (index div 4, stream) and the key seed, each
 * 64 bits, low word first. Total; any index may be asked for in any order.
 * Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as
 * 1, 2, 3", SC 2011; semantics.md 1. */
uint32_t ng_ref_philox(uint64_t seed, uint64_t stream, uint64_t index);

#ifdef __cplusplus
}
#endif

#endif
