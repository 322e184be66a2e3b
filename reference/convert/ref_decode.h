/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_REFERENCE_CONVERT_REF_DECODE_H
#define NG_REFERENCE_CONVERT_REF_DECODE_H

#include <stdint.h>

#include "formats/format.h"
#include "formats/rules.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Decode one code to FP32. Exact for every format: no code of any needs more
 * than 24 significant bits or leaves the range of FP32, subnormals included
 * (UE8M0 0x00 is 2^-127).
 *   code    bits above the format's width are ignored
 *   rules   nan is read: canonical 0x7FFFFFFF (a change of format computes
 *           it), or bf16-widened: BF16 keeps its bits, UE8M0 gives 0x7FFF0000
 * Source: semantics.md 1. */
float ng_ref_decode(const ng_format *format, uint32_t code,
                    const ng_rules *rules);

#ifdef __cplusplus
}
#endif

#endif
