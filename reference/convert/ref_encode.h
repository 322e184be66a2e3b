/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_REFERENCE_CONVERT_REF_ENCODE_H
#define NG_REFERENCE_CONVERT_REF_ENCODE_H

#include <stdint.h>

#include "formats/format.h"
#include "formats/rules.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Encode one FP32 value as a code of any format, in any rounding mode and
 * overflow rule.
 *   format  one of ng_formats
 *   x       any FP32 value, subnormals, infinities and NaN included
 *   rules   rounding, overflow, e2m1_nan are read
 *   random  the word r of stochastic rounding, otherwise not read
 *   events  in-out, may be null; 1u << NG_EVENT_... are ORed in
 * Returns the code, right-aligned. Overflow is judged after rounding in the
 * format continued upward. A result of zero keeps the sign of x. NaN gives the
 * canonical NaN (a change of format computes it), in E2M1 a code that the rules
 * name. UE8M0 and UE6M10 encode |x|; below 2^-127, zero included, UE8M0 is 0x00.
 * UE6M10 and E2M1 saturate under either rule. Total: it cannot fail.
 * Source: semantics.md 1; OCP MX v1.0, OCP OFP8 v1.0, IEEE 754-2019 section 4. */
uint32_t ng_ref_encode(const ng_format *format, float x, const ng_rules *rules,
                       uint32_t random, unsigned *events);

#ifdef __cplusplus
}
#endif

#endif
