/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/moe/ref_gemm_views.h"

#include <stddef.h>

#include "reference/convert/ref_options.h"
#include "reference/convert/ref_views.h"

enum { OUTPUTS = 1 << NG_FP32 | 1 << NG_BF16 };

int64_t ng_ref_gemm_groups(const ng_options *options)
{
    const ng_groups *groups = ng_ref_groups(options);

    return groups != NULL ? groups->n_groups : 1;
}

int64_t ng_ref_gemm_group(const ng_options *options, int64_t t)
{
    const ng_groups *groups = ng_ref_groups(options);
    int64_t low = 0, high;

    if (groups == NULL)
        return 0;
    for (high = groups->n_groups - 1; low < high;) {
        const int64_t middle = low + (high - low) / 2;

        if (groups->offsets[middle + 1] > t)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Whether a tensor of `rows` rows is n_groups matrices of n rows. */
static bool is_stack(int64_t rows, int64_t n, const ng_options *options)
{
    const int64_t n_groups = ng_ref_gemm_groups(options);

    return n >= 0 && (n == 0 || n_groups <= INT64_MAX / n)
           && rows == n_groups * n;
}

ng_status ng_ref_check_gemm_product(const ng_matrix *d,
                                    const ng_options *options)
{
    if (d->cols < 0)
        return NG_BAD_SHAPE;
    return ng_ref_check_matrix(d, OUTPUTS, options);
}

ng_status ng_ref_check_gemm_weights(const ng_fp8 *b, int64_t n, int64_t k,
                                    const ng_options *options)
{
    ng_status status;

    if (b->cols != k || !is_stack(b->rows, n, options))
        return NG_BAD_SHAPE;
    if (b->form != NG_FP8_TILE)
        return NG_BAD_LAYOUT;
    status = ng_ref_check_codes(b->codes, b->rows, k, b->ld, b->rows, k);
    if (status != NG_OK)
        return status;
    return ng_ref_check_scales(&b->scales, NG_REF_SCALES,
                               ng_ref_gemm_groups(options)
                                   * ng_ceil_div(n, NG_FP8_BLOCK),
                               ng_ceil_div(k, NG_FP8_BLOCK));
}

ng_status ng_ref_check_gemm_stack(const ng_matrix *x, unsigned dtypes,
                                  int64_t n, int64_t k,
                                  const ng_options *options)
{
    if (x->cols != k || !is_stack(x->rows, n, options))
        return NG_BAD_SHAPE;
    return ng_ref_check_matrix(x, dtypes, NULL);
}

ng_status ng_ref_check_gemm_gradients(const ng_matrix *d, int64_t n, int64_t k,
                                      const ng_options *options)
{
    return ng_ref_check_gemm_stack(d, OUTPUTS, n, k, options);
}
