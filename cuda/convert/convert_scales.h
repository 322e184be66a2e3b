/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_CUDA_CONVERT_CONVERT_SCALES_H
#define NG_CUDA_CONVERT_CONVERT_SCALES_H

#include "cuda/launch.h"
#include "formats/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ng_ref_convert_scales on the GPU: power-of-two scales between their storages.
 *   y        out [lines, n]; FP32, UE8M0 or UE8M0X4; any strides
 *   x        in  [lines, n]; FP32, UE8M0 or UE8M0X4; not overlapping y
 *   launch   from FP32 to UE8M0 the refusal must be given, and be 0: a first
 *            kernel stores NG_BAD_SCALE there if any scale does not fit, and
 *            the second then leaves y untouched. No events, no workspace
 * Returns as launch.h says. */
ng_status ng_cuda_convert_scales(const ng_scales *y, const ng_scales *x,
                                 int64_t lines, int64_t n,
                                 const ng_cuda_launch *launch);

#ifdef __cplusplus
}
#endif

#endif
