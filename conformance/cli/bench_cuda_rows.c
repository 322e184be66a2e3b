/* SPDX-License-Identifier: Apache-2.0
 *
 * What `bench --backend cuda` times: one line each, at the shapes of design.md
 * 5. To add an operation of conversion.c, add its lines. Beside those: SwiGLU's
 * (bench_cuda_swiglu.c), and quantize_fp8_row_col, the two quantisers of an FP8
 * tensor in one pass.
 */
#include "conformance/cli/bench_cuda.h"

#include <stddef.h>

#define BIG 32768, 7168
#define SMALL 8192, 2048
#define BOTH(operation, form, groups, scale)  \
    {operation, form, BIG, groups, scale},    \
    {                                         \
        operation, form, SMALL, groups, scale \
    }
#define RAGGED(operation, form, scale)    \
    {operation, form, BIG, 64, scale},    \
    {                                     \
        operation, form, SMALL, 16, scale \
    }

/* 2.2e9 elements: every index passes 32 bits. */
#define HUGE(operation)                                      \
    {                                                        \
        operation, "past 2^31", 307200, 7168, 0, NG_FP8_POW2 \
    }

static const ng_cuda_bench_row rows[] = {
    BOTH("quantize_mxfp4", "dense", 0, NG_FP8_POW2),
    RAGGED("quantize_mxfp4", "ragged", NG_FP8_POW2),
    BOTH("quantize_fp8_row", "dense, pow2", 0, NG_FP8_POW2),
    BOTH("quantize_fp8_row", "dense, fp32", 0, NG_FP8_FP32),
    RAGGED("quantize_fp8_row", "ragged, pow2", NG_FP8_POW2),
    BOTH("quantize_fp8_col", "dense, pow2", 0, NG_FP8_POW2),
    BOTH("quantize_fp8_col", "dense, fp32", 0, NG_FP8_FP32),
    RAGGED("quantize_fp8_col", "ragged, pow2", NG_FP8_POW2),
    RAGGED("quantize_fp8_col", "ragged, fp32", NG_FP8_FP32),
    BOTH("quantize_fp8_row_col", "dense, pow2", 0, NG_FP8_POW2),
    BOTH("quantize_fp8_row_col", "dense, fp32", 0, NG_FP8_FP32),
    RAGGED("quantize_fp8_row_col", "ragged, pow2", NG_FP8_POW2),
    BOTH("quantize_fp8_tile", "dense, pow2", 0, NG_FP8_POW2),
    BOTH("quantize_fp8_tile", "dense, fp32", 0, NG_FP8_FP32),
    BOTH("transpose_fp8_tile", "dense", 0, NG_FP8_POW2),
    BOTH("mxfp4_to_fp8_row", "dense", 0, NG_FP8_POW2),
    RAGGED("mxfp4_to_fp8_row", "ragged", NG_FP8_POW2),
    BOTH("mxfp4_to_fp8_col", "dense", 0, NG_FP8_POW2),
    RAGGED("mxfp4_to_fp8_col", "ragged", NG_FP8_POW2),
    BOTH("fp8_row_to_fp8_col", "dense, pow2", 0, NG_FP8_POW2),
    BOTH("fp8_row_to_fp8_col", "dense, fp32", 0, NG_FP8_FP32),
    RAGGED("fp8_row_to_fp8_col", "ragged, pow2", NG_FP8_POW2),
    RAGGED("fp8_row_to_fp8_col", "ragged, fp32", NG_FP8_FP32),
    BOTH("fp8_row_to_mxfp4", "dense, pow2", 0, NG_FP8_POW2),
    BOTH("fp8_row_to_mxfp4", "dense, fp32", 0, NG_FP8_FP32),
    RAGGED("fp8_row_to_mxfp4", "ragged, pow2", NG_FP8_POW2),
    HUGE("quantize_mxfp4"),
    HUGE("quantize_fp8_row"),
    HUGE("mxfp4_to_fp8_row"),
    HUGE("fp8_row_to_mxfp4"),
    HUGE("quantize_fp8_col"),
    HUGE("mxfp4_to_fp8_col"),
    HUGE("fp8_row_to_fp8_col"),
    HUGE("transpose_fp8_tile"),
    BOTH("dequantize_mxfp4", "dense", 0, NG_FP8_POW2),
    BOTH("dequantize_fp8_row", "dense", 0, NG_FP8_POW2),
    BOTH("swiglu", "dense", 0, NG_FP8_POW2),
    BOTH("swiglu_mxfp4", "dense", 0, NG_FP8_POW2),
    RAGGED("swiglu_mxfp4", "ragged", NG_FP8_POW2),
    BOTH("swiglu_fp8_row", "dense, pow2", 0, NG_FP8_POW2),
    BOTH("swiglu_fp8_row", "dense, fp32", 0, NG_FP8_FP32),
    RAGGED("swiglu_fp8_row", "ragged, pow2", NG_FP8_POW2),
    BOTH("swiglu_backward", "dense", 0, NG_FP8_POW2),
    BOTH("swiglu_backward_fp8_row", "dense, pow2", 0, NG_FP8_POW2),
    BOTH("swiglu_backward_fp8_row", "dense, fp32", 0, NG_FP8_FP32),
};

const ng_cuda_bench_row *ng_cuda_bench_row_at(int i)
{
    return i >= 0 && i < (int)(sizeof rows / sizeof *rows) ? &rows[i] : NULL;
}
