/* SPDX-License-Identifier: Apache-2.0
 *
 * In FP64: exp is within an ulp there, 2^-52, and everything else rounds at
 * 2^-53, so that the FP32 result is the nearest to the real number but where
 * that lies within 2^-26 of an ulp of a tie.
 */
#include "reference/moe/ref_swiglu.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "formats/bf16.h"
#include "formats/fp32.h"
#include "reference/convert/ref_decode.h"
#include "reference/convert/ref_encode.h"
#include "reference/convert/ref_fp8_coding.h"
#include "reference/convert/ref_options.h"
#include "reference/convert/ref_parallel.h"
#include "reference/convert/ref_quantize_fp8.h"
#include "reference/convert/ref_quantize_mxfp4.h"
#include "reference/convert/ref_views.h"

struct job {
    const ng_matrix *y, *grad_gate, *grad_up; /* y, or the two others */
    const ng_matrix *grad_y, *gate, *up;
};

/* ---- elements ---- */

static double load(const ng_matrix *x, int64_t r, int64_t c)
{
    const uint16_t code = ((const uint16_t *)x->data)[r * x->ld + c];

    return (double)ng_ref_decode(&ng_formats[NG_FORMAT_BF16], code,
                                 &ng_default_rules);
}

/* RN32, then BF16 if that is what y has; infinities stay. */
static void store(const ng_matrix *y, int64_t r, int64_t c, double v)
{
    const ng_rules rules = {.overflow = NG_IEEE};
    const float x = isnan(v) ? ng_fp32_from_bits(NG_FP32_NAN) : (float)v;
    unsigned events = 0; /* nobody counts these */

    if (y->dtype == NG_FP32)
        ((float *)y->data)[r * y->ld + c] = x;
    else
        ((uint16_t *)y->data)[r * y->ld + c] = (uint16_t)ng_ref_encode(
            &ng_formats[NG_FORMAT_BF16], x, &rules, 0, &events);
}

static double logistic(double x)
{
    return 1 / (1 + exp(-x));
}

/* x / (1 + exp(-x)), and not x * s: -Inf / Inf and -Inf * 0 are both NaN, but
 * where exp overflows the quotient keeps what the product loses. */
static double silu(double x)
{
    return x / (1 + exp(-x));
}

/* s (1 + x (1 - s)), with 1 - s as s(-x): nothing cancels. */
static double silu_slope(double x)
{
    return logistic(x) * (1 + x * logistic(-x));
}

static void forward_row(const void *context, int64_t r, ng_events *events)
{
    const struct job *job = context;

    (void)events;
    for (int64_t c = 0; c < job->y->cols; c++)
        store(job->y, r, c, silu(load(job->gate, r, c)) * load(job->up, r, c));
}

static void backward_row(const void *context, int64_t r, ng_events *events)
{
    const struct job *job = context;

    (void)events;
    for (int64_t c = 0; c < job->gate->cols; c++) {
        const double grad = load(job->grad_y, r, c);
        const double gate = load(job->gate, r, c);

        store(job->grad_up, r, c, grad * silu(gate));
        store(job->grad_gate, r, c,
              grad * load(job->up, r, c) * silu_slope(gate));
    }
}

/* ---- checks ---- */

enum { BF16 = 1 << NG_BF16, OUTPUTS = 1 << NG_FP32 | 1 << NG_BF16 };

/* One more matrix of the shape of `gate`. */
static ng_status check_one(const ng_matrix *x, unsigned dtypes,
                           const ng_matrix *gate, const ng_options *options)
{
    if (x == NULL)
        return NG_BAD_POINTER;
    if (x->rows != gate->rows || x->cols != gate->cols)
        return NG_BAD_SHAPE;
    return ng_ref_check_matrix(x, dtypes, options);
}

/* The inputs; grad_y null in the forward pass. */
static ng_status check_inputs(const ng_matrix *grad_y, const ng_matrix *gate,
                              const ng_matrix *up, const ng_options *options)
{
    ng_status status;

    if (gate == NULL)
        return NG_BAD_POINTER;
    if ((status = ng_ref_check_options(options, gate->rows, gate->cols))
            != NG_OK
        || (status = ng_ref_check_matrix(gate, BF16, options)) != NG_OK
        || (status = check_one(up, BF16, gate, options)) != NG_OK)
        return status;
    return grad_y != NULL ? check_one(grad_y, BF16, gate, options) : NG_OK;
}

static ng_status check_fp8(const ng_fp8 *y, unsigned forms,
                           const ng_matrix *gate, const ng_options *options)
{
    const ng_status status = ng_ref_check_fp8(y, forms, options);

    if (y->rows != gate->rows || y->cols != gate->cols)
        return NG_BAD_SHAPE;
    return status != NG_OK
               ? status
               : ng_ref_check_fp8_rules(ng_ref_rules(options), &y->scales);
}

/* ---- values for a quantiser ---- */

/* *out is *values, or an FP32 matrix of its own in *memory. */
static ng_status have_values(ng_matrix *out, float **memory,
                             const ng_matrix *values, const ng_matrix *gate,
                             const ng_options *options)
{
    const size_t n = (size_t)gate->rows * (size_t)gate->cols;

    *memory = NULL;
    if (values != NULL) {
        *out = *values;
        return check_one(values, 1 << NG_FP32, gate, options);
    }
    *out = (ng_matrix){.dtype = NG_FP32,
                       .rows = gate->rows,
                       .cols = gate->cols,
                       .ld = gate->cols};
    if (n > SIZE_MAX / sizeof **memory
        || (*memory = malloc(n * sizeof **memory + 1)) == NULL)
        return NG_NO_MEMORY;
    out->data = *memory;
    return NG_OK;
}

