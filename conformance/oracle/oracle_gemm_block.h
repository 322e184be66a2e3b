/* SPDX-License-Identifier: Apache-2.0
 *
 * One block of a block-scaled FP8 GEMM: up to 128 products of E4M3 numbers,
 * added exactly, as Hopper's tensor core adds them, or by anybody within
 * reason.
 *
 * Everything here is exact in FP64 and so needs no MPFR: a product is a
 * multiple of 2^-18 below 2^18, 128 of them stay below 2^25, and 2^43 < 2^53.
 */
#ifndef NG_CONFORMANCE_ORACLE_GEMM_BLOCK_H
#define NG_CONFORMANCE_ORACLE_GEMM_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

enum { NG_ORACLE_GEMM_BLOCK = 128 };

typedef struct ng_oracle_gemm_block {
    bool nan;         /* a NaN code; the rest is then not set */
    double dot;       /* the exact sum */
    double magnitude; /* A: the sum of the products' magnitudes */
    double cut;       /* the most that a tensor core's sum can differ */
} ng_oracle_gemm_block;

/* n products, 0 <= n <= 128, of the codes a[i] and b[i]. `cut` is the largest
 * |t - dot| over all t that four chained tensor-core instructions can give, for
 * any order of the products. Derived in oracle_gemm_block.c. */
ng_oracle_gemm_block ng_oracle_gemm_block_of(const uint8_t *a, const uint8_t *b,
                                             int64_t n);

/* The sum as Hopper gives it (semantics section 11), 32 products at a time in
 * their order, the first from zero. No code is NaN. */
double ng_oracle_gemm_hopper(const uint8_t *a, const uint8_t *b, int64_t n);

#endif
