/* SPDX-License-Identifier: Apache-2.0
 *
 * SwiGLU and its derivatives as real numbers, and how far FP32 may stay from
 * them. In units of u = 2^-24, for y = x / (1 + exp(-x)) * up in FP32, each
 * function within 2 ulps (4 u) and each operation rounded:
 *   2 |x|  the argument of the exponential, as x log2 e: the constant and the
 *          product are rounded, u each, and e^t moves by as much as t
 *   4      the exponential
 *   1 + 2  the sum; the reciprocal, within an ulp, or the division
 *   4      up to four products: e r where s(x) is formed as e / (1 + e), x s,
 *          by up
 *   1      all second order
 * so 12 + 2 |x| of |y|. The error of the exponential arrives in the quotient by
 * the factor e / (1 + e) <= 1. An underflow adds at most 2^-149, times whatever
 * multiplies it afterwards.
 *
 * Backward: grad_up as y, with grad_y in place of up. Of grad_gate, let a =
 * |grad_y up| s (1 + |x| (1 - s)), the sum of magnitudes. s is off by s (1 - s)
 * (2 |x| + 4) + 8 s at most, 1 - s by as much and 1 if formed by subtraction;
 * that times |x| and s, and s's own error times the bracket, come to
 * (2 |x| + 4) + 9 |x| + (2 |x| + 12) + 5, less than 24 + 13 |x| of a.
 *
 * Where x < -88.7, exp(-x) passes FP32 and s may be 0: nothing need be left of
 * the result. Where grad_y * up passes 2^128, or a product with an infinity
 * depends on whether s is 0, nothing is claimed. BF16 rounds once more: 2^-8 of
 * the result, or 2^-134.
 */
#ifndef NG_CONFORMANCE_ORACLE_SWIGLU_H
#define NG_CONFORMANCE_ORACLE_SWIGLU_H

#include "conformance/subject/bounds.h"
#include "formats/layout.h"
#include "formats/options.h"

/* What an element may be, as ng_bounds has it. */
typedef struct ng_oracle_bounded {
    double exact, bound;
} ng_oracle_bounded;

/* From BF16 codes, for an output of FP32 or BF16. */
ng_oracle_bounded ng_oracle_swiglu_element(uint16_t gate, uint16_t up,
                                           ng_dtype out);
ng_oracle_bounded ng_oracle_swiglu_grad_up(uint16_t grad, uint16_t gate,
                                           ng_dtype out);
ng_oracle_bounded ng_oracle_swiglu_grad_gate(uint16_t grad, uint16_t gate,
                                             uint16_t up, ng_dtype out);

/* The oracle's writings of ng_ref_swiglu ...: the nearest FP32 number to the
 * real one, then BF16. */
ng_status ng_oracle_swiglu(const ng_matrix *y, const ng_matrix *gate,
                           const ng_matrix *up, const ng_options *options);
ng_status ng_oracle_swiglu_backward(const ng_matrix *grad_gate,
                                    const ng_matrix *grad_up,
                                    const ng_matrix *grad_y,
                                    const ng_matrix *gate, const ng_matrix *up,
                                    const ng_options *options);

#endif
