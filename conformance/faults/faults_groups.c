/* SPDX-License-Identifier: Apache-2.0
 *
 * Groups of rows, ends of rows, indices, and what is not the same twice.
 */
#include <stdlib.h>

#include "conformance/faults/fault.h"
#include "formats/fp32.h"
#include "reference/convert/ref_philox.h"

/* ---- groups ------------------------------------------------------------- */

/* Nothing clears the accumulator of a group without rows: `stale` gives what
 * the group before it left there, otherwise the output stays as it was. */
static ng_status leaves_empty_groups(const ng_call *call, bool stale)
{
    const ng_tensor *d = ng_call_output(call, "d");
    const ng_tensor *offsets = ng_call_input(call, "offsets");
    const int64_t groups = offsets != NULL ? offsets->shape[0] - 1 : 0;
    const int64_t n = groups > 0 ? d->shape[0] / groups : 0;
    const int64_t cols = d->shape[1];
    uint32_t *before = calloc((size_t)(d->shape[0] * cols) + 1, sizeof *before);

    if (before == NULL)
        return NG_NO_MEMORY;
    for (int64_t r = 0; r < d->shape[0]; r++)
        for (int64_t c = 0; c < cols; c++)
            before[r * cols + c] =
                (uint32_t)ng_unit_get(d, (const int64_t[2]){r, c});
    const ng_status status = fault_reference(call);
    const int64_t *at = offsets != NULL ? offsets->data : NULL;

    for (int64_t g = 0; status == NG_OK && g < groups; g++)
        for (int64_t r = g * n; at[g] == at[g + 1] && r < (g + 1) * n; r++)
            for (int64_t c = 0; c < cols; c++)
                if (!stale || g > 0)
                    ng_unit_put(
                        d, (const int64_t[2]){r, c},
                        stale ? ng_unit_get(d, (const int64_t[2]){r - n, c})
                              : before[r * cols + c]);
    free(before);
    return status;
}

static ng_status empty_groups_unwritten(const ng_call *call)
{
    return leaves_empty_groups(call, false);
}

static ng_status empty_groups_stale(const ng_call *call)
{
    return leaves_empty_groups(call, true);
}

/* The rows after the last group are done too. */
static ng_status all_rows(const ng_call *call)
{
    ng_call other = *call;
    const ng_tensor *x = ng_call_input(call, "x");
    const int64_t rows =
        (x != NULL ? x : ng_call_input(call, "a.codes"))->shape[0];
    ng_tensor *t;
    int64_t n;
    int64_t *copy = fault_copy_input(&other, "offsets", &t, &n);

    if (copy != NULL && n > 1 && copy[n - 1] >= 0 && copy[n - 1] < rows)
        copy[n - 1] = rows;
    const ng_status status = fault_reference(&other);

    free(copy);
    return status;
}

/* ---- ends of rows ------------------------------------------------------- */

/* Whole blocks only: the short one at the end keeps what was there. */
static ng_status whole_blocks(const ng_call *call)
{
    ng_elements y;
    uint8_t before;

    if (!ng_elements_of(&y, call, "y"))
        return fault_reference(call);
    before = y.rows > 0 && y.cols > 0 ? (uint8_t)ng_elements_get(&y, 0, 0) : 0;
    const ng_status status = fault_reference(call);

    for (int64_t i = 0, n_blocks = ng_elements_blocks(&y);
         status == NG_OK && i < n_blocks; i++) {
        const ng_block b = ng_elements_block(&y, i);

        if (b.col_end - b.col < y.block_cols)
            for (int64_t r = b.row; r < b.row_end; r++)
                for (int64_t c = b.col; c < b.col_end; c++)
                    ng_elements_put(&y, r, c, before);
    }
    return status;
}

/* The last, short block takes the scale of the one before. */
static ng_status short_block_like_the_last(const ng_call *call)
{
    const ng_status status = fault_reference(call);
    ng_elements x, y;

    if (status != NG_OK || !fault_sides(&x, &y, call) || x.cols <= 32
        || x.cols % 32 == 0)
        return status;
    for (int64_t r = 0; r < x.rows; r++)
        for (int64_t c = x.cols / 32 * 32; c < x.cols; c++) {
            const ng_block b = ng_elements_block_at(&x, r, c - 32);
            const float v = fault_value(NG_E2M1, ng_elements_get(&x, r, c))
                            * fault_value(NG_UE8M0, ng_elements_scale(&x, &b));

            ng_elements_put(&y, r, c, v != v ? NG_FP32_NAN : ng_fp32_bits(v));
        }
    return NG_OK;
}

/* ---- what is written ---------------------------------------------------- */

/* The last line of scales is forgotten. */
static ng_status last_line_unwritten(const ng_call *call)
{
    const ng_tensor *t = ng_call_output(call, "y.scales");
    const int64_t last = t->shape[0] - 1;
    uint32_t *before = calloc((size_t)t->shape[1] + 1, sizeof *before);

    if (before == NULL)
        return NG_NO_MEMORY;
    for (int64_t j = 0; last >= 0 && j < t->shape[1]; j++)
        before[j] = (uint32_t)ng_unit_get(t, (const int64_t[2]){last, j});
    const ng_status status = fault_reference(call);

    for (int64_t j = 0; status == NG_OK && last >= 0 && j < t->shape[1]; j++)
        ng_unit_put(t, (const int64_t[2]){last, j}, before[j]);
    free(before);
    return status;
}

