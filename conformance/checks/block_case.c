/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/checks/block_case.h"

#include <stdlib.h>
#include <string.h>

#define MATRIX(axis) {NG_SIDE_MATRIX, NG_FP8_ROW, axis}
#define MXFP4(axis) {NG_SIDE_MXFP4, NG_FP8_ROW, axis}
#define MXFP8(axis) {NG_SIDE_MXFP8, NG_FP8_ROW, axis}
#define FP8(form, axis) {NG_SIDE_FP8, NG_FP8_##form, axis}

/* What an operation takes and gives, with the axes that type it. */
static const struct {
    const char *operation;
    ng_side from, to;
} table[] = {
    {"pack_e2m1", {NG_SIDE_E2M1, 0, NULL}, {NG_SIDE_E2M1X2, 0, NULL}},
    {"unpack_e2m1", {NG_SIDE_E2M1X2, 0, NULL}, {NG_SIDE_E2M1, 0, NULL}},
    {"quantize_mxfp4", MATRIX("x"), MXFP4("scales")},
    {"dequantize_mxfp4", MXFP4("scales"), MATRIX("y")},
    {"quantize_mxfp8", MATRIX("x"), MXFP8("scales")},
    {"dequantize_mxfp8", MXFP8("scales"), MATRIX("y")},
    {"quantize_fp8_row", MATRIX("x"), FP8(ROW, "scales")},
    {"quantize_fp8_col", MATRIX("x"), FP8(COL, "scales")},
    {"quantize_fp8_tile", MATRIX("x"), FP8(TILE, "scales")},
    {"dequantize_fp8_row", FP8(ROW, "scales"), MATRIX("y")},
    {"dequantize_fp8_col", FP8(COL, "scales"), MATRIX("y")},
    {"dequantize_fp8_tile", FP8(TILE, "scales"), MATRIX("y")},
    {"transpose_fp8_tile", FP8(TILE, "scales"),
     {NG_SIDE_FP8_FLIPPED, NG_FP8_TILE, "scales"}},
    {"mxfp4_to_fp8_row", MXFP4("from"), FP8(ROW, "to")},
    {"mxfp4_to_fp8_col", MXFP4("from"), FP8(COL, "to")},
    {"fp8_row_to_fp8_col", FP8(ROW, "from"), FP8(COL, "to")},
    {"fp8_row_to_mxfp4", FP8(ROW, "from"), MXFP4("to")},
    {"fp8_tile_to_mxfp4", FP8(TILE, "from"), MXFP4("to")},
};

/* The extent of one side: of its numbers or codes, and of its scales. */
typedef struct extent {
    ng_dtype dtype, scales_dtype;
    int64_t shape[2];
    bool has_scales;
    int64_t lines, n_scales, words;
} extent;

static extent extent_of(const ng_block_case *b, const ng_side *side)
{
    const int64_t rows = b->rows, cols = b->cols;
    const int64_t col_blocks = ng_ceil_div(cols, NG_FP8_BLOCK);
    const int chosen =
        side->axis != NULL ? ng_variant_get(b->c->variant, side->axis, 0) : 0;
    extent e = {.dtype = NG_E4M3, .scales_dtype = (ng_dtype)chosen,
                .shape = {rows, cols}, .has_scales = true};

    switch (side->kind) {
    case NG_SIDE_MATRIX:
        e.dtype = (ng_dtype)chosen;
        e.has_scales = false;
        break;
    case NG_SIDE_E2M1:
        e.dtype = NG_E2M1;
        e.has_scales = false;
        break;
    case NG_SIDE_E2M1X2:
        e.dtype = NG_E2M1X2;
        e.shape[1] = ng_ceil_div(cols, 2);
        e.has_scales = false;
        break;
    case NG_SIDE_MXFP4:
        e.dtype = NG_E2M1X2;
        e.shape[1] = ng_ceil_div(cols, 2);
        e.lines = rows;
        e.n_scales = ng_ceil_div(cols, NG_MXFP4_BLOCK);
        break;
    case NG_SIDE_MXFP8:
        e.lines = rows;
        e.n_scales = ng_ceil_div(cols, NG_MXFP8_BLOCK);
        break;
    case NG_SIDE_FP8:
        if (side->form == NG_FP8_COL) {
            e.shape[0] = cols;
            e.shape[1] = rows;
        }
        e.lines = side->form == NG_FP8_ROW   ? rows
                  : side->form == NG_FP8_COL ? cols
                                             : b->row_blocks;
        e.n_scales = side->form == NG_FP8_COL ? b->row_blocks : col_blocks;
        break;
    case NG_SIDE_FP8_FLIPPED:
        e.shape[0] = cols;
        e.shape[1] = rows;
        e.lines = col_blocks;
        e.n_scales = b->row_blocks;
        break;
    }
    e.words = e.scales_dtype == NG_UE8M0X4 ? ng_ceil_div(e.n_scales, 4)
                                           : e.n_scales;
    return e;
}

