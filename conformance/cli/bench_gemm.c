/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/cli/bench_gemm.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "conformance/cli/bench_tensor.h"
#include "formats/e4m3.h"

/* The two sides of a weight; the rows follow from the size asked for. */
enum { N = 128, K = 512, GROUPS = 4 };

/* Codes that are no NaN, and scales from 1/2 to 2, the same every time. */
static void fill(const ng_tensor *tensor)
{
    int64_t units, bytes;
    uint32_t state = 12345;

    if (tensor->data == NULL
        || ng_tensor_extent(&units, &bytes, tensor) != NG_OK)
        return;
    for (int64_t i = 0; i < units; i++) {
        state = state * 1664525 + 1013904223;

        const uint32_t random = state >> 16;

        if (tensor->dtype == NG_FP32)
            ((float *)tensor->data)[i] = 0.5f + (float)(random & 255) / 171;
        else if (tensor->dtype == NG_BF16) /* 1/2 to 2, either sign */
            ((uint16_t *)tensor->data)[i] =
                (uint16_t)(0x3F00 | (random & 0x80FF));
        else if (tensor->dtype == NG_UE8M0)
            ((uint8_t *)tensor->data)[i] = (uint8_t)(126 + random % 3);
        else if (tensor->dtype == NG_E4M3)
            ((uint8_t *)tensor->data)[i] =
                (uint8_t)((random & NG_E4M3_SIGN) | random % 127);
        else
            ((uint8_t *)tensor->data)[i] = (uint8_t)random;
    }
}

static void add_side(ng_bench_case *bench, const char *name, bool packed,
                     int64_t lines, int64_t width, int64_t scale_lines,
                     int64_t scales)
{
    char codes_name[16], scales_name[16];

    snprintf(codes_name, sizeof codes_name, "%s.codes", name);
    snprintf(scales_name, sizeof scales_name, "%s.scales", name);
    fill(ng_bench_add(bench, true, codes_name, packed ? NG_E2M1X2 : NG_E4M3, 2,
                      lines, packed ? width / 2 : width));
    fill(ng_bench_add(bench, true, scales_name, packed ? NG_UE8M0 : NG_FP32, 2,
                      scale_lines, scales));
}

bool ng_bench_gemm_begin(ng_bench_case *bench)
{
    const char *operation = bench->call.operation;
    const bool wgrad = strstr(operation, "wgrad") != NULL;
    const bool mxfp4 = strstr(operation, "mxfp4") != NULL;

    if (strncmp(operation, "grouped_gemm_", 13) != 0)
        return false;

    const int64_t rows = bench->values > N * K ? bench->values / (N * K) : 1;
    const int64_t end[GROUPS + 1] = {0, rows / 2, rows / 2, rows / 2 + rows / 3,
                                     rows};
    const ng_tensor *offsets =
        ng_bench_add(bench, true, "offsets", NG_I64, 1, GROUPS + 1, 1);
    int64_t blocks = 0;

    if (offsets->data != NULL)
        memcpy(offsets->data, end, sizeof end);
    for (int g = 0; g < GROUPS; g++)
        blocks += ng_ceil_div(end[g + 1] - end[g], NG_FP8_BLOCK);
    if (strstr(operation, "bf16") != NULL) {
        fill(ng_bench_add(bench, true, "a", NG_BF16, 2, rows, wgrad ? N : K));
        fill(ng_bench_add(bench, true, "b", NG_BF16, 2,
                          wgrad ? rows : GROUPS * N, K));
        ng_bench_add(bench, false, "d", NG_BF16, 2, wgrad ? GROUPS * N : rows,
                     wgrad ? K : N);
    } else if (wgrad) {
        add_side(bench, "a", false, N, rows, N, blocks);
        if (mxfp4)
            add_side(bench, "b", true, rows, K, rows, K / NG_MXFP4_BLOCK);
        else
            add_side(bench, "b", false, K, rows, K, blocks);
        ng_bench_add(bench, false, "d", NG_BF16, 2, GROUPS * N, K);
    } else {
        add_side(bench, "a", mxfp4, rows, K, rows,
                 K / (mxfp4 ? NG_MXFP4_BLOCK : NG_FP8_BLOCK));
        add_side(bench, "b", false, GROUPS * N, K, GROUPS * N / NG_FP8_BLOCK,
                 K / NG_FP8_BLOCK);
        ng_bench_add(bench, false, "d", NG_BF16, 2, rows, N);
    }
    if (mxfp4)
        bench->call.attribute[bench->call.n_attributes++] =
            (ng_attribute){"cols", K};
    bench->values = rows * N * K;
    snprintf(bench->shape, sizeof bench->shape, "%" PRId64 "x%dx%d", rows, N,
             K);
    return true;
}
