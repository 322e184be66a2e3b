/* SPDX-License-Identifier: Apache-2.0
 *
 * Shapes from sizes: the signatures of operations_*.c once more, as a table. The
 * first row that fits the operation, the tensor and its rank holds.
 */
#include <fnmatch.h>
#include <stdlib.h>

#include "conformance/checks/small_case.h"

#define PLAIN NG_BY_ROW, NG_BY_COL

static const struct {
    const char *operation, *tensor;
    int rank;
    ng_extent axis[2];
} table[] = {
    /* Arrays. */
    {"philox", "first", 1, {NG_FIXED}},
    {"step_constants", "*", 1, {NG_FIXED}},
    {"*", "*.counts", 1, {NG_FIXED}},
    {"*", "grad.scale", 1, {NG_FIXED}},
    {"*", "*.scales", 1, {NG_BY_COL_32}},
    {"*", "*", 1, {NG_BY_COL}},

    /* GEMMs: T rows, K columns, N lines. */
    {"*_fprop", "[cd]", 2, {NG_BY_ROW, NG_BY_LINE}},
    {"*_mxfp4_fprop", "a.scales", 2, {NG_BY_ROW, NG_BY_COL_32}},
    {"*_fprop", "a.scales", 2, {NG_BY_ROW, NG_BY_COL_128}},
    {"*_fprop", "a*", 2, {PLAIN}},
    {"*_fprop", "b.scales", 2, {NG_BY_GROUP_LINE_128, NG_BY_COL_128}},
    {"*_fprop", "b*", 2, {NG_BY_GROUP_LINE, NG_BY_COL}},
    {"*_wgrad", "[cd]", 2, {NG_BY_GROUP_LINE, NG_BY_COL}},
    {"*_bf16_wgrad", "a", 2, {NG_BY_ROW, NG_BY_LINE}},
    {"*_bf16_wgrad", "b", 2, {PLAIN}},
    {"*_wgrad", "a.codes", 2, {NG_BY_LINE, NG_BY_ROW}},
    {"*_wgrad", "a.scales", 2, {NG_BY_LINE, NG_BY_ROW_BLOCK}},
    {"*_mxfp4_wgrad", "b.codes", 2, {PLAIN}},
    {"*_mxfp4_wgrad", "b.scales", 2, {NG_BY_ROW, NG_BY_COL_32}},
    {"*_wgrad", "b.codes", 2, {NG_BY_COL, NG_BY_ROW}},
    {"*_wgrad", "b.scales", 2, {NG_BY_COL, NG_BY_ROW_BLOCK}},

    /* SwiGLU's second result lies along columns. */
    {"swiglu_*", "z.codes", 2, {NG_BY_COL, NG_BY_ROW}},
    {"swiglu_*", "z.scales", 2, {NG_BY_COL, NG_BY_ROW_BLOCK}},
    {"swiglu_*", "*.codes", 2, {PLAIN}},
    {"swiglu_mxfp4", "*.scales", 2, {NG_BY_ROW, NG_BY_COL_32}},
    {"swiglu_*", "*.scales", 2, {NG_BY_ROW, NG_BY_COL_128}},

    /* Conversions: what goes in, then what comes out. */
    {"convert_scales", "*", 2, {PLAIN}},
    {"transpose_fp8_tile", "y.codes", 2, {NG_BY_COL, NG_BY_ROW}},
    {"transpose_fp8_tile", "y.scales", 2, {NG_BY_COL_128, NG_BY_ROW_BLOCK}},
    {"dequantize_fp8_col", "x.codes", 2, {NG_BY_COL, NG_BY_ROW}},
    {"dequantize_fp8_col", "x.scales", 2, {NG_BY_COL, NG_BY_ROW_BLOCK}},
    {"*fp8_tile*", "x.scales", 2, {NG_BY_ROW_BLOCK, NG_BY_COL_128}},
    {"fp8_row_*", "x.scales", 2, {NG_BY_ROW, NG_BY_COL_128}},
    {"dequantize_fp8_row", "x.scales", 2, {NG_BY_ROW, NG_BY_COL_128}},
    {"*", "x.scales", 2, {NG_BY_ROW, NG_BY_COL_32}},
    {"*_col", "y.codes", 2, {NG_BY_COL, NG_BY_ROW}},
    {"*_col", "y.scales", 2, {NG_BY_COL, NG_BY_ROW_BLOCK}},
    {"quantize_fp8_tile", "y.scales", 2, {NG_BY_ROW_BLOCK, NG_BY_COL_128}},
    {"*fp8_row", "y.scales", 2, {NG_BY_ROW, NG_BY_COL_128}},
    {"*", "y.scales", 2, {NG_BY_ROW, NG_BY_COL_32}},
    {"*", "*", 2, {PLAIN}},
};

void ng_small_layout(ng_extent axis[2], const char *operation,
                     const char *tensor, int rank)
{
    axis[0] = axis[1] = NG_FIXED;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].rank == rank
            && fnmatch(table[i].operation, operation, 0) == 0
            && fnmatch(table[i].tensor, tensor, 0) == 0) {
            axis[0] = table[i].axis[0];
            axis[1] = table[i].axis[1];
            return;
        }
}
