/* SPDX-License-Identifier: Apache-2.0
 *
 * The tensors of a case of a grouped GEMM: from sizes to named inputs and
 * outputs, and from an element or a scale to its place. Of either operand a
 * line runs along the contraction: K in fprop, the rows of a group in wgrad.
 * What may not be read is filled with garbage.
 */
#ifndef NG_CONFORMANCE_CHECKS_GEMM_CASE_H
#define NG_CONFORMANCE_CHECKS_GEMM_CASE_H

#include "conformance/checks/case.h"
#include "formats/layout.h"

/* One operand. A "line" is a row of D or a column of D of one group. */
typedef struct ng_gemm_side {
    uint8_t *codes;
    void *scales;
    ng_dtype scales_dtype;
    bool packed;                /* MXFP4 */
    bool col;                   /* codes of a line lie at line * ld + q, with q
                                   the row of the tensor; packed ones, as they
                                   are not transposed yet, at q * ld + line */
    int64_t ld, words;          /* units of a line of scales */
    int64_t lines, scale_lines; /* in all */
} ng_gemm_side;

typedef struct ng_gemm_case {
    ng_case *c;
    bool wgrad;
    int64_t t, n, k;  /* rows, and the two sides of the weights */
    int64_t n_groups; /* 1 if dense */
    int64_t *offsets; /* null: dense */
    int64_t used;     /* rows that take part */
    ng_gemm_side a, b;
    void *addend;   /* c; null: overwrite */
    ng_dtype dtype; /* of d and c */
} ng_gemm_case;

enum { NG_GEMM_DENSE = -1 };

/* Declare all tensors of the case's operation for T rows in groups of the sizes
 * given (n_groups NG_GEMM_DENSE: none), which sum to at most t. Set
 * c->odd_layout before. Returns false, c->failed set, without memory. */
bool ng_gemm_begin(ng_gemm_case *m, ng_case *c, int64_t t, int64_t n, int64_t k,
                   int64_t n_groups, const int64_t *sizes);

/* First row and number of rows of group g, and the number of its first block of
 * 128 rows. */
int64_t ng_gemm_first(const ng_gemm_case *m, int64_t g);
int64_t ng_gemm_size(const ng_gemm_case *m, int64_t g);
int64_t ng_gemm_block(const ng_gemm_case *m, int64_t g);

/* The contraction of group g: K, or its rows. */
int64_t ng_gemm_depth(const ng_gemm_case *m, int64_t g);

/* Lines of the operands that group g multiplies: rows of D, columns of D. */
int64_t ng_gemm_lines_a(const ng_gemm_case *m, int64_t g);
int64_t ng_gemm_lines_b(const ng_gemm_case *m, int64_t g);

/* Put code q of line i of group g: E4M3, or an E2M1 nibble where packed. */
void ng_gemm_put_a(ng_gemm_case *m, int64_t g, int64_t i, int64_t q,
                   uint32_t code);
void ng_gemm_put_b(ng_gemm_case *m, int64_t g, int64_t i, int64_t q,
                   uint32_t code);

/* How many scales an operand has that take part, and where the i-th goes: FP32
 * bits or a UE8M0 code. */
int64_t ng_gemm_n_scales(const ng_gemm_case *m, const ng_gemm_side *side);
void ng_gemm_put_scale(ng_gemm_case *m, ng_gemm_side *side, int64_t i,
                       uint32_t bits);

/* The place of the scale over code q of line i of group g, as its number. */
int64_t ng_gemm_scale_a(const ng_gemm_case *m, int64_t g, int64_t i, int64_t q);
int64_t ng_gemm_scale_b(const ng_gemm_case *m, int64_t g, int64_t i, int64_t q);

#endif
