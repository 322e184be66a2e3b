/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_CUDA_CONVERT_QUANTIZE_FP8_H
#define NG_CUDA_CONVERT_QUANTIZE_FP8_H

#include "cuda/launch.h"
#include "formats/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ng_ref_quantize_fp8 on the GPU: numbers to FP8, one scale a block.
 *   y        out [rows, cols]; form row, col or tile; scales FP32, or UE8M0 or
 *            UE8M0X4 with rules->fp8_scale pow2
 *   x        in  [rows, cols], FP32, BF16 or FP16; not overlapping y
 *   options  rules: fp8_scale, rounding (stochastic with pow2 only), overflow;
 *            groups, random
 *   launch   events; no workspace
 * Fast: nearest-even, no events, cols a multiple of 16, x and y.codes on
 * 16-byte boundaries with every line. Returns as launch.h says; never a
 * refusal. */
ng_status ng_cuda_quantize_fp8(const ng_fp8 *y, const ng_matrix *x,
                               const ng_options *options,
                               const ng_cuda_launch *launch);

#ifdef __cplusplus
}
#endif

#endif
