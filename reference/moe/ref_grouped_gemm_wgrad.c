/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/moe/ref_grouped_gemm_wgrad.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "reference/convert/ref_options.h"
#include "reference/convert/ref_parallel.h"
#include "reference/convert/ref_views.h"
#include "reference/moe/ref_gemm_element.h"
#include "reference/moe/ref_gemm_views.h"

/* The rows of a group and the number of its first block. */
typedef struct span {
    int64_t first, end, block;
} span;

struct job {
    const ng_matrix *d, *c;
    const ng_fp8 *a, *b;
    const ng_options *options;
    span *group;
};

/* Row i of the stack: row n of group g. */
static void multiply_row(const void *context, int64_t i, ng_events *events)
{
    const struct job *job = context;
    const int64_t n = i % job->a->cols;
    const span *s = &job->group[i / job->a->cols];
    const ng_matrix *c = job->c;
    const ng_ref_gemm_line row = {.codes =
                                      job->a->codes + n * job->a->ld + s->first,
                                  .scales = &job->a->scales,
                                  .line = n,
                                  .first = s->block};

    if (s->first == s->end && c != NULL) {
        const size_t size = ng_dtype_size(c->dtype);

        memmove((char *)job->d->data + (size_t)(i * job->d->ld) * size,
                (const char *)c->data + (size_t)(i * c->ld) * size,
                (size_t)c->cols * size);
        return;
    }
    for (int64_t k = 0; k < job->b->cols; k++) {
        const ng_ref_gemm_line col = {.codes = job->b->codes + k * job->b->ld
                                               + s->first,
                                      .scales = &job->b->scales,
                                      .line = k,
                                      .first = s->block};

        ng_ref_gemm_store(
            job->d, c, i, k,
            ng_ref_gemm_accumulate(&row, &col, s->end - s->first,
                                   ng_ref_rules(job->options)->gemm),
            events);
    }
}

/* Returns null without memory. */
static span *find_groups(int64_t rows, const ng_options *options)
{
    const ng_groups *groups = ng_ref_groups(options);
    const int64_t n = ng_ref_gemm_groups(options);
    span *s = malloc((size_t)n * sizeof *s + 1);
    int64_t block = 0;

    for (int64_t g = 0; s != NULL && g < n; g++) {
        s[g].first = groups != NULL ? groups->offsets[g] : 0;
        s[g].end = groups != NULL ? groups->offsets[g + 1] : rows;
        s[g].block = block;
        block += ng_ceil_div(s[g].end - s[g].first, NG_FP8_BLOCK);
    }
    return s;
}

ng_status ng_ref_grouped_gemm_wgrad(const ng_matrix *d, const ng_matrix *c,
                                    const ng_fp8 *a, const ng_fp8 *b,
                                    const ng_options *options)
{
    const unsigned col = 1u << NG_FP8_COL;
    struct job job = {d, c, a, b, options, NULL};
    ng_status status;

    if (d == NULL || a == NULL || b == NULL)
        return NG_BAD_POINTER;
    if (a->rows != b->rows)
        return NG_BAD_SHAPE;
    if ((status = ng_ref_check_options(options, a->rows, a->cols)) != NG_OK
        || (status = ng_ref_check_options(options, b->rows, b->cols)) != NG_OK
        || (status = ng_ref_check_gemm_gradients(d, a->cols, b->cols, options))
               != NG_OK
        || (status = ng_ref_check_fp8(a, col, options)) != NG_OK
        || (status = ng_ref_check_fp8(b, col, options)) != NG_OK)
        return status;
    if (c != NULL) {
        if (c->dtype != d->dtype)
            return NG_BAD_DTYPE;
        status = ng_ref_check_gemm_gradients(c, a->cols, b->cols, options);
        if (status != NG_OK)
            return status;
    }
    if ((job.group = find_groups(a->rows, options)) == NULL)
        return NG_NO_MEMORY;
    ng_ref_run(multiply_row, &job, d->rows, options);
    free(job.group);
    return NG_OK;
}
