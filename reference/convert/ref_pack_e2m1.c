/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/convert/ref_pack_e2m1.h"

#include <stddef.h>

#include "reference/convert/ref_elements.h"
#include "reference/convert/ref_options.h"
#include "reference/convert/ref_parallel.h"
#include "reference/convert/ref_views.h"

struct job {
    const ng_matrix *y, *x;
};

static void pack_row(const void *context, int64_t r, ng_events *events)
{
    const struct job *job = context;
    const uint8_t *from = (const uint8_t *)job->x->data + r * job->x->ld;
    uint8_t *to = (uint8_t *)job->y->data + r * job->y->ld;

    (void)events;
    for (int64_t c = 0; c < job->x->cols; c++)
        ng_ref_store_nibble(to, c, from[c] & 0xF);
}

ng_status ng_ref_pack_e2m1(const ng_matrix *y, const ng_matrix *x,
                           const ng_options *options)
{
    const struct job job = {y, x};
    ng_status status;

    if (y == NULL || x == NULL)
        return NG_BAD_POINTER;
    if (y->rows != x->rows || y->cols != x->cols)
        return NG_BAD_SHAPE;
    if ((status = ng_ref_check_options(options, x->rows, x->cols)) != NG_OK
        || (status = ng_ref_check_matrix(y, 1u << NG_E2M1X2, options)) != NG_OK
        || (status = ng_ref_check_matrix(x, 1u << NG_E2M1, options)) != NG_OK)
        return status;
    if (x->cols > 0)
        ng_ref_run(pack_row, &job, ng_ref_rows(options, x->rows), options);
    return NG_OK;
}
