/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_CUDA_CONVERT_CONVERT_MXFP4_TO_FP8_H
#define NG_CUDA_CONVERT_CONVERT_MXFP4_TO_FP8_H

#include "cuda/launch.h"
#include "formats/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ng_ref_convert_mxfp4_to_fp8 on the GPU: MXFP4 to FP8 by scale alignment.
 *   y        out [rows, cols]; form row, or col; scales FP32, UE8M0, UE8M0X4
 *   x        in  [rows, cols]; scales UE8M0 or UE8M0X4; not overlapping y
 *   options  rules: headroom, overflow; rounding must be nearest-even; groups
 *   launch   events; no workspace. With inexact_only, which counts the elements
 *            whose value changed, both forms stay fast.
 * Fast in the row form: cols a multiple of 16, x.codes on 8-byte boundaries and
 * y.codes on 16-byte ones with every line. The col form is fast in any layout,
 * fastest on 16-byte boundaries and with y.scales stored transposed (ld 1). Returns as launch.h says; never a
 * refusal. */
ng_status ng_cuda_convert_mxfp4_to_fp8(const ng_fp8 *y, const ng_mxfp4 *x,
                                       const ng_options *options,
                                       const ng_cuda_launch *launch);

#ifdef __cplusplus
}
#endif

#endif
