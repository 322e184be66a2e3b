/* SPDX-License-Identifier: Apache-2.0
 *
 * The blocks of an FP8 tensor of any form, ragged or dense: which elements
 * share which scale. The one place that turns groups into blocks of rows.
 */
#ifndef NG_REFERENCE_CONVERT_REF_FP8_BLOCKS_H
#define NG_REFERENCE_CONVERT_REF_FP8_BLOCKS_H

#include <stdint.h>

#include "formats/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Half open: begin <= i < end. */
typedef struct ng_ref_range {
    int64_t begin, end;
} ng_ref_range;

typedef struct ng_ref_fp8_blocks {
    ng_fp8_form form;
    int64_t cols;
    int64_t n_lines;          /* lines of scales */
    int64_t n_scales;         /* scales in each of them */
    ng_ref_range *row_blocks; /* rows of block i; null in the row form */
} ng_ref_fp8_blocks;

/* The elements of one scale: a rectangle. */
typedef struct ng_ref_fp8_block {
    ng_ref_range rows, cols;
} ng_ref_fp8_block;

/* Lay out the blocks of a tensor [rows, cols] whose groups (null: dense) are
 * right. Returns NG_NO_MEMORY, or NG_OK: then ng_ref_fp8_blocks_close frees
 * it. A tensor without elements has no lines. */
ng_status ng_ref_fp8_blocks_open(ng_ref_fp8_blocks *blocks, ng_fp8_form form,
                                 int64_t rows, int64_t cols,
                                 const ng_groups *groups);

void ng_ref_fp8_blocks_close(ng_ref_fp8_blocks *blocks);

/* The elements under scale `scale` of line `line`. */
ng_ref_fp8_block ng_ref_fp8_block_at(const ng_ref_fp8_blocks *blocks,
                                     int64_t line, int64_t scale);

/* The i-th run of `size` among n elements, the last one may be shorter. */
ng_ref_range ng_ref_run_of(int64_t i, int64_t size, int64_t n);

#ifdef __cplusplus
}
#endif

#endif
