/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/subject/elements.h"

#include <stdio.h>
#include <string.h>

/* What a side is. */
typedef enum form { PLAIN, MXFP4, MXFP8, ROW, COL, TILE, TILE_FLIPPED } form;

static const struct {
    const char *operation;
    form x, y;
} table[] = {
    {"pack_e2m1", PLAIN, PLAIN},
    {"unpack_e2m1", PLAIN, PLAIN},
    {"quantize_mxfp4", PLAIN, MXFP4},
    {"dequantize_mxfp4", MXFP4, PLAIN},
    {"quantize_mxfp8", PLAIN, MXFP8},
    {"dequantize_mxfp8", MXFP8, PLAIN},
    {"quantize_fp8_row", PLAIN, ROW},
    {"quantize_fp8_col", PLAIN, COL},
    {"quantize_fp8_tile", PLAIN, TILE},
    {"dequantize_fp8_row", ROW, PLAIN},
    {"dequantize_fp8_col", COL, PLAIN},
    {"dequantize_fp8_tile", TILE, PLAIN},
    {"transpose_fp8_tile", TILE, TILE_FLIPPED},
    {"mxfp4_to_fp8_row", MXFP4, ROW},
    {"mxfp4_to_fp8_col", MXFP4, COL},
    {"fp8_row_to_fp8_col", ROW, COL},
    {"fp8_row_to_mxfp4", ROW, MXFP4},
    {"fp8_tile_to_mxfp4", TILE, MXFP4},
};

static const ng_tensor *tensor_of(const ng_call *call, const char *side,
                                  const char *part)
{
    char name[NG_MAX_NAME];
    const ng_tensor *t;

    snprintf(name, sizeof name, "%s%s", side, part);
    t = ng_call_input(call, name);
    return t != NULL ? t : ng_call_output(call, name);
}

static bool find_form(form *f, const ng_call *call, const char *side)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].operation, call->operation) == 0) {
            *f = strcmp(side, "x") == 0 ? table[i].x : table[i].y;
            return true;
        }
    return false;
}

bool ng_elements_of(ng_elements *e, const ng_call *call, const char *side)
{
    const ng_tensor *offsets = ng_call_input(call, "offsets");
    form f;

    memset(e, 0, sizeof *e);
    if (!find_form(&f, call, side))
        return false;
    e->codes = tensor_of(call, side, f == PLAIN ? "" : ".codes");
    e->scales = f == PLAIN ? NULL : tensor_of(call, side, ".scales");
    if (e->codes == NULL || e->codes->rank != 2)
        return false;
    e->flipped = f == COL || f == TILE_FLIPPED;
    e->scales_flipped = e->flipped;
    e->rows = e->codes->shape[e->flipped ? 1 : 0];
    e->cols = e->codes->shape[e->flipped ? 0 : 1];
    if (e->codes->dtype == NG_E2M1X2)
        e->cols = ng_call_attribute(call, "cols", 2 * e->cols);
    e->block_rows =
        f == COL || f == TILE || f == TILE_FLIPPED ? NG_FP8_BLOCK : 1;
    e->block_cols = f == MXFP4 || f == MXFP8 ? NG_MX_BLOCK
                    : f == COL               ? 1
                                             : NG_FP8_BLOCK;
    e->n_groups = 1;
    if (offsets != NULL) {
        e->offsets = offsets->data;
        e->n_groups = offsets->shape[0] - 1;
        if (e->n_groups < 0 || e->offsets[e->n_groups] > e->rows)
            return false;
        e->rows = e->offsets[e->n_groups];
    }
    return true;
}

static int64_t unit_of(const ng_tensor *t, const int64_t *index)
{
    int64_t unit = 0;

    for (int axis = 0; axis < t->rank; axis++)
        unit += index[axis] * t->stride[axis];
    return unit * (int64_t)ng_dtype_size(t->dtype);
}

uint64_t ng_unit_get(const ng_tensor *t, const int64_t *index)
{
    uint64_t bits = 0;

    memcpy(&bits, (const char *)t->data + unit_of(t, index),
           ng_dtype_size(t->dtype));
    return bits;
}

void ng_unit_put(const ng_tensor *t, const int64_t *index, uint64_t bits)
{
    memcpy((char *)t->data + unit_of(t, index), &bits, ng_dtype_size(t->dtype));
}

uint32_t ng_elements_get(const ng_elements *e, int64_t row, int64_t col)
{
    const bool packed = e->codes->dtype == NG_E2M1X2;
    const int64_t at = packed ? col / 2 : col;
    const int64_t index[NG_MAX_RANK] = {e->flipped ? at : row, e->flipped ? row : at};
    const uint32_t unit = (uint32_t)ng_unit_get(e->codes, index);

    return packed ? unit >> (col % 2 != 0 ? 4 : 0) & 0xF : unit;
}

