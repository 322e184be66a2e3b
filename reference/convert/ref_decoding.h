/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_REFERENCE_CONVERT_REF_DECODING_H
#define NG_REFERENCE_CONVERT_REF_DECODING_H

#include <stdint.h>

#include "formats/options.h"
#include "reference/exact.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Decode one element: RN32(code * scale), then RNE to dtype where that is
 * narrower. Returns the code of the dtype.
 *   code, scale  exact values of at most 31 bits; NaN and Inf as IEEE has them
 *   dtype        NG_FP32, NG_BF16 or NG_FP16
 *   rules        overflow is read, by the second rounding
 *   events       bits 1u << NG_EVENT_... of both roundings are ORed in
 * Source: semantics.md 1. RN32 overflows to Inf by its definition there. RNE to
 * a narrower format "meets the overflow rule", so that rule is read, as by
 * ng_ref_encode of the FP32 value: decoding equals decode-then-encode. */
uint32_t ng_ref_decode_element(ng_exact code, ng_exact scale, ng_dtype dtype,
                               const ng_rules *rules, unsigned *events);

#ifdef __cplusplus
}
#endif

#endif
