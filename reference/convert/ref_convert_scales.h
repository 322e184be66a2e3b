/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_REFERENCE_CONVERT_REF_CONVERT_SCALES_H
#define NG_REFERENCE_CONVERT_REF_CONVERT_SCALES_H

#include <stdint.h>

#include "formats/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Convert a plane of power-of-two scales between its three storages.
 *   y        out [lines, n]; FP32, UE8M0 or UE8M0X4; any strides
 *   x        in  [lines, n]; FP32, UE8M0 or UE8M0X4; not overlapping y
 *   lines, n in  extents, in scales
 * UE8M0 holds 2^-127 .. 2^127 and NaN. An FP32 scale that is none of these is
 * refused there, never cut (L-10): 0, Inf, negative numbers and 2^-149 .. 2^-128
 * too. Any FP32 NaN becomes 0xFF, and 0xFF the canonical FP32 NaN; from FP32 to
 * FP32 bits are moved, whatever they are. 2^-127 is an FP32 subnormal.
 * Absent bytes of a packed word are written as 0 and never read; gaps are not
 * touched.
 * Returns NG_OK, or with y untouched NG_BAD_POINTER (null where there are
 * scales), NG_BAD_SHAPE, NG_BAD_DTYPE, NG_BAD_LAYOUT, NG_BAD_SCALE.
 * Source: semantics.md 1 and 2; L-05, L-10. */
ng_status ng_ref_convert_scales(const ng_scales *y, const ng_scales *x,
                                int64_t lines, int64_t n);

#ifdef __cplusplus
}
#endif

#endif
