/* SPDX-License-Identifier: Apache-2.0
 *
 * What one thread of the oracle keeps between calls, so that no element pays
 * for an allocation: MPFR variables, grids, and the elements of a block.
 */
#ifndef NG_CONFORMANCE_ORACLE_CONTEXT_H
#define NG_CONFORMANCE_ORACLE_CONTEXT_H

#include <gmp.h>
#include <mpfr.h>
#include <stdint.h>

#include "conformance/oracle/oracle_format.h"

/* Holds, exactly, the distance from x to either neighbour. Neighbours within a
 * factor of two of x leave a difference no wider than they are. Else x lies
 * below the smallest nonzero value of its grid, and the difference reaches from
 * that value down to the last bit of x. Widest: 0.5 under the largest MXFP4
 * scale, 2^126, and an FP32 input of 2^-149: 275 bits. (FP8 scales: 2^-9 times
 * at most 2^127, down to 2^-149; aligned codes, down to 2^-9 times 2^-127;
 * scalars, 2^-1 down to 2^-149; code times scale into MXFP4: one scale, so at
 * most 24 bits and the span of E4M3. Never more.) Every difference is checked
 * by its ternary value all the same. */
enum { NG_ORACLE_WIDE_BITS = 320 };

/* The magnitudes of a format, times a positive unit (a scale). */
typedef struct ng_oracle_grid {
    ng_format_id id;
    const mpfr_t *value; /* as ng_oracle_values, times the unit */
    uint32_t hint;       /* code found last; a guess, always checked */
    mpfr_t unit;         /* scaled grids only, once own is set */
    mpfr_t *own;         /* what value points at there; else null */
} ng_oracle_grid;

typedef struct ng_oracle_context {
    /* oracle_round.c */
    ng_oracle_grid grid[NG_N_FORMATS];   /* unit 1 */
    ng_oracle_grid scaled[NG_N_FORMATS]; /* built when first asked for */
    mpfr_t magnitude, lower, upper, below, above;
    mpfr_t wide_magnitude, wide_below, wide_above, t;
    /* oracle_philox.c */
    mpz_t counter[4], key[2], product[2];
    uint64_t seed, stream, block; /* whose words are below */
    uint32_t word[4];
    int has_words;
    /* one operation at a time */
    mpfr_t x, scale, unit, amax;
    mpfr_t *element; /* n_elements of them */
    unsigned *bits;
    int64_t n_elements;
} ng_oracle_context;

/* This thread's context, made at its first call and freed when it ends. */
ng_oracle_context *ng_oracle_here(void);

/* Make context->element and context->bits hold at least n. */
void ng_oracle_reserve(ng_oracle_context *context, int64_t n);

#endif
