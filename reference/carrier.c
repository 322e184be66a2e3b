/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "reference/backend.h"

static const char *const names[NG_N_CARRIERS] = {
    "none", "fp32", "bf16", "fp8", "fp8-col", "fp8-tile", "mxfp4",
};

const char *ng_carrier_name(ng_carrier carrier)
{
    return names[carrier];
}

bool ng_carrier_find(const char *name, ng_carrier *carrier)
{
    for (int i = 0; i < NG_N_CARRIERS; i++)
        if (strcmp(name, names[i]) == 0) {
            *carrier = (ng_carrier)i;
            return true;
        }
    return false;
}

int64_t ng_carrier_row_bytes(ng_carrier carrier, int64_t cols)
{
    switch (carrier) {
    case NG_CARRY_FP32:
        return 4 * cols;
    case NG_CARRY_BF16:
        return 2 * cols;
    case NG_CARRY_FP8:
        return cols;
    case NG_CARRY_MXFP4:
        return ng_ceil_div(cols, 2);
    default:
        return 0;
    }
}

int64_t ng_carrier_row_scale_bytes(ng_carrier carrier, int64_t cols)
{
    switch (carrier) {
    case NG_CARRY_FP8:
        return 4 * ng_ceil_div(cols, NG_FP8_BLOCK);
    case NG_CARRY_MXFP4:
        return ng_ceil_div(cols, NG_MXFP4_BLOCK);
    default:
        return 0;
    }
}

int64_t ng_array_data_bytes(const ng_array *array)
{
    switch (array->carrier) {
    case NG_CARRY_FP8_COL:
    case NG_CARRY_FP8_TILE:
        return array->batch * array->rows * array->cols;
    default:
        return array->batch * array->rows
               * ng_carrier_row_bytes(array->carrier, array->cols);
    }
}

int64_t ng_array_scale_bytes(const ng_array *array)
{
    switch (array->carrier) {
    case NG_CARRY_FP8_COL:
        return 4 * array->cols * array->blocks;
    case NG_CARRY_FP8_TILE:
        return 4 * array->batch * ng_ceil_div(array->rows, NG_FP8_BLOCK)
               * ng_ceil_div(array->cols, NG_FP8_BLOCK);
    default:
        return array->batch * array->rows
               * ng_carrier_row_scale_bytes(array->carrier, array->cols);
    }
}

/* A pointer so many bytes further on; null stays null, whatever the bytes. */
static void *advance(void *pointer, int64_t bytes)
{
    return pointer == NULL ? NULL : (char *)pointer + bytes;
}

ng_array ng_array_rows(const ng_array *array, int64_t first, int64_t n)
{
    ng_array part = *array;

    part.rows = n;
    part.data = advance(
        array->data, first * ng_carrier_row_bytes(array->carrier, array->cols));
    part.scales = advance(
        array->scales,
        first * ng_carrier_row_scale_bytes(array->carrier, array->cols));
    return part;
}

ng_array ng_array_batch(const ng_array *array, int64_t first, int64_t n)
{
    ng_array part = *array, skipped = *array;

    skipped.batch = first;
    part.batch = n;
    part.data = advance(array->data, ng_array_data_bytes(&skipped));
    part.scales = advance(array->scales, ng_array_scale_bytes(&skipped));
    return part;
}
