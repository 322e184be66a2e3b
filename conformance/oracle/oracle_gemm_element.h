/* SPDX-License-Identifier: Apache-2.0
 *
 * One output of a grouped GEMM: its bits in the order that semantics section 11
 * states, and the bound for any other order.
 */
#ifndef NG_CONFORMANCE_ORACLE_GEMM_ELEMENT_H
#define NG_CONFORMANCE_ORACLE_GEMM_ELEMENT_H

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

/* Set its exact value and its bound. */
void ng_oracle_gemm_bound(const ng_oracle_gemm_element *x, double *exact,
                          double *bound);

#endif
