/* SPDX-License-Identifier: Apache-2.0
 *
 * SwiGLU, the gate of an expert, and its backward pass; alone, and with the
 * quantiser that always follows it. [T, F] matrices, T tokens, F expert width.
 */
#ifndef NG_REFERENCE_MOE_REF_SWIGLU_H
#define NG_REFERENCE_MOE_REF_SWIGLU_H

#include "formats/layout.h"
#include "formats/options.h"

#ifdef __cplusplus
extern "C" {
#endif

/* y = silu(gate) * up, silu(x) = x * s(x), s(x) = 1 / (1 + exp(-x)).
 *   y        out [T, F], FP32 or BF16
 *   gate up  in  [T, F], BF16; not overlapping y
 *   options  groups (rows past the last are not touched); rules must be valid
 * Bounded: this writing evaluates in FP64 and rounds to FP32 once (then to
 * BF16), others may differ by what conformance/oracle/oracle_swiglu.h allows.
 * NaN is canonical and comes from a NaN, from Inf * 0, and from a gate of -Inf,
 * as the formula has it. No events.
 * Returns NG_OK, or with y untouched NG_BAD_POINTER, NG_BAD_SHAPE,
 * NG_BAD_DTYPE, NG_BAD_LAYOUT, NG_BAD_GROUPS, NG_BAD_RULES.
 * Source: semantics.md 12, SwiGLU. */
ng_status ng_ref_swiglu(const ng_matrix *y, const ng_matrix *gate,
                        const ng_matrix *up, const ng_options *options);

/* The same values in FP32, quantised: y is exactly ng_ref_quantize_mxfp4 or
 * ng_ref_quantize_fp8 of them, under the same options, events too.
 *   y        out [T, F]; FP8 in any form
 *   y_col    out [T, F], form col: a second quantisation of the same values;
 *            may be null. Its events are not counted.
 *   values   out [T, F], FP32, what was quantised; may be null
 * Returns what either says, nothing written unless NG_OK; NG_NO_MEMORY. */
ng_status ng_ref_swiglu_mxfp4(const ng_mxfp4 *y, const ng_matrix *values,
                              const ng_matrix *gate, const ng_matrix *up,
                              const ng_options *options);
ng_status ng_ref_swiglu_fp8(const ng_fp8 *y, const ng_fp8 *y_col,
                            const ng_matrix *values, const ng_matrix *gate,
                            const ng_matrix *up, const ng_options *options);

/* The gradients of gate and up, from that of y:
 *   grad_up   = grad_y * silu(gate)
 *   grad_gate = (grad_y * up) * (s * (1 + gate * (1 - s))), s = s(gate)
 *   grad_gate grad_up   out [T, F], FP32 or BF16, both alike
 *   grad_y gate up      in  [T, F], BF16; not overlapping the outputs
 * The rest as ng_ref_swiglu; a gate of either infinity has a NaN grad_gate. */
ng_status ng_ref_swiglu_backward(const ng_matrix *grad_gate,
                                 const ng_matrix *grad_up,
                                 const ng_matrix *grad_y, const ng_matrix *gate,
                                 const ng_matrix *up,
                                 const ng_options *options);

/* The same in FP32, quantised to FP8.
 *   y_gate y_up         out [T, F], any form, of grad_gate and grad_up; under
 *                       stochastic rounding with the same random words
 *   grad_gate grad_up   out [T, F], FP32, what was quantised; may both be null
 */
ng_status ng_ref_swiglu_backward_fp8(const ng_fp8 *y_gate, const ng_fp8 *y_up,
                                     const ng_matrix *grad_gate,
                                     const ng_matrix *grad_up,
                                     const ng_matrix *grad_y,
                                     const ng_matrix *gate, const ng_matrix *up,
                                     const ng_options *options);

#ifdef __cplusplus
}
#endif

#endif
