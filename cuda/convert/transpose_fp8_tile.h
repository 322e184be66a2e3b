/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_CUDA_CONVERT_TRANSPOSE_FP8_TILE_H
#define NG_CUDA_CONVERT_TRANSPOSE_FP8_TILE_H

#include "cuda/launch.h"
#include "formats/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ng_ref_transpose_fp8_tile on the GPU: codes and scales move, no bit changes.
 *   y        out [x->cols, x->rows], form tile; scales of x's type
 *   x        in  [rows, cols], form tile; not overlapping y
 *   options  rules must be valid, none is read; groups are those of x's rows
 *   launch   no events, no workspace
 * Fast: cols a multiple of 16 and x.codes on 16-byte boundaries with every
 * line; y's lines may start anywhere, but 16-byte stores want tiles that start
 * on such boundaries. Returns as launch.h says; never a refusal. */
ng_status ng_cuda_transpose_fp8_tile(const ng_fp8 *y, const ng_fp8 *x,
                                     const ng_options *options,
                                     const ng_cuda_launch *launch);

#ifdef __cplusplus
}
#endif

#endif
