/* SPDX-License-Identifier: Apache-2.0
 *
 * A real number beside the most that its FP32 counterpart may differ from it,
 * carried through FP32 operations: standard model of rounding, oracle_range.c.
 */
#ifndef NG_CONFORMANCE_ORACLE_RANGE_H
#define NG_CONFORMANCE_ORACLE_RANGE_H

#include <mpfr.h>
#include <stdbool.h>

/* error is infinite where no bound holds: NaN, overflow, a denominator that
 * could be zero. */
typedef struct ng_oracle_range {
    mpfr_t value, error;
} ng_oracle_range;

void ng_oracle_range_init(ng_oracle_range *y); /* exactly 0 */
void ng_oracle_range_clear(ng_oracle_range *y);
void ng_oracle_range_set(ng_oracle_range *y, float x); /* exactly x */
void ng_oracle_range_copy(ng_oracle_range *y, const ng_oracle_range *x);

/* y = a + b, or a - b; a * b; a / b; sqrt a: one FP32 operation. y may be an
 * operand. */
void ng_oracle_range_sum(ng_oracle_range *y, const ng_oracle_range *a,
                         const ng_oracle_range *b, bool minus);
void ng_oracle_range_product(ng_oracle_range *y, const ng_oracle_range *a,
                             const ng_oracle_range *b);
void ng_oracle_range_quotient(ng_oracle_range *y, const ng_oracle_range *a,
                              const ng_oracle_range *b);
void ng_oracle_range_root(ng_oracle_range *y, const ng_oracle_range *a);

/* y = sign a, uncertain where a could be of either sign. */
void ng_oracle_range_sign(ng_oracle_range *y, const ng_oracle_range *a);

/* Whether an FP32 result lies within the range. */
bool ng_oracle_within(const ng_oracle_range *x, float result);

#endif
