/* SPDX-License-Identifier: Apache-2.0
 *
 * The tensors of a call by their elements: where the code of (row, col) lies,
 * and the scale over it, in whatever form the operation's name says. Addresses
 * only, no arithmetic.
 */
#ifndef NG_CONFORMANCE_SUBJECT_ELEMENTS_H
#define NG_CONFORMANCE_SUBJECT_ELEMENTS_H

#include <stdbool.h>

#include "conformance/subject/call.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One side of a conversion. Rows and cols are the logical tensor's, in the
 * order of the operation's input, also where it is stored transposed. */
typedef struct ng_elements {
    const ng_tensor *codes;         /* or numbers */
    const ng_tensor *scales;        /* null: it has none */
    bool flipped;                   /* codes lie as [cols, rows] */
    bool scales_flipped;            /* so do the scales */
    int64_t rows, cols;             /* rows that take part */
    int64_t block_rows, block_cols; /* the elements under one scale */
    int64_t n_groups;               /* of rows; one where the call has none */
    const int64_t *offsets;         /* null: one group, all rows */
} ng_elements;

/* The side "x" or "y" of a call. Returns false if it is no matrix or block
 * tensor that this knows: then the operation is none of the conversions. */
bool ng_elements_of(ng_elements *e, const ng_call *call, const char *side);

/* The bits of the number or code at (row, col); e2m1x2 as one nibble. */
uint32_t ng_elements_get(const ng_elements *e, int64_t row, int64_t col);
void ng_elements_put(const ng_elements *e, int64_t row, int64_t col,
                     uint32_t code);

/* The blocks: how many, and the rows [first, end) and cols of number b. They
 * are counted row block by row block, groups apart. */
typedef struct ng_block {
    int64_t row, row_end, col, col_end;
    int64_t row_block, col_block; /* over all groups */
} ng_block;
int64_t ng_elements_blocks(const ng_elements *e);
ng_block ng_elements_block(const ng_elements *e, int64_t b);

/* The block that holds (row, col). */
ng_block ng_elements_block_at(const ng_elements *e, int64_t row, int64_t col);

/* The bits of a block's scale: FP32's, or a UE8M0 code. */
uint32_t ng_elements_scale(const ng_elements *e, const ng_block *b);
void ng_elements_put_scale(const ng_elements *e, const ng_block *b,
                           uint32_t bits);

/* The bits of one unit of a tensor by its index, and to set them. */
uint64_t ng_unit_get(const ng_tensor *t, const int64_t *index);
void ng_unit_put(const ng_tensor *t, const int64_t *index, uint64_t bits);

#ifdef __cplusplus
}
#endif

#endif
