/* SPDX-License-Identifier: Apache-2.0
 *
 * Section 4 of the semantics: the scale and the codes of one FP8 block.
 */
#ifndef NG_REFERENCE_CONVERT_REF_FP8_CODING_H
#define NG_REFERENCE_CONVERT_REF_FP8_CODING_H

#include <stdint.h>

#include "formats/options.h"
#include "reference/exact.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether the rules can be had: stochastic rounding only with power-of-two
 * scales, where the place between two codes is exact, and scales stored as
 * UE8M0 only with those. Returns NG_OK or NG_BAD_RULES. */
ng_status ng_ref_check_fp8_rules(const ng_rules *rules,
                                 const ng_scales *scales);

/* The scale of a block with this amax (ref_amax.h): an FP32 number, NaN where
 * amax is.
 *   amax    an FP32 magnitude
 *   kind    ng_fp8_scale */
ng_exact ng_ref_fp8_scale(ng_exact amax, int kind);

/* The code of v under that scale, RND_E4M3(v / scale); 0x7F in a NaN block.
 *   v       an FP32 number
 *   random  the word of stochastic rounding
 *   events  bits 1u << NG_EVENT_... are ORed in */
uint8_t ng_ref_fp8_code(ng_exact v, ng_exact scale, const ng_rules *rules,
                        uint32_t random, unsigned *events);

#ifdef __cplusplus
}
#endif

#endif
