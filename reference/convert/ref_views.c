/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/convert/ref_views.h"

#include <stddef.h>

#include "reference/convert/ref_options.h"

/* Whether a * b passes INT64_MAX; a, b >= 0. */
static bool product_overflows(int64_t a, int64_t b)
{
    return a != 0 && b > INT64_MAX / a;
}

/* Lines of `width` units of `size` bytes, ld units apart; `used` says whether
 * any unit takes part. */
static ng_status check_plane(const void *data, int64_t lines, int64_t width,
                             int64_t ld, int64_t size, bool used)
{
    if (ld < width)
        return NG_BAD_LAYOUT;
    if (product_overflows(lines, ld) || product_overflows(lines * ld, size))
        return NG_BAD_SHAPE;
    return used && data == NULL ? NG_BAD_POINTER : NG_OK;
}

static bool contains(unsigned dtypes, ng_dtype dtype)
{
    return (unsigned)dtype < NG_N_DTYPES && (dtypes >> dtype & 1u) != 0;
}

ng_status ng_ref_check_matrix(const ng_matrix *matrix, unsigned dtypes,
                              const ng_options *options)
{
    if (!contains(dtypes, matrix->dtype))
        return NG_BAD_DTYPE;

    const int64_t width = matrix->dtype == NG_E2M1X2
                              ? ng_ceil_div(matrix->cols, 2)
                              : matrix->cols;

    return check_plane(matrix->data, matrix->rows, width, matrix->ld,
                       (int64_t)ng_dtype_size(matrix->dtype),
                       ng_ref_rows(options, matrix->rows) > 0 && width > 0);
}

ng_status ng_ref_check_mxfp4(const ng_mxfp4 *tensor, const ng_options *options)
{
    const int64_t rows = ng_ref_rows(options, tensor->rows);
    const int64_t width = ng_ceil_div(tensor->cols, 2);
    const ng_status status = ng_ref_check_codes(tensor->codes, tensor->rows,
                                                width, tensor->ld, rows, width);

    if (status != NG_OK)
        return status;
    return ng_ref_check_scales(&tensor->scales, NG_REF_UE8M0S, rows,
                               ng_ceil_div(tensor->cols, NG_MXFP4_BLOCK));
}

ng_status ng_ref_check_mxfp8(const ng_mxfp8 *tensor, const ng_options *options)
{
    const int64_t rows = ng_ref_rows(options, tensor->rows);
    const ng_status status =
        ng_ref_check_codes(tensor->codes, tensor->rows, tensor->cols,
                           tensor->ld, rows, tensor->cols);

    if (status != NG_OK)
        return status;
    return ng_ref_check_scales(&tensor->scales, NG_REF_UE8M0S, rows,
                               ng_ceil_div(tensor->cols, NG_MXFP8_BLOCK));
}

ng_status ng_ref_check_fp8(const ng_fp8 *tensor, unsigned forms,
                           const ng_options *options)
{
    if ((unsigned)tensor->form >= NG_N_FP8_FORMS
        || (forms >> tensor->form & 1u) == 0)
        return NG_BAD_LAYOUT;

    const int64_t rows = ng_ref_rows(options, tensor->rows);
    const int64_t row_blocks =
        ng_groups_blocks(ng_ref_groups(options), tensor->rows, NG_FP8_BLOCK);
    const int64_t col_blocks = ng_ceil_div(tensor->cols, NG_FP8_BLOCK);
    const bool col_form = tensor->form == NG_FP8_COL;
    const ng_status status =
        col_form ? ng_ref_check_codes(tensor->codes, tensor->cols, tensor->rows,
                                      tensor->ld, tensor->cols, rows)
                 : ng_ref_check_codes(tensor->codes, tensor->rows, tensor->cols,
                                      tensor->ld, rows, tensor->cols);

    if (status != NG_OK)
        return status;
    return ng_ref_check_scales(&tensor->scales, NG_REF_SCALES,
                               col_form                     ? tensor->cols
                               : tensor->form == NG_FP8_ROW ? rows
                                                            : row_blocks,
                               col_form ? row_blocks : col_blocks);
}

ng_status ng_ref_check_codes(const uint8_t *codes, int64_t lines, int64_t width,
                             int64_t ld, int64_t lines_used, int64_t width_used)
{
    return check_plane(codes, lines, width, ld, 1,
                       lines_used > 0 && width_used > 0);
}

ng_status ng_ref_check_scales(const ng_scales *scales, unsigned dtypes,
                              int64_t lines, int64_t n)
{
    if (!contains(dtypes, scales->dtype))
        return NG_BAD_DTYPE;

    const int64_t units = scales->dtype == NG_UE8M0X4 ? ng_ceil_div(n, 4) : n;

    if (lines == 0 || units == 0)
        return NG_OK;

    /* The units of a line lie step apart, and the starts of lines ld. No
     * two units fall together if one stride clears all that the other spans. */
    const int64_t size = (int64_t)ng_dtype_size(scales->dtype);
    const int64_t ld = lines > 1 ? scales->ld : 0;
    const int64_t step = units > 1 ? scales->step : 0;

    if ((lines > 1 && ld < 1) || (units > 1 && step < 1))
        return NG_BAD_LAYOUT;
    if (product_overflows(lines - 1, ld) || product_overflows(units - 1, step)
        || (lines - 1) * ld > INT64_MAX - 1 - (units - 1) * step
        || product_overflows((lines - 1) * ld + (units - 1) * step + 1, size))
        return NG_BAD_SHAPE;
    if (lines > 1 && units > 1 && ld <= (units - 1) * step
        && step <= (lines - 1) * ld)
        return NG_BAD_LAYOUT;
    return scales->data == NULL ? NG_BAD_POINTER : NG_OK;
}
