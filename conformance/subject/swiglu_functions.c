/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/subject/swiglu_functions.h"

#include <string.h>

typedef ng_status run(const ng_swiglu_functions *, const ng_call *,
                      const ng_options *);

/* ---- from values that somebody made ---- */

/* Copy the rows that take part. */
static void copy(const ng_matrix *to, const ng_matrix *from,
                 const ng_options *options)
{
    const int64_t rows = ng_groups_rows(options->groups, from->rows);
    const size_t size = ng_dtype_size(from->dtype);

    for (int64_t r = 0; r < rows && from->cols > 0; r++)
        memcpy((char *)to->data + (size_t)(r * to->ld) * size,
               (const char *)from->data + (size_t)(r * from->ld) * size,
               (size_t)from->cols * size);
}

/* A matrix, or null where the call has none of that name: what is quantised
 * need not be written. */
static const ng_matrix *wanted(const ng_matrix *x)
{
    return x->data != NULL ? x : NULL;
}

/* Copy "made.NAME" to NAME and return it. */
static ng_matrix take(const ng_call *call, const char *name, const char *made,
                      const ng_options *options)
{
    const ng_matrix to = ng_call_matrix(call, name);
    const ng_matrix from = ng_call_matrix(call, made);

    copy(&to, &from, options);
    return from;
}

/* The same options without counters. */
static ng_options quiet(const ng_options *options)
{
    ng_options o = *options;

    o.events = NULL;
    return o;
}

/* ---- operations ---- */

static ng_status forward(const ng_swiglu_functions *table, const ng_call *call,
                         const ng_options *options)
{
    const ng_matrix y = ng_call_matrix(call, "y");
    const ng_matrix gate = ng_call_matrix(call, "gate");
    const ng_matrix up = ng_call_matrix(call, "up");

    return table->swiglu(&y, &gate, &up, options);
}

static ng_status mxfp4(const ng_swiglu_functions *table, const ng_call *call,
                       const ng_options *options)
{
    const ng_mxfp4 y = ng_call_mxfp4(call, "y");
    const ng_matrix values = ng_call_matrix(call, "values");
    const ng_matrix gate = ng_call_matrix(call, "gate");
    const ng_matrix up = ng_call_matrix(call, "up");

    if (ng_call_input(call, "made.values") != NULL) {
        const ng_matrix made = take(call, "values", "made.values", options);

        return table->quantize_mxfp4(&y, &made, options);
    }
    return table->swiglu_mxfp4(&y, wanted(&values), &gate, &up, options);
}

static ng_status fp8(const ng_swiglu_functions *table, const ng_call *call,
                     const ng_options *options)
{
    const ng_fp8 y = ng_call_fp8(call, "y", NG_FP8_ROW);
    const ng_fp8 z = ng_call_fp8(call, "z", NG_FP8_COL);
    const bool has_z = ng_call_output(call, "z.codes") != NULL;
    const ng_matrix values = ng_call_matrix(call, "values");
    const ng_matrix gate = ng_call_matrix(call, "gate");
    const ng_matrix up = ng_call_matrix(call, "up");

    if (ng_call_input(call, "made.values") != NULL) {
        const ng_matrix made = take(call, "values", "made.values", options);
        const ng_options uncounted = quiet(options);
        const ng_status status = table->quantize_fp8(&y, &made, options);

        return status == NG_OK && has_z
                   ? table->quantize_fp8(&z, &made, &uncounted)
                   : status;
    }
    return table->swiglu_fp8(&y, has_z ? &z : NULL, wanted(&values), &gate, &up,
                             options);
}

static ng_status backward(const ng_swiglu_functions *table, const ng_call *call,
                          const ng_options *options)
{
    const ng_matrix grad_gate = ng_call_matrix(call, "grad_gate");
    const ng_matrix grad_up = ng_call_matrix(call, "grad_up");
    const ng_matrix grad_y = ng_call_matrix(call, "grad_y");
    const ng_matrix gate = ng_call_matrix(call, "gate");
    const ng_matrix up = ng_call_matrix(call, "up");

    return table->backward(&grad_gate, &grad_up, &grad_y, &gate, &up, options);
}

static ng_status backward_fp8(const ng_swiglu_functions *table,
                              const ng_call *call, const ng_options *options)
{
    const ng_fp8 y_gate = ng_call_fp8(call, "grad_gate", NG_FP8_ROW);
    const ng_fp8 y_up = ng_call_fp8(call, "grad_up", NG_FP8_ROW);
    const ng_matrix grad_gate = ng_call_matrix(call, "grad_gate");
    const ng_matrix grad_up = ng_call_matrix(call, "grad_up");
    const ng_matrix grad_y = ng_call_matrix(call, "grad_y");
    const ng_matrix gate = ng_call_matrix(call, "gate");
    const ng_matrix up = ng_call_matrix(call, "up");

    if (ng_call_input(call, "made.grad_gate") != NULL) {
        const ng_matrix made_gate =
            take(call, "grad_gate", "made.grad_gate", options);
        const ng_matrix made_up =
            take(call, "grad_up", "made.grad_up", options);
        const ng_status status =
            table->quantize_fp8(&y_gate, &made_gate, options);

        return status == NG_OK ? table->quantize_fp8(&y_up, &made_up, options)
                               : status;
    }
    return table->backward_fp8(&y_gate, &y_up, wanted(&grad_gate),
                               wanted(&grad_up), &grad_y, &gate, &up, options);
}

static const struct row {
    const char *operation;
    run *run;
} rows[] = {
    {"swiglu", forward},           {"swiglu_mxfp4", mxfp4},
    {"swiglu_fp8_row", fp8},       {"swiglu_fp8_row_col", fp8},
    {"swiglu_backward", backward}, {"swiglu_backward_fp8_row", backward_fp8},
};

static const struct row *find(const ng_call *call)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].operation, call->operation) == 0)
            return &rows[i];
    return NULL;
}

bool ng_swiglu_functions_cover(const ng_swiglu_functions *table,
                               const ng_call *call)
{
    const struct row *r = find(call);

    return r != NULL
           && ((r->run == forward && table->swiglu != NULL)
               || (r->run == mxfp4 && table->swiglu_mxfp4 != NULL)
               || (r->run == fp8 && table->swiglu_fp8 != NULL)
               || (r->run == backward && table->backward != NULL)
               || (r->run == backward_fp8 && table->backward_fp8 != NULL));
}

ng_status ng_swiglu_functions_run(const ng_swiglu_functions *table,
                                  const ng_call *call)
{
    ng_groups groups;
    const ng_options options = ng_call_options(&groups, call);

    return ng_swiglu_functions_cover(table, call)
               ? find(call)->run(table, call, &options)
               : NG_NOT_COVERED;
}
