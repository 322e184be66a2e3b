/* SPDX-License-Identifier: Apache-2.0
 *
 * One output of a block-scaled FP8 GEMM: what all its forms share. The forms
 * differ in where a line of codes and its scales lie, and in nothing else.
 */
#ifndef NG_REFERENCE_MOE_REF_GEMM_ELEMENT_H
#define NG_REFERENCE_MOE_REF_GEMM_ELEMENT_H

#include <stdint.h>

#include "formats/layout.h"
#include "formats/options.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The codes of one line of an operand along the contraction, and its scales:
 * block j of 128 codes has scale `first + j` of line `line`. */
typedef struct ng_ref_gemm_line {
    const uint8_t *codes;
    const ng_scales *scales;
    int64_t line, first;
} ng_ref_gemm_line;

/* acc = fma(RN32(s_a * s_b), p, acc) over the blocks of n codes in ascending
 * order, from +0; p is the block's products added as gemm (ng_gemm) says. A NaN
 * code or scale makes acc NaN for good; infinities go by IEEE 754. */
float ng_ref_gemm_accumulate(const ng_ref_gemm_line *a,
                             const ng_ref_gemm_line *b, int64_t n, int gemm);

/* Write acc, or RN32(C + acc) where c is not null, to element (r, col) of d in
 * its type (FP32, or BF16: rounded once more, nearest-even, overflowing to
 * infinity). A NaN is canonical. Counts in events whether the element as
 * written is NaN, infinite or subnormal. c has the type of d, and may be d. */
void ng_ref_gemm_store(const ng_matrix *d, const ng_matrix *c, int64_t r,
                       int64_t col, float acc, ng_events *events);

#ifdef __cplusplus
}
#endif

#endif
