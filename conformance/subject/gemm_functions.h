/* SPDX-License-Identifier: Apache-2.0
 *
 * One writing of the grouped GEMMs, as a table of typed functions, and the step
 * from named calls to them; a sibling of conversions.h.
 *
 * Tensors of a call (T rows in G groups, or dense):
 *   grouped_gemm_fprop        a.codes [T, K], a.scales [T, K/128],
 *                             b.codes [G*N, K], b.scales [G*(N/128), K/128]
 *                             (offsets) -> d [T, N]
 *   grouped_gemm_wgrad        a.codes [N, T], a.scales [N, B], b.codes [K, T],
 *                             b.scales [K, B], (c [G*N, K]) (offsets)
 *                             -> d [G*N, K]
 *   grouped_gemm_mxfp4_fprop  as fprop, but a.codes e2m1x2 [T, K/2], a.scales
 *                             [T, K/32]
 *   grouped_gemm_mxfp4_wgrad  as wgrad, but b.codes e2m1x2 [T, K/2], b.scales
 *                             [T, K/32]
 *   grouped_gemm_bf16_fprop   a [T, K], b [G*N, K] (offsets) -> d [T, N]
 *   grouped_gemm_bf16_wgrad   a [T, N], b [T, K], (c [G*N, K]) (offsets)
 *                             -> d [G*N, K]
 * Divisions round up; B counts blocks of 128 rows over all groups. The
 * attribute "cols" is K where codes are packed. A subject that adds in place
 * copies c to d first.
 */
#ifndef NG_CONFORMANCE_SUBJECT_GEMM_FUNCTIONS_H
#define NG_CONFORMANCE_SUBJECT_GEMM_FUNCTIONS_H

#include "conformance/subject/bounds.h"
#include "conformance/subject/call.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A null entry is an operation that the writing lacks. */
typedef struct ng_gemm_functions {
    ng_status (*fprop)(const ng_matrix *d, const ng_fp8 *a, const ng_fp8 *b,
                       const ng_options *);
    ng_status (*wgrad)(const ng_matrix *d, const ng_matrix *c, const ng_fp8 *a,
                       const ng_fp8 *b, const ng_options *);
    ng_status (*mxfp4_fprop)(const ng_matrix *d, const ng_mxfp4 *a,
                             const ng_fp8 *b, const ng_options *);
    ng_status (*mxfp4_wgrad)(const ng_matrix *d, const ng_matrix *c,
                             const ng_fp8 *a, const ng_mxfp4 *b,
                             const ng_options *);
    ng_status (*bf16_fprop)(const ng_matrix *d, const ng_matrix *a,
                            const ng_matrix *b, const ng_options *);
    ng_status (*bf16_wgrad)(const ng_matrix *d, const ng_matrix *c,
                            const ng_matrix *a, const ng_matrix *b,
                            const ng_options *);
} ng_gemm_functions;

/* This project's two writings. */
extern const ng_gemm_functions ng_reference_gemm_functions;
extern const ng_gemm_functions ng_oracle_gemm_functions; /* with MPFR */

/* Whether the table has the call's operation. */
bool ng_gemm_functions_cover(const ng_gemm_functions *table,
                             const ng_call *call);

/* Perform the call with the table's function, or return NG_NOT_COVERED. */
ng_status ng_gemm_functions_run(const ng_gemm_functions *table,
                                const ng_call *call);

/* ng_subject.bounds of the oracle, for these operations: d is output 0. */
ng_status ng_oracle_gemm_bounds(const ng_call *call, ng_bounds *bounds);

/* The views of a call, for a subject that does not fill a table. */
typedef struct ng_gemm_views {
    ng_matrix d, c;  /* c.data null: overwrite */
    ng_fp8 a, b;     /* of the FP8 operands */
    ng_mxfp4 packed; /* of the MXFP4 one */
    ng_matrix plain_a, plain_b; /* of those in BF16 */
    bool has_c;
} ng_gemm_views;

ng_gemm_views ng_gemm_views_of(const ng_call *call);

#ifdef __cplusplus
}
#endif

#endif
