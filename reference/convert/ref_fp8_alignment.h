/* SPDX-License-Identifier: Apache-2.0
 *
 * Sections 5 and 6 of the semantics: small blocks with power-of-two scales
 * brought under one scale S = 2^k, by moving exponents only.
 */
#ifndef NG_REFERENCE_CONVERT_REF_FP8_ALIGNMENT_H
#define NG_REFERENCE_CONVERT_REF_FP8_ALIGNMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/layout.h"
#include "reference/exact.h"

#ifdef __cplusplus
extern "C" {
#endif

/* E = max e over the scales that are not NaN, whatever their codes.
 * Zero-initialize. */
typedef struct ng_ref_alignment {
    bool any;
    int largest;
} ng_ref_alignment;

/* Take in one more scale: a power of two, or NaN. */
void ng_ref_alignment_add(ng_ref_alignment *alignment, ng_exact scale);

/* The exponent k of S, which is stored as `dtype`: E - headroom, in UE8M0 not
 * below -127; 0 where all scales were NaN. */
int ng_ref_alignment_exponent(const ng_ref_alignment *alignment, int headroom,
                              ng_dtype dtype);

/* RNE_E4M3(q * scale / 2^k), the sign of zero kept; 0x7F if q or scale is NaN.
 *   rules   rounding (nearest-even, by the callers' checks) and overflow, which
 *           a headroom above 6 can meet: 6 * 2^7 > 448
 *   events  bits 1u << NG_EVENT_... are ORed in */
uint8_t ng_ref_aligned_code(ng_exact q, ng_exact scale, int k,
                            const ng_rules *rules, unsigned *events);

#ifdef __cplusplus
}
#endif

#endif