/* What lies where nothing may be read: NaN, 448 and other large numbers, or
 * anything. */
static void fill_garbage(ng_case *c, void *data, int64_t bytes)
{
    const int64_t kind = ng_case_below(c, 3);
    unsigned char *to = data;

    if (kind < 2) {
        memset(to, kind == 0 ? 0xFF : 0x7E, (size_t)bytes);
        return;
    }
    for (int64_t i = 0; i < bytes; i++)
        to[i] = (unsigned char)ng_case_random(c);
}

static void begin_input(ng_block_case *b)
{
    const extent e = extent_of(b, &b->from);
    const bool plain = !e.has_scales;
    const int64_t plane[2] = {e.lines, e.words};

    b->dtype = e.dtype;
    b->ld = e.shape[1];
    b->x = ng_case_input(b->c, plain ? "x" : "x.codes", e.dtype, 2, e.shape);
    if (b->x != NULL)
        fill_garbage(b->c, b->x, e.shape[0] * e.shape[1]
                                     * (int64_t)ng_dtype_size(e.dtype));
    if (plain)
        return;
    b->scales_dtype = e.scales_dtype;
    b->pow2 = e.scales_dtype != NG_FP32
              || ng_variant_get(b->c->variant, "pow2", 0) != 0;
    b->lines = b->from.form == NG_FP8_ROW ? b->used : e.lines;
    b->n_scales = e.n_scales;
    b->words = e.words;
    b->scales = ng_case_input(b->c, "x.scales", e.scales_dtype, 2, plane);
    if (b->scales != NULL)
        fill_garbage(b->c, b->scales,
                     e.lines * e.words
                         * (int64_t)ng_dtype_size(e.scales_dtype));
    if (e.scales_dtype == NG_FP32 && b->pow2)
        ng_case_attribute(b->c, "pow2", 1);
}

static void begin_output(ng_block_case *b)
{
    const extent e = extent_of(b, &b->to);
    const int64_t plane[2] = {e.lines, e.words};

    ng_case_output(b->c, e.has_scales ? "y.codes" : "y", e.dtype, 2, e.shape,
                   false);
    if (e.has_scales)
        ng_case_output(b->c, "y.scales", e.scales_dtype, 2, plane, true);
}

static bool is_packed(ng_side_kind kind)
{
    return kind == NG_SIDE_E2M1X2 || kind == NG_SIDE_MXFP4;
}

/* Add the input "offsets" and return it. */
static int64_t *begin_groups(ng_case *c, int64_t n_groups, const int64_t *sizes)
{
    const int64_t n = n_groups + 1;
    int64_t *offsets = ng_case_input(c, "offsets", NG_I64, 1, &n);

    for (int64_t g = 0; offsets != NULL && g < n_groups; g++)
        offsets[g + 1] = offsets[g] + sizes[g];
    return offsets;
}

static void find_sides(ng_block_case *b, const char *operation)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].operation, operation) == 0) {
            b->from = table[i].from;
            b->to = table[i].to;
            return;
        }
    abort();                            /* a stratum's own mistake */
}

