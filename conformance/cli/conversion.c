/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/cli/conversion.h"

#include <stdio.h>
#include <string.h>

#define MATRIX                 \
    {                          \
        .kind = NG_SIDE_MATRIX \
    }
#define MXFP4                 \
    {                         \
        .kind = NG_SIDE_MXFP4 \
    }
#define MXFP8                 \
    {                         \
        .kind = NG_SIDE_MXFP8 \
    }
#define FP8(form_)                                  \
    {                                               \
        .kind = NG_SIDE_FP8, .form = NG_FP8_##form_ \
    }

static const ng_conversion conversions[] = {
    {"quantize_mxfp4", MATRIX, MXFP4, false},
    {"quantize_mxfp8", MATRIX, MXFP8, false},
    {"quantize_fp8_row", MATRIX, FP8(ROW), false},
    {"quantize_fp8_col", MATRIX, FP8(COL), false},
    {"quantize_fp8_tile", MATRIX, FP8(TILE), false},
    {"dequantize_mxfp4", MXFP4, MATRIX, false},
    {"dequantize_mxfp8", MXFP8, MATRIX, false},
    {"dequantize_fp8_row", FP8(ROW), MATRIX, false},
    {"dequantize_fp8_col", FP8(COL), MATRIX, false},
    {"dequantize_fp8_tile", FP8(TILE), MATRIX, false},
    {"mxfp4_to_fp8_row", MXFP4, FP8(ROW), false},
    {"mxfp4_to_fp8_col", MXFP4, FP8(COL), false},
    {"fp8_row_to_fp8_col", FP8(ROW), FP8(COL), false},
    {"fp8_row_to_mxfp4", FP8(ROW), MXFP4, false},
    {"fp8_tile_to_mxfp4", FP8(TILE), MXFP4, false},
    {"transpose_fp8_tile", FP8(TILE), FP8(TILE), true},
};

enum { N_CONVERSIONS = sizeof conversions / sizeof *conversions };

const ng_conversion *ng_conversion_at(int i)
{
    return i >= 0 && i < N_CONVERSIONS ? &conversions[i] : NULL;
}

const ng_conversion *ng_conversion_find(const char *operation)
{
    for (int i = 0; i < N_CONVERSIONS; i++)
        if (strcmp(operation, conversions[i].operation) == 0)
            return &conversions[i];
    return NULL;
}

void ng_side_shapes(int64_t codes[2], int64_t scales[2], ng_side side,
                    int64_t rows, int64_t cols, ng_dtype scale_dtype)
{
    const int64_t row_blocks = ng_ceil_div(rows, NG_FP8_BLOCK);
    const bool col = side.kind == NG_SIDE_FP8 && side.form == NG_FP8_COL;
    const bool tile = side.kind == NG_SIDE_FP8 && side.form == NG_FP8_TILE;

    codes[0] = col ? cols : rows;
    codes[1] = side.kind == NG_SIDE_MXFP4 ? ng_ceil_div(cols, 2)
               : col                      ? rows
                                          : cols;
    scales[0] = col ? cols : tile ? row_blocks : rows;
    scales[1] = ng_side_is_mx(side) ? ng_ceil_div(cols, NG_MX_BLOCK)
                : col               ? row_blocks
                                    : ng_ceil_div(cols, NG_FP8_BLOCK);
    if (scale_dtype == NG_UE8M0X4)
        scales[1] = ng_ceil_div(scales[1], 4);
}

ng_dtype ng_side_codes(ng_side side)
{
    return side.kind == NG_SIDE_MXFP4 ? NG_E2M1X2 : NG_E4M3;
}

int64_t ng_side_block(ng_side side)
{
    return ng_side_is_mx(side)        ? NG_MX_BLOCK
           : side.form == NG_FP8_TILE ? NG_FP8_BLOCK * NG_FP8_BLOCK
                                      : NG_FP8_BLOCK;
}

bool ng_side_is_mx(ng_side side)
{
    return side.kind == NG_SIDE_MXFP4 || side.kind == NG_SIDE_MXFP8;
}

const char *ng_side_form_name(ng_side side)
{
    static const char *const name[NG_N_FP8_FORMS] = {
        [NG_FP8_ROW] = "row", [NG_FP8_COL] = "col", [NG_FP8_TILE] = "tile"};

    return side.kind == NG_SIDE_MXFP8 ? "mx" : name[side.form];
}

static void add(ng_tensor *list, int *n, const char *name,
                const ng_tensor *codes, const ng_tensor *scales)
{
    ng_tensor *first = &list[(*n)++];

    *first = *codes;
    snprintf(first->name, sizeof first->name, "%s%s", name,
             scales != NULL ? ".codes" : "");
    if (scales != NULL) {
        list[*n] = *scales;
        snprintf(list[*n].name, sizeof list[*n].name, "%s.scales", name);
        (*n)++;
    }
}

void ng_call_add_input(ng_call *call, const ng_tensor *codes,
                       const ng_tensor *scales)
{
    add(call->input, &call->n_inputs, "x", codes, scales);
}

void ng_call_add_output(ng_call *call, const ng_tensor *codes,
                        const ng_tensor *scales)
{
    add(call->output, &call->n_outputs, "y", codes, scales);
}
