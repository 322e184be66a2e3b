/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_CUDA_CONVERT_CONVERT_FP8_ROW_TO_COL_H
#define NG_CUDA_CONVERT_CONVERT_FP8_ROW_TO_COL_H

#include "cuda/launch.h"
#include "formats/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ng_ref_convert_fp8_row_to_col on the GPU: FP8 blocks along rows to blocks
 * along columns, transposed.
 *   y        out [rows, cols], form col; scales FP32, UE8M0, UE8M0X4
 *   x        in  [rows, cols], form row; not overlapping y
 *   options  rules: with power-of-two scales rounding must be nearest-even;
 *            with general ones fp8_scale, rounding (stochastic with pow2 only),
 *            overflow; groups, random
 *   launch   events; no workspace. refusal: see below
 * A scale that is declared a power of two and is none: where launch->refusal is
 * given, the scales are looked through first and NG_BAD_SCALE is stored there;
 * where it is null, such a scale is the caller's error and counts by its
 * highest bit.
 *
 * Fast with power-of-two scales, without events or with inexact_only, and with
 * general ones under nearest-even without events: in any layout, fastest with x
 * and y.codes on 16-byte boundaries and y.scales stored transposed (ld 1).
 * Returns as launch.h says. */
ng_status ng_cuda_convert_fp8_row_to_col(const ng_fp8 *y, const ng_fp8 *x,
                                         const ng_options *options,
                                         const ng_cuda_launch *launch);

#ifdef __cplusplus
}
#endif

#endif
