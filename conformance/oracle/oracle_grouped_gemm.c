/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/oracle/oracle_grouped_gemm.h"

#include <stdlib.h>

#include "conformance/oracle/oracle_convert_mxfp4_to_fp8.h"
#include "conformance/oracle/oracle_gemm_element.h"
#include "conformance/oracle/oracle_view.h"

static int64_t groups_in(const ng_options *options)
{
    return options->groups != NULL ? options->groups->n_groups : 1;
}

/* The rows of group g; all rows of a dense call. */
static int64_t group_first(const ng_options *options, int64_t g)
{
    return options->groups != NULL ? options->groups->offsets[g] : 0;
}

static int64_t group_end(const ng_options *options, int64_t g, int64_t rows)
{
    return options->groups != NULL ? options->groups->offsets[g + 1] : rows;
}

static bool is_output(ng_dtype dtype)
{
    return dtype == NG_FP32 || dtype == NG_BF16;
}

static void do_element(const ng_oracle_gemm_element *x,
                       const ng_options *options, const ng_bounds *bounds)
{
    const int64_t i = x->row * x->d->cols + x->col;

    if (bounds == NULL)
        ng_oracle_gemm_perform(x, options);
    else
        ng_oracle_gemm_bound(x, &bounds->exact[i], &bounds->bound[i]);
}

ng_status ng_oracle_grouped_gemm_fprop(const ng_matrix *d, const ng_fp8 *a,
                                       const ng_fp8 *b,
                                       const ng_options *options,
                                       const ng_bounds *bounds)
{
    const ng_options o = ng_oracle_options(options);
    const int64_t n = d->cols;
    const int64_t tiles = ng_oracle_blocks(n, NG_ORACLE_FP8_BLOCK);

    if (!ng_oracle_groups_legal(&o, a->rows))
        return NG_BAD_GROUPS;
    if (d->rows != a->rows || b->cols != a->cols
        || b->rows != groups_in(&o) * n)
        return NG_BAD_SHAPE;
    if (!is_output(d->dtype))
        return NG_BAD_DTYPE;
    for (int64_t g = 0; g < groups_in(&o); g++)
        for (int64_t t = group_first(&o, g); t < group_end(&o, g, a->rows); t++)
            for (int64_t c = 0; c < n; c++) {
                const ng_oracle_gemm_element x = {
                    .a = {a->codes + t * a->ld, &a->scales, t, 0},
                    .b = {b->codes + (g * n + c) * b->ld, &b->scales,
                          g * tiles + c / NG_ORACLE_FP8_BLOCK, 0},
                    .n = a->cols,
                    .d = d,
                    .row = t,
                    .col = c};

                do_element(&x, &o, bounds);
            }
    return NG_OK;
}

ng_status ng_oracle_grouped_gemm_wgrad(const ng_matrix *d, const ng_matrix *c,
                                       const ng_fp8 *a, const ng_fp8 *b,
                                       const ng_options *options,
                                       const ng_bounds *bounds)
{
    const ng_options o = ng_oracle_options(options);
    const int64_t n = a->cols;
    int64_t block = 0;

    if (!ng_oracle_groups_legal(&o, a->rows))
        return NG_BAD_GROUPS;
    if (a->rows != b->rows || d->cols != b->cols || d->rows != groups_in(&o) * n
        || (c != NULL && (c->rows != d->rows || c->cols != d->cols)))
        return NG_BAD_SHAPE;
    if (!is_output(d->dtype) || (c != NULL && c->dtype != d->dtype))
        return NG_BAD_DTYPE;
    for (int64_t g = 0; g < groups_in(&o); g++) {
        const int64_t first = group_first(&o, g);
        const int64_t size = group_end(&o, g, a->rows) - first;

        for (int64_t i = 0; i < n; i++)
            for (int64_t k = 0; k < b->cols; k++) {
                const ng_oracle_gemm_element x = {
                    .a = {a->codes + i * a->ld + first, &a->scales, i, block},
                    .b = {b->codes + k * b->ld + first, &b->scales, k, block},
                    .n = size,
                    .d = d,
                    .c = c,
                    .row = g * n + i,
                    .col = k};

                if (size == 0)
                    ng_oracle_gemm_empty(d, c, x.row, x.col, bounds);
                else
                    do_element(&x, &o, bounds);
            }
        block += ng_oracle_blocks(size, NG_ORACLE_FP8_BLOCK);
    }
    return NG_OK;
}

/* ---- MXFP4 in: the oracle's own conversion first ---- */

static void *make(int64_t n, size_t size)
{
    void *data = calloc((size_t)n + 1, size);

    if (data == NULL)
        abort();
    return data;
}

/* x in FP8, form row or col, with FP32 scales. Free codes and scales. */
static ng_status convert(ng_fp8 *y, const ng_mxfp4 *x, ng_fp8_form form,
                         const ng_options *options)
{
    ng_options quiet = ng_oracle_options(options);

    quiet.events = NULL;
    if (!ng_oracle_groups_legal(&quiet, x->rows))
        return NG_BAD_GROUPS;

    const bool col = form == NG_FP8_COL;
    const int64_t lines = col ? x->cols : x->rows;
    const int64_t n = col ? ng_oracle_spans(&quiet, x->rows)
                          : ng_oracle_blocks(x->cols, NG_ORACLE_FP8_BLOCK);

    *y = (ng_fp8){.form = form,
                  .rows = x->rows,
                  .cols = x->cols,
                  .ld = col ? x->rows : x->cols,
                  .scales = {.dtype = NG_FP32, .ld = n, .step = 1}};
    y->codes = make(lines * y->ld, 1);
    y->scales.data = make(lines * n, sizeof(float));
    return ng_oracle_convert_mxfp4_to_fp8(y, x, &quiet);
}

static void drop(ng_fp8 *y)
{
    free(y->codes);
    free(y->scales.data);
}

ng_status ng_oracle_grouped_gemm_mxfp4_fprop(const ng_matrix *d,
                                             const ng_mxfp4 *a, const ng_fp8 *b,
                                             const ng_options *options,
                                             const ng_bounds *bounds)
{
    ng_fp8 fp8 = {0};
    ng_status status = convert(&fp8, a, NG_FP8_ROW, options);

    if (status == NG_OK)
        status = ng_oracle_grouped_gemm_fprop(d, &fp8, b, options, bounds);
    drop(&fp8);
    return status;
}

ng_status ng_oracle_grouped_gemm_mxfp4_wgrad(const ng_matrix *d,
                                             const ng_matrix *c,
                                             const ng_fp8 *a, const ng_mxfp4 *b,
                                             const ng_options *options,
                                             const ng_bounds *bounds)
{
    ng_fp8 fp8 = {0};
    ng_status status = convert(&fp8, b, NG_FP8_COL, options);

    if (status == NG_OK)
        status = ng_oracle_grouped_gemm_wgrad(d, c, a, &fp8, options, bounds);
    drop(&fp8);
    return status;
}
