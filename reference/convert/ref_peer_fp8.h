/* SPDX-License-Identifier: Apache-2.0
 *
 * Scales and multipliers of FP8 blocks as peers compute them, in FP32:
 * semantics.md 13.
 */
#ifndef NG_REFERENCE_CONVERT_REF_PEER_FP8_H
#define NG_REFERENCE_CONVERT_REF_PEER_FP8_H

#include "reference/exact.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The scale of a block.
 *   amax    finite, not zero
 *   kind    a value of ng_fp8_scale from NG_N_FP8_SCALES on
 *   x       the type of the block's numbers: where a quotient passes FP32, its
 *           largest finite number stands for it */
ng_exact ng_ref_peer_fp8_scale(ng_exact amax, int kind, const ng_format *x);

/* What elements are multiplied by under rule fp8.multiplier of-scale, or, where
 * the scale comes from amax and is no power of two, under one of the others. An
 * infinite scale has the multiplier 0. */
ng_exact ng_ref_fp8_multiplier_of_scale(ng_exact scale, const ng_format *x);
ng_exact ng_ref_fp8_multiplier_of_amax(ng_exact amax, int multiplier,
                                       const ng_format *x);

#ifdef __cplusplus
}
#endif

#endif
