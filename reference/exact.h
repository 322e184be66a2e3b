/* SPDX-License-Identifier: Apache-2.0
 *
 * Exact real numbers in integers, and the one rounding of the reference.
 *
 * Every value that a conversion meets is a product, a quotient or a power-of-two
 * multiple of FP32 numbers: it fits a 64-bit significand with an exponent, a
 * quotient with one more bit that says whether anything was left over. So the
 * reference computes with integers alone and rounds once, here. No host
 * floating-point arithmetic takes part in a result.
 */
#ifndef NG_REFERENCE_EXACT_H
#define NG_REFERENCE_EXACT_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/format.h"
#include "formats/rules.h"

typedef enum ng_exact_kind {
    NG_EXACT_FINITE, NG_EXACT_INFINITE, NG_EXACT_NAN
} ng_exact_kind;

/* The real (significand + d) * 2^exponent with 0 < d < 1 where sticky is set
 * and d = 0 where it is not; significand < 2^63. Zero has a sign. */
typedef struct ng_exact {
    ng_exact_kind kind;
    bool negative;
    bool sticky;
    uint64_t significand;
    int exponent;
} ng_exact;

/* The value of a code. */
ng_exact ng_exact_decode(const ng_format *format, uint32_t code);

/* a * b. Significands of at most 31 bits each, neither sticky. Inf * 0 is NaN. */
ng_exact ng_exact_product(ng_exact a, ng_exact b);

/* a / b. Significands of at most 31 bits, neither sticky; b finite, not zero. */
ng_exact ng_exact_quotient(ng_exact a, ng_exact b);

/* a * 2^k. */
ng_exact ng_exact_scale(ng_exact a, int k);

/* The sign of |a| - |b|; both finite, neither sticky, significands < 2^32. */
int ng_exact_compare_magnitude(ng_exact a, ng_exact b);

/* floor(log2 |a|) of a finite number that is not zero. */
int ng_exact_floor_log2(ng_exact a);

/* Round x to a code of format by rules->rounding and rules->overflow.
 *   random  the word r of stochastic rounding; otherwise not read
 *   events  in-out, bits 1u << NG_EVENT_... are ORed in; never null
 * Zero keeps its sign. A NaN gives the NaN that rules->nan says, in E2M1 the
 * code that rules->e2m1_nan says. UE8M0 and UE6M10 take |x|; everything below
 * 2^-127 is UE8M0 0x00. E2M1 and UE6M10 saturate under either overflow rule.
 * Peers' rules ue8m0, e2m1_zero and e2m1_half: semantics.md 13.
 * Source: semantics.md 1. */
uint32_t ng_exact_round(const ng_format *format, ng_exact x,
                        const ng_rules *rules, uint32_t random,
                        unsigned *events);

/* RN32(x): nearest, ties to even, overflowing to Inf; NaN canonical. Returns
 * the FP32 number's exact value; *events as above. */
ng_exact ng_exact_round_fp32(ng_exact x, unsigned *events);

#endif
