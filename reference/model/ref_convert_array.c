/* SPDX-License-Identifier: Apache-2.0
 *
 * One loop a pair of carriers; rounding is in ref_codes.c.
 */
#include "reference/model/ref_convert_array.h"

#include <stdlib.h>
#include <string.h>

#include "formats/e4m3.h"
#include "formats/fp32.h"
#include "formats/ue8m0.h"
#include "reference/convert/ref_convert_fp8_to_mxfp4.h"
#include "reference/convert/ref_transpose_fp8_tile.h"
#include "reference/model/ref_codes.h"
#include "reference/model/ref_rows.h"
#include "reference/model/ref_views_array.h"

typedef struct conversion {
    const ng_array *y, *x;
    const ng_ref_row_block *blocks;
    ng_events *events;
} conversion;

void ng_ref_add_events(ng_events *sum, const ng_events *mine)
{
    if (sum == NULL)
        return;
#ifdef _OPENMP
#pragma omp critical(ng_ref_events)
#endif
    ng_events_add(sum, mine);
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- from numbers -------------------------------------------------------- */

void ng_ref_quantize_row(const ng_array *y, int64_t row, const float *x,
                         ng_events *events)
{
    const int64_t cols = y->cols;
    const int64_t block =
        y->carrier == NG_CARRY_FP8 ? NG_FP8_BLOCK : NG_MXFP4_BLOCK;
    const int64_t wide = ng_ceil_div(cols, block);
    uint8_t *codes =
        (uint8_t *)y->data + row * ng_carrier_row_bytes(y->carrier, cols);

    for (int64_t b = 0; b < wide; b++) {
        const float *part = x + b * block;
        const int64_t n = smaller(block, cols - b * block);
        const uint32_t amax = ng_ref_largest_bits(part, n);

        if (y->carrier == NG_CARRY_FP8) {
            const float scale = ng_ref_pow2_scale(amax);

            ((float *)y->scales)[row * wide + b] = scale;
            ng_ref_encode_e4m3_block(codes + b * block, part, n, scale, events);
        } else {
            const uint8_t scale = ng_ref_floor_scale(amax);

            ((uint8_t *)y->scales)[row * wide + b] = scale;
            ng_ref_encode_e2m1_block(codes + b * block / 2, part, n, scale,
                                     events);
        }
    }
}

static void number_row(const void *job, int64_t row, float *scratch)
{
    const conversion *c = job;
    ng_events mine = {{0}};
    const float *x = ng_ref_row(c->x, row, scratch);

    if (ng_ref_is_numbers(c->y)) {
        ng_ref_store_row(c->y, row, x);
        return;
    }
    ng_ref_quantize_row(c->y, row, x, &mine);
    ng_ref_add_events(c->events, &mine);
}

void ng_ref_quantize_col_block(const ng_array *y, const ng_ref_row_block *block,
                               const float *x, float *scratch,
                               ng_events *events)
{
    for (int64_t c = 0; c < y->cols; c++) {
        for (int64_t r = 0; r < block->n; r++)
            scratch[r] = x[r * y->cols + c];

        const float scale =
            ng_ref_pow2_scale(ng_ref_largest_bits(scratch, block->n));

        ((float *)y->scales)[c * y->blocks + block->index] = scale;
        ng_ref_encode_e4m3_block((uint8_t *)y->data + c * y->rows
                                     + block->first,
                                 scratch, block->n, scale, events);
    }
}

/* The rows of a block as numbers, behind each other in scratch. */
static const float *load_block(const ng_array *x, int64_t first, int64_t n,
                               float *scratch)
{
    for (int64_t r = 0; r < n; r++) {
        float *to = scratch + r * x->cols;
        const float *row = ng_ref_row(x, first + r, to);

        if (row != to && x->cols > 0)
            memcpy(to, row, (size_t)x->cols * sizeof *to);
    }
    return scratch;
}

static void number_col_block(const void *job, int64_t i, float *scratch)
{
    const conversion *c = job;
    const ng_ref_row_block *block = &c->blocks[i];
    ng_events mine = {{0}};

    load_block(c->x, block->first, block->n, scratch + NG_FP8_BLOCK);
    ng_ref_quantize_col_block(c->y, block, scratch + NG_FP8_BLOCK, scratch,
                              &mine);
    ng_ref_add_events(c->events, &mine);
}

/* Line i of tiles: 128 rows of one matrix of the batch. */
static void tile_line(const void *job, int64_t i, float *scratch)
{
    const conversion *c = job;
    const ng_array *y = c->y;
    const int64_t high = ng_ceil_div(y->rows, NG_FP8_BLOCK);
    const int64_t wide = ng_ceil_div(y->cols, NG_FP8_BLOCK);
    const int64_t in_matrix = i % high * NG_FP8_BLOCK;
    const int64_t first = i / high * y->rows + in_matrix;
    const int64_t n = smaller(NG_FP8_BLOCK, y->rows - in_matrix);
    const float *x = load_block(c->x, first, n, scratch);
    ng_events mine = {{0}};

    for (int64_t b = 0; b < wide; b++) {
        const int64_t left = b * NG_FP8_BLOCK;
        const int64_t width = smaller(NG_FP8_BLOCK, y->cols - left);
        uint32_t amax = 0;

        for (int64_t r = 0; r < n; r++) {
            const uint32_t of_row =
                ng_ref_largest_bits(x + r * y->cols + left, width);

            amax = of_row > amax ? of_row : amax;
        }

        const float scale = ng_ref_pow2_scale(amax);

        ((float *)y->scales)[i * wide + b] = scale;
        for (int64_t r = 0; r < n; r++)
            ng_ref_encode_e4m3_block(
                (uint8_t *)y->data + (first + r) * y->cols + left,
                x + r * y->cols + left, width, scale, &mine);
    }
    ng_ref_add_events(c->events, &mine);
}

/* ---- from codes: exponents move, nothing else ---------------------------- */

enum { NO_EXPONENT = -1000 }; /* of a NaN; below every other */

static float power(int exponent)
{
    if (exponent == NO_EXPONENT)
        return 1.0f;
    return ng_fp32_from_bits(exponent >= -126
                                 ? (uint32_t)(exponent + 127) << 23
                                 : UINT32_C(1) << (exponent + 149));
}

/* The exponent of a power of two, subnormal ones too. */
static int exponent_of(float scale)
{
    uint32_t bits = ng_fp32_bits(scale);
    int exponent = -149;

    if (scale != scale)
        return NO_EXPONENT;
    if (bits >> 23 != 0)
        return (int)(bits >> 23) - 127;
    while (bits > 1) {
        bits >>= 1;
        exponent++;
    }
    return exponent;
}

static int exponent_of_byte(uint8_t scale)
{
    return scale == NG_UE8M0_NAN ? NO_EXPONENT : scale - NG_UE8M0_BIAS;
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

/* The code of an element whose exponent lies so far below the largest. */
static uint8_t moved(const ng_ref_coded *table, int largest, int exponent,
                     int n_codes, unsigned code, ng_events *events)
{
    const int shift = largest - exponent;

    if (exponent == NO_EXPONENT) {
        ng_events_count(events, 1u << NG_EVENT_NAN);
        return NG_E4M3_NAN;
    }

    const ng_ref_coded *entry =
        &table[(shift < NG_REF_MAX_SHIFT ? shift : NG_REF_MAX_SHIFT) * n_codes
               + (int)code];

    if (entry->events != 0)
        ng_events_count(events, entry->events);
    return entry->code;
}

static unsigned nibble(const ng_array *x, int64_t row, int64_t col)
{
    const uint8_t *codes =
        (const uint8_t *)x->data + row * ng_ceil_div(x->cols, 2);

    return codes[col / 2] >> (col % 2 * 4) & 0xF;
}

/* The exponents of a row's four neighbouring blocks and the largest. */
static void mxfp4_row(const void *job, int64_t row, float *scratch)
{
    const conversion *c = job;
    const ng_array *x = c->x, *y = c->y;
    const int64_t n_scales = ng_ceil_div(x->cols, NG_MXFP4_BLOCK);
    const int64_t wide = ng_ceil_div(x->cols, NG_FP8_BLOCK);
    const uint8_t *scales = (const uint8_t *)x->scales + row * n_scales;
    uint8_t *codes = (uint8_t *)y->data + row * y->cols;
    ng_events mine = {{0}};

    (void)scratch;
    for (int64_t b = 0; b < wide; b++) {
        const int64_t last_scale = smaller(4 * b + 4, n_scales);
        int largest = NO_EXPONENT;

        for (int64_t s = 4 * b; s < last_scale; s++)
            largest = larger(largest, exponent_of_byte(scales[s]));
        ((float *)y->scales)[row * wide + b] = power(
            largest == NO_EXPONENT ? largest : largest - NG_DEFAULT_HEADROOM);
        for (int64_t s = 4 * b; s < last_scale; s++) {
            const int exponent = exponent_of_byte(scales[s]);
            const int64_t last = smaller((s + 1) * NG_MXFP4_BLOCK, x->cols);

            for (int64_t i = s * NG_MXFP4_BLOCK; i < last; i++)
                codes[i] = moved(ng_ref_e2m1_aligned[0], largest, exponent, 16,
                                 nibble(x, row, i), &mine);
        }
    }
    ng_ref_add_events(c->events, &mine);
}

/* Codes and scales of a block of rows to the col form; `width` columns share
 * the scales of their rows. */
static void codes_col_block(const void *job, int64_t i, float *scratch)
{
    const conversion *c = job;
    const ng_array *x = c->x, *y = c->y;
    const ng_ref_row_block *block = &c->blocks[i];
    const bool mxfp4 = x->carrier == NG_CARRY_MXFP4;
    const int64_t width = mxfp4 ? NG_MXFP4_BLOCK : NG_FP8_BLOCK;
    const int64_t wide = ng_ceil_div(x->cols, width);
    int exponents[NG_FP8_BLOCK];
    ng_events mine = {{0}};

    (void)scratch;
    for (int64_t s = 0; s < wide; s++) {
        const int64_t last = smaller((s + 1) * width, x->cols);
        int largest = NO_EXPONENT;

        for (int64_t r = 0; r < block->n; r++) {
            const int64_t at = (block->first + r) * wide + s;

            exponents[r] =
                mxfp4 ? exponent_of_byte(((const uint8_t *)x->scales)[at])
                      : exponent_of(((const float *)x->scales)[at]);
            largest = larger(largest, exponents[r]);
        }
        for (int64_t col = s * width; col < last; col++) {
            uint8_t *codes = (uint8_t *)y->data + col * y->rows + block->first;

            ((float *)y->scales)[col * y->blocks + block->index] =
                power(largest == NO_EXPONENT || !mxfp4
                          ? largest
                          : largest - NG_DEFAULT_HEADROOM);
            for (int64_t r = 0; r < block->n; r++) {
                const int64_t row = block->first + r;

                codes[r] =
                    mxfp4
                        ? moved(ng_ref_e2m1_aligned[0], largest, exponents[r],
                                16, nibble(x, row, col), &mine)
                        : moved(ng_ref_e4m3_shifted[0], largest, exponents[r],
                                256,
                                ((const uint8_t *)x->data)[row * x->cols + col],
                                &mine);
            }
        }
    }
    ng_ref_add_events(c->events, &mine);
}

/* ---- the table ----------------------------------------------------------- */

ng_ref_row_block *ng_ref_row_blocks(int64_t *n, const ng_row_groups *groups,
                                    int64_t rows)
{
    const int64_t all[2] = {0, rows};
    const ng_groups one = {1, all};
    const ng_groups *host = groups != NULL ? &groups->host : &one;
    const int64_t n_blocks = ng_groups_blocks(host, rows, NG_FP8_BLOCK);
    ng_ref_row_block *blocks = malloc(((size_t)n_blocks + 1) * sizeof *blocks);

    *n = 0;
    if (blocks == NULL)
        return NULL;
    for (int64_t g = 0; g < host->n_groups; g++)
        for (int64_t at = host->offsets[g]; at < host->offsets[g + 1];
             at += NG_FP8_BLOCK, ++*n)
            blocks[*n] = (ng_ref_row_block){
                at, smaller(NG_FP8_BLOCK, host->offsets[g + 1] - at), *n};
    return blocks;
}

static ng_status by_rows(const conversion *c, ng_ref_row_job *work,
                         const ng_row_groups *groups)
{
    const int64_t rows = groups != NULL
                             ? ng_groups_rows(&groups->host, c->x->rows)
                             : c->x->batch * c->x->rows;

    return ng_ref_each_row(work, c, rows, c->x->cols);
}

static ng_status by_blocks(conversion *c, ng_ref_row_job *work,
                           const ng_row_groups *groups)
{
    int64_t n;
    ng_ref_row_block *blocks = ng_ref_row_blocks(&n, groups, c->x->rows);
    ng_status status = NG_NO_MEMORY;

    if (blocks == NULL)
        return NG_NO_MEMORY;
    c->blocks = blocks;
    if (c->y->blocks < n)
        status = NG_BAD_SHAPE;
    else
        status = ng_ref_each_row(work, c, n, NG_FP8_BLOCK * (c->x->cols + 1));
    free(blocks);
    return status;
}

/* The exact-integer conversion itself; no recipe of ours uses it in a loop. */
static ng_status fp8_to_mxfp4(const conversion *c, const ng_row_groups *groups)
{
    const ng_mxfp4 y = ng_ref_mxfp4_view(c->y);
    const ng_fp8 x = ng_ref_fp8_view(c->x);
    const ng_options options = {.groups = groups != NULL ? &groups->host : NULL,
                                .events = c->events};

    return ng_ref_convert_fp8_to_mxfp4(&y, &x, &options);
}

/* The same carrier: the bytes of the rows that take part. */
static ng_status copy_rows(const conversion *c, const ng_row_groups *groups)
{
    ng_array part = *c->x;

    if (groups != NULL)
        part.rows = ng_groups_rows(&groups->host, part.rows);

    const int64_t data = ng_array_data_bytes(&part);
    const int64_t scales = ng_array_scale_bytes(&part);

    if (c->y->data != c->x->data && data > 0)
        memcpy(c->y->data, c->x->data, (size_t)data);
    if (c->y->scales != c->x->scales && scales > 0)
        memcpy(c->y->scales, c->x->scales, (size_t)scales);
    return NG_OK;
}

/* A batch has no groups, and no col form. */
static bool fits(const ng_array *y, const ng_array *x,
                 const ng_row_groups *groups)
{
    if (y->rows != x->rows || y->cols != x->cols || y->batch != x->batch)
        return false;
    if (x->batch != 1)
        return groups == NULL && y->carrier != NG_CARRY_FP8_COL;
    return groups == NULL || ng_groups_check(&groups->host, x->rows) == NG_OK;
}

ng_status ng_ref_convert_array(void *context, const ng_array *y,
                               const ng_array *x, const ng_row_groups *groups,
                               ng_events *events)
{
    conversion c = {y, x, NULL, events};

    (void)context;
    if (!fits(y, x, groups))
        return NG_BAD_SHAPE;
    if (y->carrier == NG_CARRY_FP8_TILE && x->carrier == NG_CARRY_FP8_TILE)
        return copy_rows(&c, NULL);
    if (!ng_ref_is_rows(x))
        return NG_BAD_DTYPE;
    if (y->carrier == x->carrier)
        return copy_rows(&c, groups);
    switch (y->carrier) {
    case NG_CARRY_FP32:
    case NG_CARRY_BF16:
        return by_rows(&c, number_row, groups);
    case NG_CARRY_FP8:
        return by_rows(
            &c, x->carrier == NG_CARRY_MXFP4 ? mxfp4_row : number_row, groups);
    case NG_CARRY_MXFP4:
        return x->carrier == NG_CARRY_FP8 ? fp8_to_mxfp4(&c, groups)
                                          : by_rows(&c, number_row, groups);
    case NG_CARRY_FP8_COL:
        return by_blocks(
            &c, ng_ref_is_numbers(x) ? number_col_block : codes_col_block,
            groups);
    case NG_CARRY_FP8_TILE:
        if (!ng_ref_is_numbers(x))
            return NG_BAD_DTYPE;
        return ng_ref_each_row(tile_line, &c,
                               x->batch * ng_ceil_div(x->rows, NG_FP8_BLOCK),
                               NG_FP8_BLOCK * x->cols);
    default:
        return NG_BAD_DTYPE;
    }
}

/* ---- transposition ------------------------------------------------------- */

typedef struct transposition {
    const ng_array *y, *x;
} transposition;

static void transposed_row(const void *job, int64_t i, float *scratch)
{
    const transposition *t = job;
    const int64_t rows = t->y->rows, cols = t->y->cols;
    const int64_t matrix = i / rows * rows * cols, r = i % rows;

    (void)scratch;
    if (t->y->carrier == NG_CARRY_FP32)
        for (int64_t c = 0; c < cols; c++)
            ((uint32_t *)t->y->data)[matrix + r * cols + c] =
                ((const uint32_t *)t->x->data)[matrix + c * rows + r];
    else
        for (int64_t c = 0; c < cols; c++)
            ((uint16_t *)t->y->data)[matrix + r * cols + c] =
                ((const uint16_t *)t->x->data)[matrix + c * rows + r];
}

ng_status ng_ref_transpose_array(void *context, const ng_array *y,
                                 const ng_array *x)
{
    const transposition t = {y, x};

    (void)context;
    if (y->rows != x->cols || y->cols != x->rows || y->batch != x->batch)
        return NG_BAD_SHAPE;
    if (y->carrier != x->carrier)
        return NG_BAD_DTYPE;
    if (ng_ref_is_numbers(x))
        return ng_ref_each_row(transposed_row, &t, y->batch * y->rows, 0);
    if (x->carrier != NG_CARRY_FP8_TILE)
        return NG_BAD_DTYPE;
    for (int64_t i = 0; i < x->batch; i++) {
        const ng_array to = ng_array_batch(y, i, 1);
        const ng_array from = ng_array_batch(x, i, 1);
        const ng_fp8 view_y = ng_ref_fp8_view(&to);
        const ng_fp8 view_x = ng_ref_fp8_view(&from);
        const ng_status status =
            ng_ref_transpose_fp8_tile(&view_y, &view_x, NULL);

        if (status != NG_OK)
            return status;
    }
    return NG_OK;
}
