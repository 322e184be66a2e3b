/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/convert/ref_dequantize_mxfp8.h"

#include <stddef.h>

#include "reference/convert/ref_decoding.h"
#include "reference/convert/ref_elements.h"
#include "reference/convert/ref_options.h"
#include "reference/convert/ref_parallel.h"
#include "reference/convert/ref_scales.h"
#include "reference/convert/ref_views.h"

struct job {
    const ng_matrix *y;
    const ng_mxfp8 *x;
    const ng_options *options;
};

static void dequantize_row(const void *context, int64_t r, ng_events *events)
{
    const struct job *job = context;
    const ng_mxfp8 *x = job->x;
    const ng_rules *rules = ng_ref_rules(job->options);
    ng_exact scale = {.kind = NG_EXACT_NAN};

    for (int64_t c = 0; c < x->cols; c++) {
        const ng_exact code = ng_exact_decode(&ng_formats[NG_FORMAT_E4M3],
                                              x->codes[r * x->ld + c]);
        unsigned bits = 0;

        if (c % NG_MXFP8_BLOCK == 0)
            scale = ng_ref_load_scale(&x->scales, r, c / NG_MXFP8_BLOCK);
        ng_ref_store(
            job->y, r, c,
            ng_ref_decode_element(code, scale, job->y->dtype, rules, &bits));
        ng_events_count(events, bits);
    }
}

ng_status ng_ref_dequantize_mxfp8(const ng_matrix *y, const ng_mxfp8 *x,
                                  const ng_options *options)
{
    const struct job job = {y, x, options};
    ng_status status;

    if (y == NULL || x == NULL)
        return NG_BAD_POINTER;
    if (y->rows != x->rows || y->cols != x->cols)
        return NG_BAD_SHAPE;
    if ((status = ng_ref_check_options(options, x->rows, x->cols)) != NG_OK
        || (status = ng_ref_check_matrix(y, NG_REF_FLOATS, options)) != NG_OK
        || (status = ng_ref_check_mxfp8(x, options)) != NG_OK)
        return status;
    if (x->cols > 0)
        ng_ref_run(dequantize_row, &job, ng_ref_rows(options, x->rows),
                   options);
    return NG_OK;
}
