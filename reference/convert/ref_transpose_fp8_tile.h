/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_REFERENCE_CONVERT_REF_TRANSPOSE_FP8_TILE_H
#define NG_REFERENCE_CONVERT_REF_TRANSPOSE_FP8_TILE_H

#include "formats/layout.h"
#include "formats/options.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Transpose an FP8 tensor of the tile form: codes and scales move, and no bit
 * of theirs changes, NaN payloads included.
 *   y        out [x->cols, x->rows], form tile; scales of x's type
 *   x        in  [rows, cols], form tile; scales FP32, UE8M0 or UE8M0X4; not
 *            overlapping y
 *   options  rules must be valid, none is read; groups are those of x's rows
 * Scale (i, j) of x becomes scale (j, i) of y. Ragged: the columns of y have
 * the blocks that the rows of x have, so scale j of a line of y is that of x's
 * block line j; columns of y past the last group are not touched, nor are gaps.
 * Absent bytes of a packed scale word are written as 0.
 * Events: none, for nothing is rounded or decoded.
 * Returns NG_OK, or with y untouched NG_BAD_POINTER, NG_BAD_SHAPE (y is not x's
 * shape reversed, ...), NG_BAD_DTYPE (also scales of two types), NG_BAD_LAYOUT
 * (also other forms), NG_BAD_GROUPS, NG_BAD_RULES, NG_NO_MEMORY.
 * Source: semantics.md 2; L-15. */
ng_status ng_ref_transpose_fp8_tile(const ng_fp8 *y, const ng_fp8 *x,
                                    const ng_options *options);

#ifdef __cplusplus
}
#endif

#endif
