/* SPDX-License-Identifier: Apache-2.0
 *
 * One writing of SwiGLU, as a table of typed functions, and the step from named
 * calls to them; a sibling of conversions.h.
 *
 * Tensors of a call, all [T, F] (offsets):
 *   swiglu                    gate, up bf16 -> y (fp32 or bf16)
 *   swiglu_mxfp4              gate, up -> values fp32, y.codes, y.scales
 *   swiglu_fp8_row            gate, up -> values fp32, y.codes, y.scales
 *   swiglu_fp8_row_col        the same, and z.codes, z.scales of form col
 *   swiglu_backward           grad_y, gate, up bf16 -> grad_gate, grad_up (fp32
 *                             or bf16)
 *   swiglu_backward_fp8_row   grad_y, gate, up -> grad_gate, grad_up fp32, and
 *                             .codes, .scales of either
 * What is quantised is an output: "values", or the two gradients. It is
 * bounded; codes and scales are exact functions of it. A call that gives it as
 * the input "made.values" (made.grad_gate, made.grad_up) asks for that function
 * alone.
 */
#ifndef NG_CONFORMANCE_SUBJECT_SWIGLU_FUNCTIONS_H
#define NG_CONFORMANCE_SUBJECT_SWIGLU_FUNCTIONS_H

#include "conformance/subject/bounds.h"
#include "conformance/subject/call.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ng_swiglu_functions {
    ng_status (*swiglu)(const ng_matrix *y, const ng_matrix *gate,
                        const ng_matrix *up, const ng_options *);
    ng_status (*swiglu_mxfp4)(const ng_mxfp4 *y, const ng_matrix *values,
                              const ng_matrix *gate, const ng_matrix *up,
                              const ng_options *);
    ng_status (*swiglu_fp8)(const ng_fp8 *y, const ng_fp8 *y_col,
                            const ng_matrix *values, const ng_matrix *gate,
                            const ng_matrix *up, const ng_options *);
    ng_status (*backward)(const ng_matrix *grad_gate, const ng_matrix *grad_up,
                          const ng_matrix *grad_y, const ng_matrix *gate,
                          const ng_matrix *up, const ng_options *);
    ng_status (*backward_fp8)(const ng_fp8 *y_gate, const ng_fp8 *y_up,
                              const ng_matrix *grad_gate,
                              const ng_matrix *grad_up, const ng_matrix *grad_y,
                              const ng_matrix *gate, const ng_matrix *up,
                              const ng_options *);
    /* For calls with "made" inputs; null in a subject that is never asked. */
    ng_status (*quantize_mxfp4)(const ng_mxfp4 *y, const ng_matrix *x,
                                const ng_options *);
    ng_status (*quantize_fp8)(const ng_fp8 *y, const ng_matrix *x,
                              const ng_options *);
} ng_swiglu_functions;

/* This project's two writings. */
extern const ng_swiglu_functions ng_reference_swiglu_functions;
extern const ng_swiglu_functions ng_oracle_swiglu_functions; /* with MPFR */

/* Whether the call's operation is one of these and the table has it. */
bool ng_swiglu_functions_cover(const ng_swiglu_functions *table,
                               const ng_call *call);

/* Perform the call with the table's function, or return NG_NOT_COVERED. */
ng_status ng_swiglu_functions_run(const ng_swiglu_functions *table,
                                  const ng_call *call);

/* ng_subject.bounds of the oracle, for these operations. */
ng_status ng_oracle_swiglu_bounds(const ng_call *call, ng_bounds *bounds);

#ifdef __cplusplus
}
#endif

#endif
