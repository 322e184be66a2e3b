/* SPDX-License-Identifier: Apache-2.0
 *
 * What a launcher's host side can say of its views before anything is enqueued:
 * what the reference checks, but for what lies on the device. Returned are
 *   NG_BAD_SHAPE    the extent in bytes passes INT64_MAX, or shapes differ
 *   NG_BAD_DTYPE    a type that the operation does not take
 *   NG_BAD_LAYOUT   ld below the width of a line, strides under which two
 *                   scales would fall together, or a form that does not fit
 *   NG_BAD_POINTER  null, or not aligned for its type, where there are elements
 * How many rows a ragged tensor uses is not known: pointers are checked as if
 * all were; of the strides of its scales only that they are positive.
 */
#ifndef NG_CUDA_CHECK_VIEWS_H
#define NG_CUDA_CHECK_VIEWS_H

#include "cuda/launch.h"
#include "formats/layout.h"

/* Sets of types and forms: 1u << NG_FP32 ... */
enum {
    NG_CUDA_FLOATS = 1 << NG_FP16 | 1 << NG_BF16 | 1 << NG_FP32,
    NG_CUDA_UE8M0S = 1 << NG_UE8M0 | 1 << NG_UE8M0X4,
    NG_CUDA_SCALES = 1 << NG_FP32 | 1 << NG_UE8M0 | 1 << NG_UE8M0X4,
    NG_CUDA_FP8_FORMS = 1 << NG_FP8_ROW | 1 << NG_FP8_COL | 1 << NG_FP8_TILE
};

/* Shape, rules, and that offsets are given and aligned, as the launch's own
 * pointers are. options may be null; a null launch is NG_BAD_POINTER. */
ng_status ng_cuda_check_call(const ng_options *options, int64_t rows,
                             int64_t cols, const ng_cuda_launch *launch);

ng_status ng_cuda_check_matrix(const ng_matrix *matrix, unsigned dtypes);
ng_status ng_cuda_check_mxfp4(const ng_mxfp4 *tensor,
                              const ng_options *options);
ng_status ng_cuda_check_fp8(const ng_fp8 *tensor, unsigned forms,
                            const ng_options *options);

/* Codes of one byte: `lines` lines of `width`, ld apart. */
ng_status ng_cuda_check_codes(const uint8_t *codes, int64_t lines,
                              int64_t width, int64_t ld);

/* n scales in each of `lines` lines; `known`: so many, or no more than that. */
ng_status ng_cuda_check_scales(const ng_scales *scales, unsigned dtypes,
                               int64_t lines, int64_t n, bool known);

/* Whether the launch's workspace has so many bytes, NG_NO_MEMORY if not, and
 * begins where launch.h says. An operation that needs none takes any. */
ng_status ng_cuda_check_workspace(const ng_cuda_launch *launch, int64_t bytes);

#endif