void ng_elements_put(const ng_elements *e, int64_t row, int64_t col,
                     uint32_t code)
{
    const bool packed = e->codes->dtype == NG_E2M1X2;
    const int64_t at = packed ? col / 2 : col;
    const int64_t index[NG_MAX_RANK] = {e->flipped ? at : row, e->flipped ? row : at};

    if (packed) {
        const int shift = col % 2 != 0 ? 4 : 0;
        const uint32_t unit = (uint32_t)ng_unit_get(e->codes, index);

        code = (unit & ~(UINT32_C(0xF) << shift)) | (code & 0xF) << shift;
    }
    ng_unit_put(e->codes, index, code);
}

/* First row and end of group g. */
static int64_t group_first(const ng_elements *e, int64_t g)
{
    return e->offsets != NULL ? e->offsets[g] : 0;
}

static int64_t group_end(const ng_elements *e, int64_t g)
{
    return e->offsets != NULL ? e->offsets[g + 1] : e->rows;
}

int64_t ng_elements_blocks(const ng_elements *e)
{
    int64_t n = e->block_rows == 1 ? e->rows : 0;

    for (int64_t g = 0; e->block_rows > 1 && g < e->n_groups; g++)
        n += ng_ceil_div(group_end(e, g) - group_first(e, g), e->block_rows);
    return n * ng_ceil_div(e->cols, e->block_cols);
}

static ng_block block_of(const ng_elements *e, int64_t row_block,
                         int64_t col_block)
{
    ng_block b = {.col = col_block * e->block_cols,
                  .row_block = row_block,
                  .col_block = col_block};
    int64_t left = row_block;

    if (e->block_rows == 1) { /* then groups do not matter */
        b.row = row_block;
        b.row_end = row_block + 1;
    }
    for (int64_t g = 0; e->block_rows > 1 && g < e->n_groups; g++) {
        const int64_t first = group_first(e, g), end = group_end(e, g);
        const int64_t n = ng_ceil_div(end - first, e->block_rows);

        if (left < n) {
            b.row = first + left * e->block_rows;
            b.row_end =
                b.row + e->block_rows < end ? b.row + e->block_rows : end;
            break;
        }
        left -= n;
    }
    b.col_end =
        b.col + e->block_cols < e->cols ? b.col + e->block_cols : e->cols;
    return b;
}

ng_block ng_elements_block(const ng_elements *e, int64_t b)
{
    const int64_t n = ng_ceil_div(e->cols, e->block_cols);

    return block_of(e, b / n, b % n);
}

ng_block ng_elements_block_at(const ng_elements *e, int64_t row, int64_t col)
{
    int64_t before = 0;

    if (e->block_rows == 1)
        return block_of(e, row, col / e->block_cols);
    for (int64_t g = 0; g < e->n_groups; g++) {
        const int64_t first = group_first(e, g), end = group_end(e, g);

        if (row < end)
            return block_of(e, before + (row - first) / e->block_rows,
                            col / e->block_cols);
        before += ng_ceil_div(end - first, e->block_rows);
    }
    return (ng_block){.row = row, .row_end = row, .col = col, .col_end = col};
}

/* The place of a block's scale in its plane; of packed ones the word's. */
static void scale_index(int64_t *index, const ng_elements *e,
                        const ng_block *b)
{
    index[0] = e->scales_flipped ? b->col_block : b->row_block;
    index[1] = e->scales_flipped ? b->row_block : b->col_block;
    if (e->scales->dtype == NG_UE8M0X4)
        index[1] /= 4;
}

static int scale_shift(const ng_elements *e, const ng_block *b)
{
    return 8 * (int)((e->scales_flipped ? b->row_block : b->col_block) % 4);
}

uint32_t ng_elements_scale(const ng_elements *e, const ng_block *b)
{
    int64_t index[NG_MAX_RANK] = {0};

    scale_index(index, e, b);
    const uint32_t unit = (uint32_t)ng_unit_get(e->scales, index);

    return e->scales->dtype == NG_UE8M0X4 ? unit >> scale_shift(e, b) & 0xFF
                                          : unit;
}

void ng_elements_put_scale(const ng_elements *e, const ng_block *b,
                           uint32_t bits)
{
    int64_t index[NG_MAX_RANK] = {0};

    scale_index(index, e, b);
    if (e->scales->dtype == NG_UE8M0X4) {
        const int shift = scale_shift(e, b);
        const uint32_t unit = (uint32_t)ng_unit_get(e->scales, index);

        bits = (unit & ~(UINT32_C(0xFF) << shift)) | (bits & 0xFF) << shift;
    }
    ng_unit_put(e->scales, index, bits);
}
