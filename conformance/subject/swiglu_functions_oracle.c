/* SPDX-License-Identifier: Apache-2.0
 *
 * The oracle's SwiGLU: its own values, then its own quantisers; and the bounds
 * of any other's.
 */
#include <string.h>

#include "conformance/oracle/oracle_quantize_fp8.h"
#include "conformance/oracle/oracle_quantize_mxfp4.h"
#include "conformance/oracle/oracle_swiglu.h"
#include "conformance/subject/swiglu_functions.h"

static ng_status swiglu_mxfp4(const ng_mxfp4 *y, const ng_matrix *values,
                              const ng_matrix *gate, const ng_matrix *up,
                              const ng_options *options)
{
    const ng_status status = ng_oracle_swiglu(values, gate, up, options);

    return status == NG_OK ? ng_oracle_quantize_mxfp4(y, values, options)
                           : status;
}

static ng_status swiglu_fp8(const ng_fp8 *y, const ng_fp8 *y_col,
                            const ng_matrix *values, const ng_matrix *gate,
                            const ng_matrix *up, const ng_options *options)
{
    ng_options quiet = *options;
    ng_status status = ng_oracle_swiglu(values, gate, up, options);

    quiet.events = NULL;
    if (status == NG_OK)
        status = ng_oracle_quantize_fp8(y, values, options);
    return status == NG_OK && y_col != NULL
               ? ng_oracle_quantize_fp8(y_col, values, &quiet)
               : status;
}

static ng_status backward_fp8(const ng_fp8 *y_gate, const ng_fp8 *y_up,
                              const ng_matrix *grad_gate,
                              const ng_matrix *grad_up, const ng_matrix *grad_y,
                              const ng_matrix *gate, const ng_matrix *up,
                              const ng_options *options)
{
    ng_status status = ng_oracle_swiglu_backward(grad_gate, grad_up, grad_y,
                                                 gate, up, options);

    if (status == NG_OK)
        status = ng_oracle_quantize_fp8(y_gate, grad_gate, options);
    return status == NG_OK ? ng_oracle_quantize_fp8(y_up, grad_up, options)
                           : status;
}

const ng_swiglu_functions ng_oracle_swiglu_functions = {
    .swiglu = ng_oracle_swiglu,
    .swiglu_mxfp4 = swiglu_mxfp4,
    .swiglu_fp8 = swiglu_fp8,
    .backward = ng_oracle_swiglu_backward,
    .backward_fp8 = backward_fp8,
    .quantize_mxfp4 = ng_oracle_quantize_mxfp4,
    .quantize_fp8 = ng_oracle_quantize_fp8,
};

static uint16_t code_at(const ng_matrix *x, int64_t r, int64_t c)
{
    return ((const uint16_t *)x->data)[r * x->ld + c];
}

ng_status ng_oracle_swiglu_bounds(const ng_call *call, ng_bounds *bounds)
{
    const ng_matrix gate = ng_call_matrix(call, "gate");
    const ng_matrix up = ng_call_matrix(call, "up");
    const ng_matrix grad = ng_call_matrix(call, "grad_y");
    ng_groups groups;
    const ng_groups *ragged = ng_call_groups(&groups, call);
    ng_status status;

    if (!ng_swiglu_functions_cover(&ng_oracle_swiglu_functions, call))
        return NG_NOT_COVERED;
    if ((status = ng_groups_check(ragged, gate.rows)) != NG_OK)
        return status;

    const int64_t rows = ng_groups_rows(ragged, gate.rows);

    for (int i = 0; i < call->n_outputs; i++) {
        const ng_tensor *out = &call->output[i];

        if (bounds[i].bound == NULL)
            continue;
        for (int64_t r = 0; r < rows; r++)
            for (int64_t c = 0; c < gate.cols; c++) {
                const uint16_t x = code_at(&gate, r, c);
                const ng_oracle_bounded y =
                    strcmp(out->name, "grad_gate") == 0
                        ? ng_oracle_swiglu_grad_gate(code_at(&grad, r, c), x,
                                                     code_at(&up, r, c),
                                                     out->dtype)
                    : strcmp(out->name, "grad_up") == 0
                        ? ng_oracle_swiglu_grad_up(code_at(&grad, r, c), x,
                                                   out->dtype)
                        : ng_oracle_swiglu_element(x, code_at(&up, r, c),
                                                   out->dtype);

                bounds[i].exact[r * gate.cols + c] = y.exact;
                bounds[i].bound[r * gate.cols + c] = y.bound;
            }
    }
    return NG_OK;
}
