/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a view can be what it says: sizes, strides, types and pointers. Call
 * ng_ref_check_options first: the groups must be right. Returned are
 *   NG_BAD_SHAPE    the extent in bytes, lines * ld * size, passes INT64_MAX
 *   NG_BAD_DTYPE    a type that the operation does not take
 *   NG_BAD_LAYOUT   ld below the width of a line, strides under which two
 *                   scales would fall together, or a form that does not fit
 *   NG_BAD_POINTER  null where at least one element takes part
 * An ld is checked in empty tensors too; a pointer is not.
 */
#ifndef NG_REFERENCE_CONVERT_REF_VIEWS_H
#define NG_REFERENCE_CONVERT_REF_VIEWS_H

#include <stdint.h>

#include "formats/options.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sets of types and forms: 1u << NG_FP32 ... */
enum {
    NG_REF_FLOATS = 1 << NG_FP16 | 1 << NG_BF16 | 1 << NG_FP32,
    NG_REF_UE8M0S = 1 << NG_UE8M0 | 1 << NG_UE8M0X4,
    NG_REF_SCALES = 1 << NG_FP32 | 1 << NG_UE8M0 | 1 << NG_UE8M0X4,
    NG_REF_FP8_FORMS = 1 << NG_FP8_ROW | 1 << NG_FP8_COL | 1 << NG_FP8_TILE
};

/* A matrix whose type is in the set dtypes. */
ng_status ng_ref_check_matrix(const ng_matrix *matrix, unsigned dtypes,
                              const ng_options *options);

/* An MXFP4 tensor, its scales included. */
ng_status ng_ref_check_mxfp4(const ng_mxfp4 *tensor, const ng_options *options);

/* An MXFP8 tensor likewise. */
ng_status ng_ref_check_mxfp8(const ng_mxfp8 *tensor, const ng_options *options);

/* An FP8 tensor whose form is in the set forms, its scales included. */
ng_status ng_ref_check_fp8(const ng_fp8 *tensor, unsigned forms,
                           const ng_options *options);

/* Codes of one byte in `lines` lines of `width`, ld apart, of which the first
 * `lines_used` and in each `width_used` codes take part. */
ng_status ng_ref_check_codes(const uint8_t *codes, int64_t lines, int64_t width,
                             int64_t ld, int64_t lines_used,
                             int64_t width_used);

/* A plane of n scales in each of `lines` lines, its type in the set dtypes. A
 * stride that is never multiplied by anything but 0 may be anything. */
ng_status ng_ref_check_scales(const ng_scales *scales, unsigned dtypes,
                              int64_t lines, int64_t n);

#ifdef __cplusplus
}
#endif

#endif