/* ---- operations ---- */

ng_status ng_ref_swiglu(const ng_matrix *y, const ng_matrix *gate,
                        const ng_matrix *up, const ng_options *options)
{
    const struct job job = {.y = y, .gate = gate, .up = up};
    ng_status status;

    if ((status = check_inputs(NULL, gate, up, options)) != NG_OK
        || (status = check_one(y, OUTPUTS, gate, options)) != NG_OK)
        return status;
    ng_ref_run(forward_row, &job, ng_ref_rows(options, gate->rows), NULL);
    return NG_OK;
}

ng_status ng_ref_swiglu_mxfp4(const ng_mxfp4 *y, const ng_matrix *values,
                              const ng_matrix *gate, const ng_matrix *up,
                              const ng_options *options)
{
    ng_matrix v;
    float *memory;
    ng_status status;

    if (y == NULL)
        return NG_BAD_POINTER;
    if ((status = check_inputs(NULL, gate, up, options)) != NG_OK)
        return status;
    if (y->rows != gate->rows || y->cols != gate->cols)
        return NG_BAD_SHAPE;
    if ((status = ng_ref_check_mxfp4(y, options)) != NG_OK
        || (status = have_values(&v, &memory, values, gate, options)) != NG_OK)
        return status;
    if ((status = ng_ref_swiglu(&v, gate, up, options)) == NG_OK)
        status = ng_ref_quantize_mxfp4(y, &v, options);
    free(memory);
    return status;
}

ng_status ng_ref_swiglu_fp8(const ng_fp8 *y, const ng_fp8 *y_col,
                            const ng_matrix *values, const ng_matrix *gate,
                            const ng_matrix *up, const ng_options *options)
{
    ng_options quiet = {.events = NULL};
    ng_matrix v;
    float *memory;
    ng_status status;

    if (y == NULL)
        return NG_BAD_POINTER;
    if (options != NULL)
        quiet = *options;
    quiet.events = NULL;
    if ((status = check_inputs(NULL, gate, up, options)) != NG_OK
        || (status = check_fp8(y, NG_REF_FP8_FORMS, gate, options)) != NG_OK
        || (y_col != NULL
            && (status = check_fp8(y_col, 1u << NG_FP8_COL, gate, options))
                   != NG_OK)
        || (status = have_values(&v, &memory, values, gate, options)) != NG_OK)
        return status;
    if ((status = ng_ref_swiglu(&v, gate, up, options)) == NG_OK
        && (status = ng_ref_quantize_fp8(y, &v, options)) == NG_OK
        && y_col != NULL)
        status = ng_ref_quantize_fp8(y_col, &v, &quiet);
    free(memory);
    return status;
}

ng_status ng_ref_swiglu_backward(const ng_matrix *grad_gate,
                                 const ng_matrix *grad_up,
                                 const ng_matrix *grad_y, const ng_matrix *gate,
                                 const ng_matrix *up, const ng_options *options)
{
    const struct job job = {.grad_gate = grad_gate,
                            .grad_up = grad_up,
                            .grad_y = grad_y,
                            .gate = gate,
                            .up = up};
    ng_status status;

    if (grad_y == NULL)
        return NG_BAD_POINTER;
    if ((status = check_inputs(grad_y, gate, up, options)) != NG_OK
        || (status = check_one(grad_gate, OUTPUTS, gate, options)) != NG_OK
        || (status = check_one(grad_up, OUTPUTS, gate, options)) != NG_OK)
        return status;
    if (grad_gate->dtype != grad_up->dtype)
        return NG_BAD_DTYPE;
    ng_ref_run(backward_row, &job, ng_ref_rows(options, gate->rows), NULL);
    return NG_OK;
}

ng_status ng_ref_swiglu_backward_fp8(const ng_fp8 *y_gate, const ng_fp8 *y_up,
                                     const ng_matrix *grad_gate,
                                     const ng_matrix *grad_up,
                                     const ng_matrix *grad_y,
                                     const ng_matrix *gate, const ng_matrix *up,
                                     const ng_options *options)
{
    float *gate_memory = NULL, *up_memory = NULL;
    ng_matrix v_gate, v_up;
    ng_status status;

    if (y_gate == NULL || y_up == NULL || grad_y == NULL)
        return NG_BAD_POINTER;
    if ((status = check_inputs(grad_y, gate, up, options)) != NG_OK
        || (status = check_fp8(y_gate, NG_REF_FP8_FORMS, gate, options))
               != NG_OK
        || (status = check_fp8(y_up, NG_REF_FP8_FORMS, gate, options)) != NG_OK
        || (status =
                have_values(&v_gate, &gate_memory, grad_gate, gate, options))
               != NG_OK)
        return status;
    if ((status = have_values(&v_up, &up_memory, grad_up, gate, options))
            == NG_OK
        && (status = ng_ref_swiglu_backward(&v_gate, &v_up, grad_y, gate, up,
                                            options))
               == NG_OK
        && (status = ng_ref_quantize_fp8(y_gate, &v_gate, options)) == NG_OK)
        status = ng_ref_quantize_fp8(y_up, &v_up, options);
    free(gate_memory);
    free(up_memory);
    return status;
}
