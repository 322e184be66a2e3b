/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_REFERENCE_CONVERT_REF_PACK_E2M1_H
#define NG_REFERENCE_CONVERT_REF_PACK_E2M1_H

#include "formats/layout.h"
#include "formats/options.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Pack E2M1 codes two to a byte, the even element in the low nibble.
 *   y        out [rows, cols], E2M1X2
 *   x        in  [rows, cols], E2M1: a code in the low nibble of each byte, the
 *            high nibble not read; not overlapping y
 *   options  rules must be valid, none is read; groups
 * The spare nibble of an odd row is written as 0. Gaps, and rows past the last
 * group, are not touched. Events: none.
 * Returns NG_OK, or with y untouched NG_BAD_POINTER, NG_BAD_SHAPE,
 * NG_BAD_DTYPE, NG_BAD_LAYOUT, NG_BAD_GROUPS, NG_BAD_RULES.
 * Source: semantics.md 2; L-12. */
ng_status ng_ref_pack_e2m1(const ng_matrix *y, const ng_matrix *x,
                           const ng_options *options);

#ifdef __cplusplus
}
#endif

#endif
