/* SPDX-License-Identifier: Apache-2.0
 *
 * Inputs by value: between magnitudes and the codes of a format, for making
 * cases. What comes out is an input, never an expectation: a value that the
 * format lacks becomes the one below it, and nothing is rounded to nearest.
 */
#ifndef NG_CONFORMANCE_CHECKS_NUMBERS_H
#define NG_CONFORMANCE_CHECKS_NUMBERS_H

#include "conformance/checks/case.h"
#include "formats/format.h"

/* The format of NG_FP32, NG_BF16 or NG_FP16. */
const ng_format *ng_number_format(ng_dtype dtype);

/* The value of a magnitude code, one past the largest finite included. */
double ng_number_value(const ng_format *format, uint32_t code);

/* The code of the largest magnitude not above |x|, with the sign of x. */
uint32_t ng_number_below(const ng_format *format, double x);

/* The code `steps` above (below, if negative) in magnitude, from zero to the
 * largest finite; the sign stays. */
uint32_t ng_number_step(const ng_format *format, uint32_t code, int steps);

/* Exponents of the smallest and the largest magnitude: 2^least is the smallest
 * subnormal, and the largest finite lies in [2^most, 2^(most + 1)). */
int ng_number_least(const ng_format *format);
int ng_number_most(const ng_format *format);

/* Near a normal deviate: the sum of four uniform ones, variance 1. */
double ng_case_normal(ng_case *c);

/* FP32 bits of 2^k, subnormal below -126; -149 <= k <= 127. */
uint32_t ng_number_power(int k);

#endif
