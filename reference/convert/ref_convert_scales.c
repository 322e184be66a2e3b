/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/convert/ref_convert_scales.h"

#include <stddef.h>

#include "formats/ue8m0.h"
#include "reference/convert/ref_parallel.h"
#include "reference/convert/ref_scales.h"
#include "reference/convert/ref_views.h"

struct job {
    const ng_scales *y, *x;
    int64_t n;
};

static void convert_line(const void *context, int64_t i, ng_events *events)
{
    const struct job *job = context;
    const bool moved = job->y->dtype == NG_FP32 && job->x->dtype == NG_FP32;

    (void)events;
    for (int64_t j = 0; j < job->n; j++) {
        if (moved)
            ng_ref_store_scale_bits(job->y, i, j,
                                    ng_ref_load_scale_bits(job->x, i, j));
        else
            ng_ref_store_scale(job->y, i, j, ng_ref_load_scale(job->x, i, j));
    }
}

/* What UE8M0 cannot hold is refused, never cut (L-10). */
static ng_status check_values(const ng_scales *x, int64_t lines, int64_t n)
{
    for (int64_t i = 0; n > 0 && i < lines; i++)
        for (int64_t j = 0; j < n; j++) {
            const ng_exact scale = ng_ref_load_scale(x, i, j);
            int k;

            if (scale.kind == NG_EXACT_NAN)
                continue;
            if (!ng_ref_is_power_of_two(scale, &k) || k < -NG_UE8M0_BIAS)
                return NG_BAD_SCALE;
        }
    return NG_OK;
}

ng_status ng_ref_convert_scales(const ng_scales *y, const ng_scales *x,
                                int64_t lines, int64_t n)
{
    const struct job job = {y, x, n};
    ng_status status;

    if (y == NULL || x == NULL)
        return NG_BAD_POINTER;
    if (lines < 0 || n < 0)
        return NG_BAD_SHAPE;
    if ((status = ng_ref_check_scales(y, NG_REF_SCALES, lines, n)) != NG_OK
        || (status = ng_ref_check_scales(x, NG_REF_SCALES, lines, n)) != NG_OK
        || (y->dtype != NG_FP32
            && (status = check_values(x, lines, n)) != NG_OK))
        return status;
    if (n > 0)
        ng_ref_run(convert_line, &job, lines, NULL);
    return NG_OK;
}
