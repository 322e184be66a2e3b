/* SPDX-License-Identifier: Apache-2.0
 *
 * MXFP4 operands: convert, then multiply. A kernel that converts on the way to
 * the tensor core returns the same bits.
 */
#include <stddef.h>
#include <stdlib.h>

#include "reference/convert/ref_convert_mxfp4_to_fp8.h"
#include "reference/convert/ref_options.h"
#include "reference/convert/ref_views.h"
#include "reference/moe/ref_grouped_gemm_fprop.h"
#include "reference/moe/ref_grouped_gemm_wgrad.h"

/* An FP8 tensor of our own, form row or col, for the MXFP4 tensor x. Fill it
 * with ng_ref_convert_mxfp4_to_fp8; free its codes and scales. */
static ng_status make_fp8(ng_fp8 *y, const ng_mxfp4 *x, ng_fp8_form form,
                          const ng_options *options)
{
    ng_status status;

    if ((status = ng_ref_check_options(options, x->rows, x->cols)) != NG_OK
        || (status = ng_ref_check_mxfp4(x, options)) != NG_OK)
        return status;

    const bool col = form == NG_FP8_COL;
    const int64_t lines = col ? x->cols : x->rows;
    const int64_t n =
        col ? ng_groups_blocks(ng_ref_groups(options), x->rows, NG_FP8_BLOCK)
            : ng_ceil_div(x->cols, NG_FP8_BLOCK);

    *y = (ng_fp8){.form = form,
                  .rows = x->rows,
                  .cols = x->cols,
                  .ld = col ? x->rows : x->cols,
                  .scales = {.dtype = NG_FP32, .ld = n, .step = 1}};
    if (y->ld != 0 && lines > (INT64_MAX - 1) / y->ld)
        return NG_BAD_SHAPE;
    if (n != 0 && lines > (INT64_MAX / (int64_t)sizeof(float) - 1) / n)
        return NG_BAD_SHAPE;
    y->codes = malloc((size_t)(lines * y->ld) + 1);
    y->scales.data = malloc((size_t)(lines * n + 1) * sizeof(float));
    return y->codes != NULL && y->scales.data != NULL ? NG_OK : NG_NO_MEMORY;
}

/* The conversion's own events are not the product's. */
static ng_status convert(ng_fp8 *y, const ng_mxfp4 *x, ng_fp8_form form,
                         const ng_options *options)
{
    ng_options quiet = {0};
    ng_status status = make_fp8(y, x, form, options);

    if (options != NULL)
        quiet = *options;
    quiet.events = NULL;
    return status != NG_OK ? status : ng_ref_convert_mxfp4_to_fp8(y, x, &quiet);
}

static void drop(ng_fp8 *y)
{
    free(y->codes);
    free(y->scales.data);
}

ng_status ng_ref_grouped_gemm_mxfp4_fprop(const ng_matrix *d, const ng_mxfp4 *a,
                                          const ng_fp8 *b,
                                          const ng_options *options)
{
    ng_fp8 fp8 = {0};
    ng_status status;

    if (a == NULL)
        return NG_BAD_POINTER;
    status = convert(&fp8, a, NG_FP8_ROW, options);
    if (status == NG_OK)
        status = ng_ref_grouped_gemm_fprop(d, &fp8, b, options);
    drop(&fp8);
    return status;
}

ng_status ng_ref_grouped_gemm_mxfp4_wgrad(const ng_matrix *d,
                                          const ng_matrix *c, const ng_fp8 *a,
                                          const ng_mxfp4 *b,
                                          const ng_options *options)
{
    ng_fp8 fp8 = {0};
    ng_status status;

    if (b == NULL)
        return NG_BAD_POINTER;
    status = convert(&fp8, b, NG_FP8_COL, options);
    if (status == NG_OK)
        status = ng_ref_grouped_gemm_wgrad(d, c, a, &fp8, options);
    drop(&fp8);
    return status;
}
