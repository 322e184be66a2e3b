/* SPDX-License-Identifier: Apache-2.0
 *
 * The tensors of a case of a block-level operation: from a logical shape and
 * groups of rows to named inputs and outputs of the right sizes, and from an
 * element or a scale to its place. Everything an operation may not read (rows
 * past the last group, spare nibbles, absent bytes of packed words) is filled
 * with garbage; a stratum puts every element and every scale that takes part.
 */
#ifndef NG_CONFORMANCE_CHECKS_BLOCK_CASE_H
#define NG_CONFORMANCE_CHECKS_BLOCK_CASE_H

#include "conformance/checks/case.h"
#include "formats/format.h"

typedef enum ng_side_kind {
    NG_SIDE_MATRIX,             /* numbers; the axis says which type */
    NG_SIDE_E2M1, NG_SIDE_E2M1X2,
    NG_SIDE_MXFP4,              /* the axis says the type of the scales */
    NG_SIDE_MXFP8,              /* likewise */
    NG_SIDE_FP8,
    NG_SIDE_FP8_FLIPPED         /* a tile tensor of shape [cols, rows] */
} ng_side_kind;

typedef struct ng_side {
    ng_side_kind kind;
    ng_fp8_form form;
    const char *axis;
} ng_side;

typedef struct ng_block_case {
    ng_case *c;
    ng_side from, to;
    int64_t rows, cols;
    int64_t used;               /* rows that take part */
    int64_t *offsets;           /* the input; null: dense */
    int64_t n_groups;
    int64_t row_blocks;         /* of 128, over all groups */
    void *x;                    /* numbers or codes */
    ng_dtype dtype;
    int64_t ld;
    void *scales;               /* of x; null if it has none */
    ng_dtype scales_dtype;
    bool pow2;                  /* they must be powers of two or NaN */
    int64_t lines, n_scales;    /* lines that take part, scales in each */
    int64_t words;              /* units in a line */
} ng_block_case;

enum { NG_DENSE = -1 };

/* Declare all tensors of the case's operation for [rows, cols] with groups of
 * the sizes given (n_groups NG_DENSE: none), which sum to at most rows. Set
 * c->odd_layout before. Returns false, c->failed set, without memory. */
bool ng_block_begin(ng_block_case *b, ng_case *c, int64_t rows, int64_t cols,
                    int64_t n_groups, const int64_t *sizes);

/* Elements of the largest block of the input or output: 32 or 128. */
int ng_block_size(const ng_block_case *b);

/* Put the bits of a number, or a code, at (row, col) of x. */
void ng_block_put(ng_block_case *b, int64_t row, int64_t col, uint32_t code);

/* Put scale j of a line of x: FP32 bits, or a UE8M0 code. */
void ng_block_put_scale(ng_block_case *b, int64_t line, int64_t j,
                        uint32_t code);

/* A case that is a list of n short blocks of `size` elements (at most the block
 * size), each with a scale of its own, however the form lays blocks out: rows
 * of one block, columns, or groups of one row. Blocks are put in, and scaled,
 * by number; one that the form cuts in several has its scale in all of them. */
bool ng_block_list(ng_block_case *b, ng_case *c, int64_t n, int64_t size);
void ng_block_put_in(ng_block_case *b, int64_t block, int64_t i, uint32_t code);
void ng_block_put_scale_of(ng_block_case *b, int64_t block, uint32_t code);

#endif
