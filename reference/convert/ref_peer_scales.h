/* SPDX-License-Identifier: Apache-2.0
 *
 * Scales of MX blocks as peers compute them: semantics.md 13.
 */
#ifndef NG_REFERENCE_CONVERT_REF_PEER_SCALES_H
#define NG_REFERENCE_CONVERT_REF_PEER_SCALES_H

#include <stdbool.h>

#include "reference/convert/ref_mx_coding.h"
#include "reference/exact.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The exponent of the scale, before the ends of UE8M0.
 *   amax  finite, not zero, of at most 28 significant bits
 *   mode  a value of ng_mx_scale from NG_N_MX_SCALES on */
int ng_ref_peer_mx_exponent(const ng_ref_mx *mx, ng_exact amax, int mode);

/* Whether the mode's arithmetic passes FP32 on the way, so that the block is a
 * NaN. */
bool ng_ref_peer_amax_is_nan(const ng_ref_mx *mx, ng_exact amax, int mode);

#ifdef __cplusplus
}
#endif

#endif
