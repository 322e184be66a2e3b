/* SPDX-License-Identifier: Apache-2.0
 *
 * Typed views of matrices, MXFP4, MXFP8 and FP8 tensors, and of ragged groups of rows.
 * They own nothing. All sizes, strides and offsets are 64-bit and count
 * elements of what they point at; `rows, cols` is always the logical tensor,
 * before any transposition. These are descriptions only: every writing of an
 * operation computes its own addresses from them (docs/semantics.md section 2).
 */
#ifndef NG_FORMATS_LAYOUT_H
#define NG_FORMATS_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/dtype.h"
#include "formats/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    NG_MX_BLOCK = 32,           /* elements that share one MX scale */
    NG_MXFP4_BLOCK = NG_MX_BLOCK,
    NG_MXFP8_BLOCK = NG_MX_BLOCK,
    NG_FP8_BLOCK = 128          /* elements, or the side of a tile, in FP8 */
};

/* A matrix of numbers or codes: element (r, c) is unit data[r * ld + c],
 * ld >= cols; of NG_E2M1X2 it is a nibble of byte data[r * ld + c / 2], the low
 * one for even c, ld >= ceil(cols / 2). Operations name the types they take. */
typedef struct ng_matrix {
    void *data;                 /* aligned for its dtype */
    ng_dtype dtype;
    int64_t rows, cols;
    int64_t ld;
} ng_matrix;

/* A plane of scales: scale j of line i is the unit data[i * ld + j * step] with
 * one scale a unit, or byte j % 4 (bits 8 * (j % 4) up) of the word
 * data[i * ld + j / 4 * step] where dtype is NG_UE8M0X4. Row-major planes have
 * step 1; a plane stored transposed has ld 1. Bytes of a packed word past the
 * last scale are written as 0x00 and never read. */
typedef struct ng_scales {
    void *data;
    ng_dtype dtype;             /* NG_FP32, NG_UE8M0 or NG_UE8M0X4 */
    bool pow2;                  /* inputs: FP32 scales declared to be powers of
                                   two (or NaN); any other value is an error.
                                   The other types are so by themselves. */
    int64_t ld, step;
} ng_scales;

/* MXFP4, row-quantized: element (r, c) is the low (c even) or high (c odd)
 * nibble of codes[r * ld + c / 2], ld >= ceil(cols / 2); scale line r, scale
 * c / 32. The spare nibble of an odd row is written as 0 and never read.
 * Scales are NG_UE8M0 or NG_UE8M0X4. */
typedef struct ng_mxfp4 {
    uint8_t *codes;
    int64_t rows, cols;
    int64_t ld;                 /* bytes from a row to the next */
    ng_scales scales;
} ng_mxfp4;

/* MXFP8 (E4M3 elements), row-quantized: element (r, c) is codes[r * ld + c],
 * ld >= cols; scale line r, scale c / 32. Scales are NG_UE8M0 or NG_UE8M0X4. */
typedef struct ng_mxfp8 {
    uint8_t *codes;
    int64_t rows, cols;
    int64_t ld;
    ng_scales scales;
} ng_mxfp8;

/* Which elements of an FP8 tensor share a scale, and how codes lie. */
typedef enum ng_fp8_form {
    NG_FP8_ROW,     /* codes [rows, cols]; line r, scale c / 128 */
    NG_FP8_COL,     /* codes [cols, rows]; line c, scale block(r) */
    NG_FP8_TILE,    /* codes [rows, cols]; line block(r), scale c / 128 */
    NG_N_FP8_FORMS
} ng_fp8_form;

/* FP8 (E4M3): element (r, c) is codes[r * ld + c], in the col form
 * codes[c * ld + r]. block(r) is r / 128, or in a ragged tensor the block of
 * 128 counted from its group's first row, numbered on from group to group.
 * The weights [N, K] of G experts are one tile tensor of G * N rows, stacked:
 * it reads as ragged with groups of N rows each, so that the scale of row n of
 * expert g is on line g * ceil(N / 128) + n / 128. */
typedef struct ng_fp8 {
    uint8_t *codes;
    ng_fp8_form form;
    int64_t rows, cols;
    int64_t ld;
    ng_scales scales;           /* NG_FP32, NG_UE8M0 or NG_UE8M0X4 */
} ng_fp8;

/* Ragged rows: group g holds rows offsets[g] .. offsets[g + 1] - 1. Offsets do
 * not decrease, offsets[0] = 0, offsets[n_groups] <= rows; empty groups are
 * legal. Rows at or past offsets[n_groups] are never read and never written. */
typedef struct ng_groups {
    int64_t n_groups;
    const int64_t *offsets;     /* n_groups + 1 of them */
} ng_groups;

/* Smallest integer not below n / d; n >= 0, d > 0. */
static inline int64_t ng_ceil_div(int64_t n, int64_t d)
{
    return n / d + (n % d != 0);
}

/* Check the offsets above. Null groups (a dense tensor) are right. */
ng_status ng_groups_check(const ng_groups *groups, int64_t rows);

/* How many rows take part: offsets[n_groups], or all of a dense tensor. */
int64_t ng_groups_rows(const ng_groups *groups, int64_t rows);

/* How many blocks of `block` rows: the sum of ceil(n_g / block) over groups. */
int64_t ng_groups_blocks(const ng_groups *groups, int64_t rows, int64_t block);

#ifdef __cplusplus
}
#endif

#endif
