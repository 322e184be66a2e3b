/* SPDX-License-Identifier: Apache-2.0
 *
 * One output of a grouped GEMM: its bits in the order that semantics section 11
 * states, and the bound for any other order.
 */
#ifndef NG_CONFORMANCE_ORACLE_GEMM_ELEMENT_H
#define NG_CONFORMANCE_ORACLE_GEMM_ELEMENT_H

#include <mpfr.h>

#include "conformance/subject/bounds.h"
#include "formats/layout.h"
#include "formats/options.h"

/* n codes of each operand along the contraction; block j of 128 has scale
 * `first + j` of line `line`. */
typedef struct ng_oracle_gemm_operand {
    const uint8_t *codes;
    const ng_scales *scales;
    int64_t line, first;
} ng_oracle_gemm_operand;

typedef struct ng_oracle_gemm_element {
    ng_oracle_gemm_operand a, b;
    int64_t n;
    const ng_matrix *d, *c; /* c null: overwrite */
    int64_t row, col;       /* of d and c */
} ng_oracle_gemm_element;

/* Compute the element, write it to d and count its events. */
void ng_oracle_gemm_perform(const ng_oracle_gemm_element *x,
                            const ng_options *options);

/* Write acc, FP32, plus the element of `addend` unless that is null, to element
 * (row, col) of d, and count its events. acc is then the sum. */
void ng_oracle_gemm_store(mpfr_ptr acc, const ng_matrix *d,
                          const ng_matrix *addend, int64_t row, int64_t col,
                          const ng_options *options);

/* That element of a group without rows: +0, or C as it is; or what is exact and
 * the bound, 0, unless bounds is null. */
void ng_oracle_gemm_empty(const ng_matrix *d, const ng_matrix *c, int64_t row,
                          int64_t col, const ng_bounds *bounds);

/* Set its exact value and its bound. */
void ng_oracle_gemm_bound(const ng_oracle_gemm_element *x, double *exact,
                          double *bound);

#endif
