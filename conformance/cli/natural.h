/* SPDX-License-Identifier: Apache-2.0
 *
 * Natural numbers of up to NG_NATURAL_BITS bits: what `round` and `show` need
 * to take a decimal exactly and to print one without loss, GMP or not. A result
 * past that size aborts; callers bound their inputs so that none gets there.
 */
#ifndef NG_CONFORMANCE_CLI_NATURAL_H
#define NG_CONFORMANCE_CLI_NATURAL_H

#include <stdbool.h>
#include <stdint.h>

enum { NG_NATURAL_LIMBS = 1024, NG_NATURAL_BITS = 32 * NG_NATURAL_LIMBS };

/* limb[0] is the lowest; limb[n - 1] is not zero. Zero has n = 0. */
typedef struct ng_natural {
    int n;
    uint32_t limb[NG_NATURAL_LIMBS];
} ng_natural;

void ng_natural_set(ng_natural *a, uint64_t value);
bool ng_natural_is_zero(const ng_natural *a);

/* Bits up to the highest that is set; 0 for zero. */
int ng_natural_bits(const ng_natural *a);

/* The sign of a - b. */
int ng_natural_compare(const ng_natural *a, const ng_natural *b);

/* a = a * factor + addend */
void ng_natural_multiply_add(ng_natural *a, uint32_t factor, uint32_t addend);

/* a = a * 10^exponent, a * 2^bits; neither exponent negative */
void ng_natural_scale_ten(ng_natural *a, int exponent);
void ng_natural_shift_left(ng_natural *a, int bits);

/* a = a - b, where a >= b */
void ng_natural_subtract(ng_natural *a, const ng_natural *b);

/* product = a * b; product is neither a nor b */
void ng_natural_multiply(ng_natural *product, const ng_natural *a,
                         const ng_natural *b);

#endif
