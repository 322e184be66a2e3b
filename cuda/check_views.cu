/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/check_views.h"

static bool overflows(int64_t a, int64_t b)
{
    return a != 0 && b > INT64_MAX / a;
}

static ng_status check_pointer(const void *data, size_t size)
{
    return data == nullptr || (uintptr_t)data % size != 0 ? NG_BAD_POINTER
                                                          : NG_OK;
}

static ng_status check_plane(const void *data, int64_t lines, int64_t width,
                             int64_t ld, size_t size)
{
    if (ld < width)
        return NG_BAD_LAYOUT;
    if (overflows(lines, ld) || overflows(lines * ld, (int64_t)size))
        return NG_BAD_SHAPE;
    return lines > 0 && width > 0 ? check_pointer(data, size) : NG_OK;
}

static bool contains(unsigned dtypes, ng_dtype dtype)
{
    return (unsigned)dtype < NG_N_DTYPES && (dtypes >> dtype & 1) != 0;
}

static bool is_ragged(const ng_options *options)
{
    return options != nullptr && options->groups != nullptr;
}

ng_status ng_cuda_check_call(const ng_options *options, int64_t rows,
                             int64_t cols, const ng_cuda_launch *launch)
{
    if (launch == nullptr)
        return NG_BAD_POINTER;
    if (rows < 0 || cols < 0)
        return NG_BAD_SHAPE;
    if (options != nullptr && options->rules != nullptr
        && !ng_rules_for_kernels(options->rules))
        return NG_BAD_RULES;
    if ((uintptr_t)launch->events % 8 != 0
        || (uintptr_t)launch->refusal % 4 != 0)
        return NG_BAD_POINTER;
    if (!is_ragged(options))
        return NG_OK;
    /* So many offsets no memory holds: sums with the rows stay below 2^63. */
    if (options->groups->n_groups < 0
        || options->groups->n_groups >= INT64_MAX / (int64_t)sizeof(int64_t))
        return NG_BAD_GROUPS;
    return check_pointer(options->groups->offsets, sizeof(int64_t));
}

ng_status ng_cuda_check_matrix(const ng_matrix *matrix, unsigned dtypes)
{
    if (!contains(dtypes, matrix->dtype))
        return NG_BAD_DTYPE;
    return check_plane(matrix->data, matrix->rows,
                       matrix->dtype == NG_E2M1X2 ? ng_ceil_div(matrix->cols, 2)
                                                  : matrix->cols,
                       matrix->ld, ng_dtype_size(matrix->dtype));
}

ng_status ng_cuda_check_codes(const uint8_t *codes, int64_t lines,
                              int64_t width, int64_t ld)
{
    return check_plane(codes, lines, width, ld, 1);
}

ng_status ng_cuda_check_mxfp4(const ng_mxfp4 *tensor, const ng_options *options)
{
    const ng_status status = ng_cuda_check_codes(
        tensor->codes, tensor->rows, ng_ceil_div(tensor->cols, 2), tensor->ld);

    return status != NG_OK
               ? status
               : ng_cuda_check_scales(&tensor->scales, NG_CUDA_UE8M0S,
                                      tensor->rows,
                                      ng_ceil_div(tensor->cols, NG_MXFP4_BLOCK),
                                      !is_ragged(options));
}

ng_status ng_cuda_check_fp8(const ng_fp8 *tensor, unsigned forms,
                            const ng_options *options)
{
    if ((unsigned)tensor->form >= NG_N_FP8_FORMS
        || (forms >> tensor->form & 1) == 0)
        return NG_BAD_LAYOUT;

    const bool col_form = tensor->form == NG_FP8_COL;
    const int64_t row_blocks =
        is_ragged(options)
            ? tensor->rows / NG_FP8_BLOCK + options->groups->n_groups
            : ng_ceil_div(tensor->rows, NG_FP8_BLOCK);
    const int64_t col_blocks = ng_ceil_div(tensor->cols, NG_FP8_BLOCK);
    const ng_status status =
        col_form ? ng_cuda_check_codes(tensor->codes, tensor->cols,
                                       tensor->rows, tensor->ld)
                 : ng_cuda_check_codes(tensor->codes, tensor->rows,
                                       tensor->cols, tensor->ld);

    if (status != NG_OK)
        return status;
    if (tensor->rows == 0 || tensor->cols == 0) /* no scales, of some type */
        return ng_cuda_check_scales(&tensor->scales, NG_CUDA_SCALES, 0, 0,
                                    true);
    return ng_cuda_check_scales(&tensor->scales, NG_CUDA_SCALES,
                                col_form                     ? tensor->cols
                                : tensor->form == NG_FP8_ROW ? tensor->rows
                                                             : row_blocks,
                                col_form ? row_blocks : col_blocks,
                                !is_ragged(options));
}

ng_status ng_cuda_check_scales(const ng_scales *scales, unsigned dtypes,
                               int64_t lines, int64_t n, bool known)
{
    if (!contains(dtypes, scales->dtype))
        return NG_BAD_DTYPE;

    const int64_t units = scales->dtype == NG_UE8M0X4 ? ng_ceil_div(n, 4) : n;
    const size_t size = ng_dtype_size(scales->dtype);

    if (lines == 0 || units == 0)
        return NG_OK;
    if (!known)
        return (lines > 1 && scales->ld < 1) || (units > 1 && scales->step < 1)
                   ? NG_BAD_LAYOUT
                   : check_pointer(scales->data, size);

    /* A stride that is never multiplied by anything but 0 may be anything. Two
     * units fall together unless one stride clears all that the other spans. */
    const int64_t ld = lines > 1 ? scales->ld : 0;
    const int64_t step = units > 1 ? scales->step : 0;

    if ((lines > 1 && ld < 1) || (units > 1 && step < 1))
        return NG_BAD_LAYOUT;
    if (overflows(lines - 1, ld) || overflows(units - 1, step)
        || (lines - 1) * ld > INT64_MAX - 1 - (units - 1) * step
        || overflows((lines - 1) * ld + (units - 1) * step + 1, (int64_t)size))
        return NG_BAD_SHAPE;
    if (lines > 1 && units > 1 && ld <= (units - 1) * step
        && step <= (lines - 1) * ld)
        return NG_BAD_LAYOUT;
    return check_pointer(scales->data, size);
}

ng_status ng_cuda_check_workspace(const ng_cuda_launch *launch, int64_t bytes)
{
    if (bytes == 0)
        return NG_OK;
    if (bytes > launch->workspace_bytes)
        return NG_NO_MEMORY;
    return check_pointer(launch->workspace, 256);
}
