/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_CUDA_CONVERT_DEQUANTIZE_FP8_H
#define NG_CUDA_CONVERT_DEQUANTIZE_FP8_H

#include "cuda/launch.h"
#include "formats/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ng_ref_dequantize_fp8 on the GPU: RN32(code * scale), rounded once more for a
 * narrower type.
 *   y        out [rows, cols], FP32, BF16 or FP16; row-major whatever x is
 *   x        in  [rows, cols]; row, col or tile; scales FP32 of any value,
 *            UE8M0 or UE8M0X4; not overlapping y
 *   options  rules: overflow, of the second rounding; groups
 *   launch   events; no workspace
 * Fast: BF16 out of the row form, no events, cols a multiple of 8, x.codes on
 * 8-byte boundaries and y on 16-byte ones with every line. Returns as launch.h
 * says; never a refusal. */
ng_status ng_cuda_dequantize_fp8(const ng_matrix *y, const ng_fp8 *x,
                                 const ng_options *options,
                                 const ng_cuda_launch *launch);

#ifdef __cplusplus
}
#endif

#endif
