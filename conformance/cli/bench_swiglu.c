/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/cli/bench_swiglu.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "conformance/cli/bench_tensor.h"

enum { COLS = 512 };

/* BF16 numbers from 1/4 to 4 of both signs, the same every time. */
static void add_input(ng_bench_case *bench, const char *name, int64_t rows)
{
    const ng_tensor *x =
        ng_bench_add(bench, true, name, NG_BF16, 2, rows, COLS);
    uint32_t state = (uint32_t)bench->call.n_inputs;

    for (int64_t i = 0; x->data != NULL && i < rows * COLS; i++) {
        state = state * 1664525 + 1013904223;
        ((uint16_t *)x->data)[i] =
            (uint16_t)((state >> 31) << 15 | (0x3E80 + (state >> 16 & 0x1FF)));
    }
}

static void add_fp8(ng_bench_case *bench, const char *codes, const char *scales,
                    int64_t lines, int64_t width)
{
    ng_bench_add(bench, false, codes, NG_E4M3, 2, lines, width);
    ng_bench_add(bench, false, scales, NG_FP32, 2, lines,
                 ng_ceil_div(width, NG_FP8_BLOCK));
}

static void add_backward(ng_bench_case *bench, bool fp8, int64_t rows)
{
    const ng_dtype dtype = fp8 ? NG_FP32 : NG_BF16;

    add_input(bench, "grad_y", rows);
    ng_bench_add(bench, false, "grad_gate", dtype, 2, rows, COLS);
    ng_bench_add(bench, false, "grad_up", dtype, 2, rows, COLS);
    if (!fp8)
        return;
    add_fp8(bench, "grad_gate.codes", "grad_gate.scales", rows, COLS);
    add_fp8(bench, "grad_up.codes", "grad_up.scales", rows, COLS);
}

static void add_forward(ng_bench_case *bench, int64_t rows)
{
    const char *operation = bench->call.operation;

    if (strcmp(operation, "swiglu") == 0) {
        ng_bench_add(bench, false, "y", NG_BF16, 2, rows, COLS);
        return;
    }
    ng_bench_add(bench, false, "values", NG_FP32, 2, rows, COLS);
    if (strcmp(operation, "swiglu_mxfp4") == 0) {
        ng_bench_add(bench, false, "y.codes", NG_E2M1X2, 2, rows, COLS / 2);
        ng_bench_add(bench, false, "y.scales", NG_UE8M0, 2, rows,
                     COLS / NG_MXFP4_BLOCK);
        bench->call.attribute[bench->call.n_attributes++] =
            (ng_attribute){"cols", COLS};
        return;
    }
    add_fp8(bench, "y.codes", "y.scales", rows, COLS);
    if (strcmp(operation, "swiglu_fp8_row_col") == 0)
        add_fp8(bench, "z.codes", "z.scales", COLS, rows);
}

bool ng_bench_swiglu_begin(ng_bench_case *bench)
{
    const char *operation = bench->call.operation;
    const int64_t rows = bench->values > COLS ? bench->values / COLS : 1;

    if (strncmp(operation, "swiglu", 6) != 0)
        return false;
    if (strstr(operation, "backward") != NULL)
        add_backward(bench, strstr(operation, "fp8") != NULL, rows);
    else
        add_forward(bench, rows);
    add_input(bench, "gate", rows);
    add_input(bench, "up", rows);
    bench->values = rows * COLS;
    snprintf(bench->shape, sizeof bench->shape, "%" PRId64 "x%d", rows, COLS);
    return true;
}
