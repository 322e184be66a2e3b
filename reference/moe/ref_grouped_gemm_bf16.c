/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/moe/ref_grouped_gemm_bf16.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "formats/fp32.h"
#include "reference/convert/ref_options.h"
#include "reference/convert/ref_parallel.h"
#include "reference/convert/ref_views.h"
#include "reference/moe/ref_gemm_element.h"
#include "reference/moe/ref_gemm_views.h"

_Static_assert(FLT_EVAL_METHOD == 0,
               "float expressions must be evaluated in FP32");
#ifdef __FAST_MATH__
#error "the reference needs IEEE arithmetic: compile without -ffast-math"
#endif

struct job {
    const ng_matrix *d, *c, *a, *b;
    const ng_options *options;
};

/* BF16 is the upper half of FP32. */
static float value(const uint16_t *x)
{
    return ng_fp32_from_bits((uint32_t)*x << 16);
}

/* n products of elements that lie `step` apart. A product of two BF16 numbers
 * has at most 16 bits: fma rounds once. */
static float accumulate(const uint16_t *a, int64_t step_a, const uint16_t *b,
                        int64_t step_b, int64_t n)
{
    float acc = 0.0f;

    for (int64_t i = 0; i < n; i++)
        acc = fmaf(value(a + i * step_a), value(b + i * step_b), acc);
    return acc;
}

static const uint16_t *at(const ng_matrix *x, int64_t row, int64_t col)
{
    return (const uint16_t *)x->data + row * x->ld + col;
}

static void multiply_row(const void *context, int64_t t, ng_events *events)
{
    const struct job *job = context;
    const int64_t n_cols = job->d->cols;
    const int64_t first = ng_ref_gemm_group(job->options, t) * n_cols;

    for (int64_t n = 0; n < n_cols; n++)
        ng_ref_gemm_store(job->d, NULL, t, n,
                          accumulate(at(job->a, t, 0), 1,
                                     at(job->b, first + n, 0), 1, job->a->cols),
                          events);
}

/* Row i of the stack: row n of group g. */
static void multiply_columns(const void *context, int64_t i, ng_events *events)
{
    const struct job *job = context;
    const ng_matrix *d = job->d, *c = job->c, *a = job->a, *b = job->b;
    const ng_groups *groups = ng_ref_groups(job->options);
    const int64_t n = i % a->cols, g = i / a->cols;
    const int64_t first = groups != NULL ? groups->offsets[g] : 0;
    const int64_t end = groups != NULL ? groups->offsets[g + 1] : a->rows;

    if (first == end && c != NULL) {
        const size_t size = ng_dtype_size(c->dtype);

        memmove((char *)d->data + (size_t)(i * d->ld) * size,
                (const char *)c->data + (size_t)(i * c->ld) * size,
                (size_t)c->cols * size);
        return;
    }
    for (int64_t k = 0; k < d->cols; k++)
        ng_ref_gemm_store(d, c, i, k,
                          accumulate(at(a, first, n), a->ld, at(b, first, k),
                                     b->ld, end - first),
                          events);
}

ng_status ng_ref_grouped_gemm_bf16_fprop(const ng_matrix *d, const ng_matrix *a,
                                         const ng_matrix *b,
                                         const ng_options *options)
{
    const struct job job = {d, NULL, a, b, options};
    ng_status status;

    if (d == NULL || a == NULL || b == NULL)
        return NG_BAD_POINTER;
    if (d->rows != a->rows)
        return NG_BAD_SHAPE;
    if ((status = ng_ref_check_options(options, a->rows, a->cols)) != NG_OK
        || (status = ng_ref_check_gemm_product(d, options)) != NG_OK
        || (status = ng_ref_check_matrix(a, 1u << NG_BF16, options)) != NG_OK
        || (status = ng_ref_check_gemm_stack(b, 1u << NG_BF16, d->cols, a->cols,
                                             options))
               != NG_OK)
        return status;
    ng_ref_run(multiply_row, &job, ng_ref_rows(options, a->rows), options);
    return NG_OK;
}

ng_status ng_ref_grouped_gemm_bf16_wgrad(const ng_matrix *d, const ng_matrix *c,
                                         const ng_matrix *a, const ng_matrix *b,
                                         const ng_options *options)
{
    const struct job job = {d, c, a, b, options};
    ng_status status;

    if (d == NULL || a == NULL || b == NULL)
        return NG_BAD_POINTER;
    if (a->rows != b->rows)
        return NG_BAD_SHAPE;
    if ((status = ng_ref_check_options(options, a->rows, a->cols)) != NG_OK
        || (status = ng_ref_check_options(options, b->rows, b->cols)) != NG_OK
        || (status = ng_ref_check_gemm_gradients(d, a->cols, b->cols, options))
               != NG_OK
        || (status = ng_ref_check_matrix(a, 1u << NG_BF16, options)) != NG_OK
        || (status = ng_ref_check_matrix(b, 1u << NG_BF16, options)) != NG_OK)
        return status;
    if (c != NULL) {
        if (c->dtype != d->dtype)
            return NG_BAD_DTYPE;
        status = ng_ref_check_gemm_gradients(c, a->cols, b->cols, options);
        if (status != NG_OK)
            return status;
    }
    ng_ref_run(multiply_columns, &job, d->rows, options);
    return NG_OK;
}