/* The gap after each row, where there is one, is used. */
static ng_status writes_into_gaps(const ng_call *call)
{
    const ng_status status = fault_reference(call);
    const ng_tensor *y = ng_call_output(call, "y.codes");

    for (int64_t r = 0;
         status == NG_OK && y->stride[0] > y->shape[1] && r + 1 < y->shape[0];
         r++)
        ((uint8_t *)y->data)[r * y->stride[0] + y->shape[1]] = 0;
    return status;
}

/* ---- twice -------------------------------------------------------------- */

/* Sums in an order that depends on who came first. */
static ng_status another_order_each_time(const ng_call *call)
{
    static int runs;
    const ng_status status = fault_reference(call);
    const ng_tensor *d = ng_call_output(call, "d");

    if (status == NG_OK && runs++ % 2 != 0 && d->shape[0] > 0
        && d->shape[1] > 0) {
        const int64_t at[2] = {0, 0};
        const uint32_t bits = (uint32_t)ng_unit_get(d, at);

        if ((bits & 0x7FFFFFFF) < NG_FP32_INFINITY)
            ng_unit_put(d, at, bits ^ 0x00200000);
    }
    return status;
}

/* A race for the last scale. */
static ng_status last_scale_by_chance(const ng_call *call)
{
    static int runs;
    const ng_status status = fault_reference(call);
    const ng_tensor *t = ng_call_output(call, "y.scales");
    const int64_t at[2] = {t->shape[0] - 1, t->shape[1] - 1};

    if (status == NG_OK && ++runs % 2 == 0 && at[0] >= 0 && at[1] >= 0
        && ng_call_input(call, "offsets") == NULL)
        ng_unit_put(t, at, ng_unit_get(t, at) ^ 1);
    return status;
}

/* ---- the random stream -------------------------------------------------- */

static ng_status words(const ng_call *call, bool of_counter)
{
    const ng_tensor *y = ng_call_output(call, "y");
    const uint64_t first =
        *(const uint64_t *)ng_call_input(call, "first")->data;

    for (int64_t i = 0; i < y->shape[0]; i++) {
        const uint64_t index = first + (uint64_t)i;
        const uint64_t cut =
            of_counter ? (uint64_t)(uint32_t)(index >> 2) << 2 | (index & 3)
                       : (uint32_t)index;

        ((uint32_t *)y->data)[i] =
            ng_ref_philox(call->random.seed, call->random.stream, cut);
    }
    return NG_OK;
}

static ng_status index_in_32_bits(const ng_call *call)
{
    return words(call, false);
}

static ng_status counter_in_32_bits(const ng_call *call)
{
    return words(call, true);
}

#define EVEN "rounding=nearest-even"
#define MXFP4 EVEN, "mxfp4.scale=floor", "x=bf16", "y.scales=ue8m0"
#define MXFP4_FP32 EVEN, "mxfp4.scale=floor", "x=fp32", "y.scales=ue8m0"
#define GEMM "gemm.accumulate=exact", "d=fp32", "a.scales=fp32"

const fault faults_groups[] = {
    {"wgrad-empty-group-unwritten",
     "empty group",
     "L-21",
     {"grouped_gemm_wgrad"},
     {GEMM, "accumulate=0"},
     empty_groups_unwritten},
    {"wgrad-empty-group-stale",
     "empty group",
     "L-21",
     {"grouped_gemm_wgrad"},
     {GEMM, "accumulate=0"},
     empty_groups_stale},
    {"mxfp4-all-rows",
     "rows past the groups",
     "L-22",
     {"quantize_mxfp4"},
     {MXFP4_FP32},
     all_rows},
    {"pack-all-rows",
     "rows past the groups",
     "L-22",
     {"pack_e2m1"},
     {NULL},
     all_rows},
    {"gemm-all-rows",
     "rows past the groups",
     "L-22",
     {"grouped_gemm_fprop"},
     {GEMM},
     all_rows},
    {"philox-index-in-32-bits",
     "32-bit index",
     "L-23",
     {"philox"},
     {NULL},
     index_in_32_bits},
    {"philox-counter-in-32-bits",
     "32-bit index",
     "L-23",
     {"philox"},
     {NULL},
     counter_in_32_bits},
    {"gemm-another-order-each-time",
     "non-determinism",
     "L-26",
     {"grouped_gemm_fprop"},
     {GEMM},
     another_order_each_time},
    {"mxfp4-last-scale-by-chance",
     "non-determinism",
     "L-26",
     {"quantize_mxfp4"},
     {MXFP4},
     last_scale_by_chance},
    {"fp8-row-whole-blocks-only",
     "ragged tail",
     "",
     {"quantize_fp8_row"},
     {EVEN, "fp8.scale=fp32", "x=bf16"},
     whole_blocks},
    {"mxfp4-short-block-like-the-last",
     "ragged tail",
     "",
     {"dequantize_mxfp4"},
     {"y=fp32", "x.scales=ue8m0", "overflow=saturate"},
     short_block_like_the_last},
    {"mxfp4-last-scales-unwritten",
     "unwritten output",
     "",
     {"quantize_mxfp4"},
     {MXFP4},
     last_line_unwritten},
    {"fp8-row-writes-into-gaps",
     "write outside",
     "",
     {"quantize_fp8_row"},
     {EVEN, "fp8.scale=fp32", "x=bf16"},
     writes_into_gaps},
    {.name = NULL},
};
