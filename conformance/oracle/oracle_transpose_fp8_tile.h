/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_CONFORMANCE_ORACLE_TRANSPOSE_FP8_TILE_H
#define NG_CONFORMANCE_ORACLE_TRANSPOSE_FP8_TILE_H

#include "formats/options.h"

/* Transpose an FP8 tile tensor: codes and scales move and no bit changes;
 * semantics section 2. In a ragged x, the blocks along y's columns are those of
 * x's rows: short ones at the ends of groups, numbered on.
 *   y        out  form tile, rows = x->cols, cols = x->rows
 *   x        in   form tile; both have FP32 scales or both UE8M0, packed or not
 *   options  groups. A move has no events
 * Returns NG_OK, or NG_BAD_DTYPE, NG_BAD_LAYOUT or NG_BAD_SHAPE with y
 * untouched. */
ng_status ng_oracle_transpose_fp8_tile(const ng_fp8 *y, const ng_fp8 *x,
                                       const ng_options *options);

#endif
