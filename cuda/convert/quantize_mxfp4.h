/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_CUDA_CONVERT_QUANTIZE_MXFP4_H
#define NG_CUDA_CONVERT_QUANTIZE_MXFP4_H

#include "cuda/launch.h"
#include "formats/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ng_ref_quantize_mxfp4 on the GPU: numbers to MXFP4, blocks of 32 along cols.
 *   y        out [rows, cols]; scales UE8M0 or UE8M0X4
 *   x        in  [rows, cols], FP32, BF16 or FP16; not overlapping y
 *   options  rules: mxfp4_scale, rounding (all); groups, random
 *   launch   events; no workspace
 * Fast: nearest-even, no events, cols a multiple of 32, x and y.codes on
 * 16-byte boundaries with every line. Returns as launch.h says; never a
 * refusal. */
ng_status ng_cuda_quantize_mxfp4(const ng_mxfp4 *y, const ng_matrix *x,
                                 const ng_options *options,
                                 const ng_cuda_launch *launch);

#ifdef __cplusplus
}
#endif

#endif
