/* SPDX-License-Identifier: Apache-2.0
 *
 * Section 4 of the semantics: the scale and the codes of one FP8 block.
 */
#ifndef NG_REFERENCE_CONVERT_REF_FP8_CODING_H
#define NG_REFERENCE_CONVERT_REF_FP8_CODING_H

#include <stdbool.h>
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

/* What a block holds, value by value from zeros: the largest magnitude of its
 * numbers, and whether there was anything else among them. */
typedef struct ng_ref_fp8_contents {
    ng_exact amax;
    bool nan, infinity;
} ng_ref_fp8_contents;

void ng_ref_fp8_meet(ng_ref_fp8_contents *block, ng_exact v);

/* What the elements of a block are measured by: its scale, and what they are
 * multiplied by where a peer's rule has them multiplied instead of divided. */
typedef struct ng_ref_fp8_unit {
    ng_exact scale; /* an FP32 number, NaN in a NaN block */
    bool multiplies;
    ng_exact multiplier; /* an FP32 number */
} ng_ref_fp8_unit;

/* That of a block with these contents.
 *   rules   fp8_scale, fp8_multiplier, block_least and block_nan are read
 *   x       the type of the block's numbers */
ng_ref_fp8_unit ng_ref_fp8_unit_of(const ng_ref_fp8_contents *block,
                                   const ng_rules *rules, const ng_format *x);

/* The code of v under it, RND_E4M3(v / scale) or, multiplied,
 * RND_E4M3(RN32(v * multiplier)); 0x7F in a NaN block.
 *   v       an FP32 number
 *   random  the word of stochastic rounding
 *   events  bits 1u << NG_EVENT_... are ORed in */
uint8_t ng_ref_fp8_code(ng_exact v, const ng_ref_fp8_unit *unit,
                        const ng_rules *rules, uint32_t random,
                        unsigned *events);

#ifdef __cplusplus
}
#endif

#endif
