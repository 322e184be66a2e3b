/* SPDX-License-Identifier: Apache-2.0
 *
 * Where elements, codes and scales of the typed views lie, restated from
 * semantics section 2 and the comments of formats/layout.h.
 */
#ifndef NG_CONFORMANCE_ORACLE_VIEW_H
#define NG_CONFORMANCE_ORACLE_VIEW_H

#include <mpfr.h>

#include "formats/format.h"
#include "formats/options.h"

enum {
    NG_ORACLE_MX_BLOCK = 32,
    NG_ORACLE_MXFP4_BLOCK = NG_ORACLE_MX_BLOCK,
    NG_ORACLE_FP8_BLOCK = 128
};

/* *options with defaults in place of nulls (groups and events stay null). */
ng_options ng_oracle_options(const ng_options *options);

/* Count one element's event bits, if anybody wants them. */
void ng_oracle_count(const ng_options *options, unsigned bits);

/* The random word of element (r, c) of a tensor `cols` wide; 0 unless the
 * rounding is stochastic. */
uint32_t ng_oracle_random(const ng_options *options, int64_t r, int64_t c,
                          int64_t cols);

/* Whether the groups are what section 2 allows: offsets from 0, not decreasing,
 * not past the rows. No groups are legal. */
bool ng_oracle_groups_legal(const ng_options *options, int64_t rows);

/* How many rows take part, and the smaller of two. */
int64_t ng_oracle_rows(const ng_options *options, int64_t rows);
int64_t ng_oracle_min(int64_t a, int64_t b);

/* Blocks along an axis of n elements: ceil(n / block). */
int64_t ng_oracle_blocks(int64_t n, int64_t block);

/* A block of rows: at most 128, all of one group, the number-th of the tensor.
 * Begin with NG_ORACLE_FIRST_SPAN; next returns false past the last. */
typedef struct ng_oracle_span {
    int64_t first, end; /* rows first .. end - 1 */
    int64_t number;
    int64_t group;
} ng_oracle_span;

#define NG_ORACLE_FIRST_SPAN ((ng_oracle_span){0, 0, -1, 0})

bool ng_oracle_next_span(ng_oracle_span *span, const ng_options *options,
                         int64_t rows);
int64_t ng_oracle_spans(const ng_options *options, int64_t rows);

/* Element (r, c) of a BF16, FP16 or FP32 matrix: its value, or store a code.
 * format says which of the three; false if the type is another. */
bool ng_oracle_float_format(ng_format_id *format, ng_dtype dtype);
void ng_oracle_load(mpfr_ptr v, const ng_matrix *x, int64_t r, int64_t c);
void ng_oracle_store(const ng_matrix *y, int64_t r, int64_t c, uint32_t code);

/* E2M1 codes, two a byte: rows of `cols` codes at bytes + r * ld. Storing an
 * even element clears the nibble above it; columns are stored in order. */
uint32_t ng_oracle_load_nibble(const uint8_t *row, int64_t c);
void ng_oracle_store_nibble(uint8_t *row, int64_t c, uint32_t code);

/* The code of element (r, c) of an FP8 tensor, in its form. */
uint8_t *ng_oracle_fp8_code(const ng_fp8 *x, int64_t r, int64_t c);

/* Scale j of a line: its bits as they lie there (one byte of a packed word),
 * and its exact value. */
uint32_t ng_oracle_load_scale_bits(const ng_scales *x, int64_t line, int64_t j);
void ng_oracle_load_scale(mpfr_ptr v, const ng_scales *x, int64_t line,
                          int64_t j);

/* Store scale j of a line of n; the last clears the rest of its packed word.
 * v is NaN (then the canonical one is written) or a value of the type. */
void ng_oracle_store_scale_bits(const ng_scales *y, int64_t line, int64_t j,
                                int64_t n, uint32_t bits);
void ng_oracle_store_scale(const ng_scales *y, int64_t line, int64_t j,
                           int64_t n, mpfr_srcptr v);

/* Whether a value is 2^k, -127 <= k <= 127, which UE8M0 holds. */
bool ng_oracle_is_pow2_scale(mpfr_srcptr v);

#endif
