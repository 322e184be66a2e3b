/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_CONFORMANCE_ORACLE_CONVERT_SCALES_H
#define NG_CONFORMANCE_ORACLE_CONVERT_SCALES_H

#include "formats/layout.h"

/* Convert a plane of scales between FP32, UE8M0 and packed UE8M0; semantics
 * section 2. Between equal kinds bits move; a NaN that changes kind is
 * canonical.
 *   y      out  `lines` lines of n scales
 *   x      in   the same number
 * Returns NG_OK; NG_BAD_SCALE if an FP32 scale on its way to UE8M0 is neither
 * 2^-127 .. 2^127 nor NaN, or NG_BAD_DTYPE; y is then untouched. */
ng_status ng_oracle_convert_scales(const ng_scales *y, const ng_scales *x,
                                   int64_t lines, int64_t n);

#endif