bool ng_block_begin(ng_block_case *b, ng_case *c, int64_t rows, int64_t cols,
                    int64_t n_groups, const int64_t *sizes)
{
    *b = (ng_block_case){.c = c, .rows = rows, .cols = cols, .used = rows,
                         .row_blocks = ng_ceil_div(rows, NG_FP8_BLOCK)};
    find_sides(b, c->call.operation);
    if (n_groups != NG_DENSE) {
        b->n_groups = n_groups;
        b->offsets = begin_groups(c, n_groups, sizes);
        b->used = b->row_blocks = 0;
        for (int64_t g = 0; g < n_groups; g++) {
            b->used += sizes[g];
            b->row_blocks += ng_ceil_div(sizes[g], NG_FP8_BLOCK);
        }
    }
    begin_input(b);
    begin_output(b);
    if (is_packed(b->from.kind) || is_packed(b->to.kind))
        ng_case_attribute(c, "cols", cols);
    return !c->failed;
}

static bool is_mx(ng_side_kind kind)
{
    return kind == NG_SIDE_MXFP4 || kind == NG_SIDE_MXFP8;
}

int ng_block_size(const ng_block_case *b)
{
    return is_mx(b->from.kind) || is_mx(b->to.kind) ? NG_MX_BLOCK
                                                    : NG_FP8_BLOCK;
}

void ng_block_put(ng_block_case *b, int64_t row, int64_t col, uint32_t code)
{
    uint8_t *byte = b->x;
    const bool flip = b->from.kind == NG_SIDE_FP8
                      && b->from.form == NG_FP8_COL;
    const int64_t at = flip ? col * b->ld + row : row * b->ld + col;

    if (is_packed(b->from.kind)) {
        const int shift = col % 2 != 0 ? 4 : 0;

        byte += row * b->ld + col / 2;
        *byte = (uint8_t)((*byte & ~(0xF << shift)) | (int)(code << shift));
    } else if (ng_dtype_size(b->dtype) == 4) {
        ((uint32_t *)b->x)[at] = code;
    } else if (ng_dtype_size(b->dtype) == 2) {
        ((uint16_t *)b->x)[at] = (uint16_t)code;
    } else {
        byte[at] = (uint8_t)code;
    }
}

void ng_block_put_scale(ng_block_case *b, int64_t line, int64_t j,
                        uint32_t code)
{
    uint32_t *word = b->scales;

    if (b->scales_dtype == NG_FP32) {
        word[line * b->words + j] = code;
    } else if (b->scales_dtype == NG_UE8M0) {
        ((uint8_t *)b->scales)[line * b->words + j] = (uint8_t)code;
    } else {
        const int shift = 8 * (int)(j % 4);

        word += line * b->words + j / 4;
        *word = (*word & ~(UINT32_C(0xFF) << shift)) | (code & 0xFF) << shift;
    }
}

/* The form in which a list lies. */
static ng_fp8_form list_form(const ng_block_case *b)
{
    return b->from.kind == NG_SIDE_FP8 ? b->from.form : b->to.form;
}

bool ng_block_list(ng_block_case *b, ng_case *c, int64_t n, int64_t size)
{
    find_sides(b, c->call.operation);

    const ng_fp8_form form = list_form(b);

    if (form == NG_FP8_COL)
        return ng_block_begin(b, c, size, n, NG_DENSE, NULL);
    if (form == NG_FP8_ROW)
        return ng_block_begin(b, c, n, size, NG_DENSE, NULL);

    int64_t *ones = malloc((size_t)n * sizeof *ones + 1);

    if (ones == NULL) {
        c->failed = true;
        return false;
    }
    for (int64_t i = 0; i < n; i++)
        ones[i] = 1;

    const bool begun = ng_block_begin(b, c, n, size, n, ones);

    free(ones);
    return begun;
}

void ng_block_put_in(ng_block_case *b, int64_t block, int64_t i, uint32_t code)
{
    if (list_form(b) == NG_FP8_COL)
        ng_block_put(b, i, block, code);
    else
        ng_block_put(b, block, i, code);
}

void ng_block_put_scale_of(ng_block_case *b, int64_t block, uint32_t code)
{
    for (int64_t j = 0; j < b->n_scales; j++)
        ng_block_put_scale(b, block, j, code);
}
