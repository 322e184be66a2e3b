/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_REFERENCE_MOE_REF_HOPPER_FP8_DOT_H
#define NG_REFERENCE_MOE_REF_HOPPER_FP8_DOT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { NG_HOPPER_DOT = 32 }; /* products an instruction adds */

/* One output of one Hopper tensor-core instruction, E4M3 x E4M3 into FP32
 * (wgmma m64nNk32, whatever N): c + the sum of a[i] * b[i], i = 0 .. 31, as the
 * hardware adds.
 *   a, b     in  32 E4M3 codes each
 *   c        in  FP32 bits of the accumulator
 *   returns  FP32 bits
 * The terms (products and accumulator) are aligned to the largest exponent emax
 * among those that are not zero, cut toward zero at 2^(emax - 13), added
 * exactly, and the sum is cut toward zero to 13 fraction bits. A product's
 * exponent is the sum of its operands', not normalised; a subnormal operand
 * counts as -6. Total: every input has one result.
 * Source: semantics.md 11 and 12, measured on an H200
 * (cuda/moe/probe_wgmma.cu).
 */
uint32_t ng_ref_hopper_fp8_dot(const uint8_t a[NG_HOPPER_DOT],
                               const uint8_t b[NG_HOPPER_DOT], uint32_t c);

/* A run of instructions over n codes (any n >= 0), the first from c, each from
 * the one before; where n is no multiple of 32 the last has codes of 0 to fill.
 */
uint32_t ng_ref_hopper_fp8_chain(const uint8_t *a, const uint8_t *b, int64_t n,
                                 uint32_t c);

#ifdef __cplusplus
}
#endif

#endif
