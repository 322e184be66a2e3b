/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_CUDA_CONVERT_CONVERT_FP8_TO_MXFP4_H
#define NG_CUDA_CONVERT_CONVERT_FP8_TO_MXFP4_H

#include "cuda/launch.h"
#include "formats/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ng_ref_convert_fp8_to_mxfp4 on the GPU: FP8 to MXFP4, the exact values
 * quantized once.
 *   y        out [rows, cols]; scales UE8M0 or UE8M0X4
 *   x        in  [rows, cols]; form row or tile; scales FP32 of any value,
 *            UE8M0 or UE8M0X4; not overlapping y
 *   options  rules: mxfp4_scale, rounding (all); groups, random
 *   launch   events; no workspace
 * Fast in the row form: nearest-even, no events, cols a multiple of 32, codes
 * on both sides on 16-byte boundaries with every line. Returns as launch.h
 * says; never a refusal. */
ng_status ng_cuda_convert_fp8_to_mxfp4(const ng_mxfp4 *y, const ng_fp8 *x,
                                       const ng_options *options,
                                       const ng_cuda_launch *launch);

#ifdef __cplusplus
}
#endif

#endif
