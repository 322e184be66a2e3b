/* SPDX-License-Identifier: Apache-2.0
 *
 * Right numbers in the wrong places.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/faults/fault.h"
#include "formats/fp32.h"

/* ---- nibbles ------------------------------------------------------------ */

static uint8_t swapped(uint8_t byte)
{
    return (uint8_t)(byte << 4 | byte >> 4);
}

/* The bytes of y's codes in rows that take part. */
static ng_status writes_high_first(const ng_call *call)
{
    const ng_status status = fault_reference(call);
    ng_elements y;

    if (status != NG_OK || !ng_elements_of(&y, call, "y"))
        return status;
    for (int64_t r = 0; r < y.rows; r++) {
        uint8_t *row = (uint8_t *)y.codes->data + r * y.codes->stride[0];

        for (int64_t i = 0; i < y.codes->shape[1]; i++)
            row[i] = swapped(row[i]);
    }
    return NG_OK;
}

static ng_status reads_high_first(const ng_call *call)
{
    ng_call other = *call;
    ng_tensor *x;
    int64_t n;
    uint8_t *copy = fault_copy_input(&other, "x.codes", &x, &n);

    if (copy == NULL)
        return NG_NO_MEMORY;
    for (int64_t i = 0; i < n; i++)
        copy[i] = swapped(copy[i]);
    const ng_status status = fault_reference(&other);

    free(copy);
    return status;
}

/* ---- packed scales ------------------------------------------------------ */

/* Shift and or, without a mask: bits of a significand reach the neighbours. */
static ng_status leaky_words(const ng_call *call)
{
    const ng_tensor *x = ng_call_input(call, "x.scales");
    const ng_tensor *y = ng_call_output(call, "y.scales");
    const int64_t n = ng_call_attribute(call, "scales", x->shape[1]);

    const ng_status status = fault_reference(call);

    for (int64_t i = 0; status == NG_OK && i < y->shape[0]; i++)
        for (int64_t w = 0; w < y->shape[1]; w++) {
            const int64_t to[2] = {i, w};
            uint32_t word = 0;

            for (int64_t j = 4 * w; j < n && j < 4 * w + 4; j++) {
                const int64_t from[2] = {i, j};
                const uint32_t bits = (uint32_t)ng_unit_get(x, from);
                const int shift = (int)(23 - 8 * (j % 4));

                word |= (bits & 0x7FFFFFFF) > NG_FP32_INFINITY
                            ? UINT32_C(0xFF) << 8 * (j % 4)
                        : shift >= 0 ? bits >> shift
                                     : bits << -shift;
            }
            ng_unit_put(y, to, word);
        }
    return status;
}

/* Numbers that are no powers of two, cut without a word. */
static ng_status cuts_scales(const ng_call *call)
{
    const ng_tensor *x = ng_call_input(call, "x.scales");
    const ng_tensor *y = ng_call_output(call, "y.scales");
    const ng_status status = fault_reference(call);

    if (status != NG_BAD_SCALE)
        return status;
    for (int64_t i = 0; i < y->shape[0]; i++)
        for (int64_t j = 0; j < y->shape[1]; j++) {
            const int64_t at[2] = {i, j};

            ng_unit_put(y, at, ng_unit_get(x, at) >> 23 & 0xFF);
        }
    return NG_OK;
}

static ng_status first_scale_highest(const ng_call *call)
{
    const ng_status status = fault_reference(call);
    const ng_tensor *y = ng_call_output(call, "y.scales");

    for (int64_t i = 0; status == NG_OK && i < y->shape[0]; i++)
        for (int64_t w = 0; w < y->shape[1]; w++) {
            const int64_t at[2] = {i, w};

            ng_unit_put(y, at, __builtin_bswap32((uint32_t)ng_unit_get(y, at)));
        }
    return status;
}

/* ---- padding ------------------------------------------------------------ */

/* The bytes of a last word that no scale has stay as they were. */
static ng_status words_not_cleared(const ng_call *call)
{
    const ng_tensor *y = ng_call_output(call, "y.scales");
    const int64_t n = ng_call_attribute(call, "scales", 0);
    const int64_t last = y->shape[1] - 1;
    uint32_t *before = calloc((size_t)y->shape[0] + 1, sizeof *before);
    ng_status status = NG_NO_MEMORY;

    for (int64_t i = 0; before != NULL && last >= 0 && i < y->shape[0]; i++)
        before[i] = (uint32_t)ng_unit_get(y, (const int64_t[2]){i, last});
    if (before != NULL)
        status = fault_reference(call);
    for (int64_t i = 0; status == NG_OK && n % 4 != 0 && i < y->shape[0]; i++) {
        const int64_t at[2] = {i, last};
        const uint32_t used = UINT32_MAX >> (32 - 8 * (n % 4));

        ng_unit_put(y, at, (ng_unit_get(y, at) & used) | (before[i] & ~used));
    }
    free(before);
    return status;
}

/* The spare half of a row's last byte holds something of before. */
static ng_status nibble_not_cleared(const ng_call *call)
{
    const ng_status status = fault_reference(call);
    ng_elements y;

    if (status != NG_OK || !ng_elements_of(&y, call, "y") || y.cols % 2 == 0)
        return status;
    for (int64_t r = 0; r < y.rows; r++) {
        const int64_t at[2] = {r, y.codes->shape[1] - 1};

        ng_unit_put(y.codes, at, ng_unit_get(y.codes, at) | 0xA0);
    }
    return NG_OK;
}

/* The largest of four scales, of which some do not exist. */
static void largest_of_word(const ng_call *call, const ng_elements *x,
                            const ng_elements *y, const ng_block *b)
{
    const int64_t n = ng_ceil_div(b->col_end - b->col, NG_MXFP4_BLOCK);
    uint32_t word, largest = 0;

    if (n == 4)
        return;
    word = (uint32_t)ng_unit_get(x->scales,
                                 (const int64_t[2]){b->row, b->col / 128});
    for (int j = 0; j < 4; j++) {
        const uint32_t byte = word >> 8 * j & 0xFF;

        if (j < n && byte == 0xFF)
            return; /* a NaN block: as it is */
        if (byte != 0xFF && byte > largest)
            largest = byte;
    }
    const float s = ldexpf(1, (int)largest - 127 - call->rules.headroom);

    ng_elements_put_scale(y, b, ng_fp32_bits(s));
    for (int64_t c = b->col; c < b->col_end; c++) {
        const uint32_t byte = word >> 8 * ((c - b->col) / 32) & 0xFF;
        const double v =
            (double)fault_value(NG_E2M1, ng_elements_get(x, b->row, c))
            * ldexp(1, (int)byte - 127);

        ng_elements_put(y, b->row, c, fault_nearest(NG_E4M3, v / (double)s));
    }
}

static ng_status reads_padding(const ng_call *call)
{
    return fault_blocks(call, largest_of_word);
}

/* ---- grids of scales ---------------------------------------------------- */

/* y's grid as x's was, where the numbers of tiles allow that. */
static ng_status grid_not_turned(const ng_call *call)
{
    const ng_status status = fault_reference(call);
    const ng_tensor *x = ng_call_input(call, "x.scales");
    const ng_tensor *y = ng_call_output(call, "y.scales");

    for (int64_t i = 0;
         status == NG_OK && y->shape[0] == y->shape[1] && i < y->shape[0]; i++)
        for (int64_t j = 0; j < y->shape[1]; j++) {
            const int64_t at[2] = {i, j};

            ng_unit_put(y, at, ng_unit_get(x, at));
        }
    return status;
}

/* The operation on a plane of scales that is read turned; n x n parts of it. */
static ng_status with_turned(const ng_call *call, const char *name)
{
    ng_call other = *call;

    for (int i = 0; i < other.n_inputs; i++) {
        ng_tensor *t = &other.input[i];
        const int64_t n = t->rank == 2 ? t->shape[1] : 0;

        if (strcmp(t->name, name) != 0 || n < 2 || t->shape[0] % n != 0)
            continue;
        uint32_t *copy = calloc((size_t)(t->shape[0] * n), sizeof *copy);
        ng_tensor turned = ng_tensor_dense(name, t->dtype, 2, t->shape, copy);

        if (copy == NULL)
            return NG_NO_MEMORY;
        for (int64_t r = 0; r < t->shape[0]; r++)
            for (int64_t c = 0; c < n; c++)
                ng_unit_put(&turned, (const int64_t[2]){r - r % n + c, r % n},
                            ng_unit_get(t, (const int64_t[2]){r, c}));
        *t = turned;
        const ng_status status = fault_reference(&other);

        free(copy);
        return status;
    }
    return fault_reference(call);
}

static ng_status weights_grid_turned(const ng_call *call)
{
    return with_turned(call, "b.scales");
}

static ng_status tiles_grid_turned(const ng_call *call)
{
    return with_turned(call, "x.scales");
}

/* ---- the tile of a row -------------------------------------------------- */

static int64_t derived(int64_t at, int64_t size)
{
    return at / ng_ceil_div(size, ng_ceil_div(size, NG_FP8_BLOCK));
}

/* FP32 out: code times the scale of the tile that is found by dividing by the
 * rows (columns) over the number of tiles. */
static ng_status tile_of_the_grid(const ng_call *call, bool of_rows)
{
    const ng_status status = fault_reference(call);
    ng_elements x, y;

    if (status != NG_OK || !fault_sides(&x, &y, call))
        return status;
    for (int64_t r = 0; r < x.rows; r++)
        for (int64_t c = 0; c < x.cols; c++) {
            const ng_block b = ng_elements_block_at(
                &x, of_rows ? derived(r, x.rows) * NG_FP8_BLOCK : r,
                of_rows ? c : derived(c, x.cols) * NG_FP8_BLOCK);
            const float v = fault_value(NG_E4M3, ng_elements_get(&x, r, c))
                            * ng_fp32_from_bits(ng_elements_scale(&x, &b));

            ng_elements_put(&y, r, c, isnan(v) ? NG_FP32_NAN : ng_fp32_bits(v));
        }
    return NG_OK;
}

static ng_status row_tile_of_the_grid(const ng_call *call)
{
    return ng_call_input(call, "offsets") == NULL ? tile_of_the_grid(call, true)
                                                  : fault_reference(call);
}

static ng_status col_tile_of_the_grid(const ng_call *call)
{
    return tile_of_the_grid(call, false);
}

/* A GEMM whose column n has the weights' scales of another tile: by columns
 * that are computed one tile at a time. */
static ng_status gemm_tile_of_the_grid(const ng_call *call)
{
    const ng_tensor *d = ng_call_output(call, "d");
    const ng_tensor *scales = ng_call_input(call, "b.scales");
    const ng_tensor *offsets = ng_call_input(call, "offsets");
    const int64_t n_cols = d->shape[1], rows = d->shape[0];
    const int64_t tiles = n_cols > 0 ? ng_ceil_div(n_cols, NG_FP8_BLOCK) : 0;
    const int64_t groups = offsets != NULL ? offsets->shape[0] - 1 : 1;
    const ng_status status = fault_reference(call);

    if (status != NG_OK || tiles < 2 || scales->shape[0] != groups * tiles)
        return status;

    /* With every tile's scales in each place once: take the columns that go
     * wrong from the answer in which their tile has the scales they get. */
    float *answer = calloc((size_t)(rows * n_cols), sizeof *answer);
    uint32_t *moved =
        calloc((size_t)(scales->shape[0] * scales->shape[1]), sizeof *moved);
    ng_call other = *call;

    for (int64_t from = 0; answer != NULL && moved != NULL && from < tiles;
         from++) {
        for (int i = 0; i < other.n_inputs; i++) {
            ng_tensor *t = &other.input[i];

            if (strcmp(t->name, "b.scales") == 0)
                *t = ng_tensor_dense("b.scales", scales->dtype, 2,
                                     scales->shape, moved);
        }
        for (int64_t line = 0; line < scales->shape[0]; line++)
            for (int64_t k = 0; k < scales->shape[1]; k++)
                moved[line * scales->shape[1] + k] = (uint32_t)ng_unit_get(
                    scales, (const int64_t[2]){line - line % tiles + from, k});
        other.output[0] = ng_tensor_dense("d", d->dtype, 2, d->shape, answer);
        fault_reference(&other);
        for (int64_t c = 0; c < n_cols; c++)
            if (derived(c, n_cols) == from && c / NG_FP8_BLOCK != from)
                for (int64_t r = 0;
                     r < (offsets != NULL
                              ? ((const int64_t *)offsets->data)[groups]
                              : rows);
                     r++)
                    ng_unit_put(d, (const int64_t[2]){r, c},
                                ng_fp32_bits(answer[r * n_cols + c]));
    }
    free(moved);
    free(answer);
    return NG_OK;
}

#define EVEN "rounding=nearest-even"
#define MXFP4 EVEN, "mxfp4.scale=floor", "x=fp32", "y.scales=ue8m0"
#define GEMM "gemm.accumulate=exact", "d=fp32", "a.scales=fp32"

const fault faults_layout[] = {
    {"e2m1-packed-high-first",
     "nibble order",
     "L-12",
     {"pack_e2m1"},
     {NULL},
     writes_high_first},
    {"mxfp4-written-high-first",
     "nibble order",
     "L-12",
     {"quantize_mxfp4"},
     {MXFP4},
     writes_high_first},
    {"mxfp4-read-high-first",
     "nibble order",
     "L-12",
     {"dequantize_mxfp4"},
     {"y=fp32", "x.scales=ue8m0", "overflow=saturate"},
     reads_high_first},
    {"scales-packed-without-a-mask",
     "packed scales",
     "L-10",
     {"convert_scales"},
     {"x.scales=fp32", "y.scales=ue8m0x4"},
     leaky_words},
    {"scales-packed-first-highest",
     "packed scales",
     "L-10",
     {"convert_scales"},
     {"x.scales=ue8m0", "y.scales=ue8m0x4"},
     first_scale_highest},
    {"scales-cut-without-a-word",
     "malformed input taken",
     "L-10",
     {"convert_scales"},
     {"x.scales=fp32", "y.scales=ue8m0"},
     cuts_scales},
    {"scale-words-not-cleared",
     "stale padding",
     "L-14",
     {"convert_scales"},
     {"x.scales=ue8m0", "y.scales=ue8m0x4"},
     words_not_cleared},
    {"mxfp4-spare-nibble-not-cleared",
     "stale padding",
     "L-14",
     {"quantize_mxfp4"},
     {MXFP4},
     nibble_not_cleared},
    {"mxfp4-to-fp8-reads-absent-scales",
     "stale padding",
     "L-14",
     {"mxfp4_to_fp8_row"},
     {"headroom=6", "overflow=saturate", "x.scales=ue8m0x4", "y.scales=fp32"},
     reads_padding},
    {"fp8-tile-grid-not-transposed",
     "transposed scales",
     "L-15",
     {"transpose_fp8_tile"},
     {"x.scales=fp32"},
     grid_not_turned},
    {"fp8-tile-grid-read-transposed",
     "transposed scales",
     "L-15",
     {"dequantize_fp8_tile"},
     {"x.scales=fp32", "y=fp32"},
     tiles_grid_turned},
    {"gemm-weights-grid-transposed",
     "transposed scales",
     "L-15",
     {"grouped_gemm_fprop"},
     {GEMM},
     weights_grid_turned},
    {"fp8-tile-rows-over-tiles",
     "tile index",
     "L-13",
     {"dequantize_fp8_tile"},
     {"x.scales=fp32", "y=fp32", "overflow=saturate"},
     row_tile_of_the_grid},
    {"fp8-row-columns-over-blocks",
     "tile index",
     "L-13",
     {"dequantize_fp8_row"},
     {"x.scales=fp32", "y=fp32", "overflow=saturate"},
     col_tile_of_the_grid},
    {"gemm-columns-over-tiles",
     "tile index",
     "L-13",
     {"grouped_gemm_fprop"},
     {GEMM},
     gemm_tile_of_the_grid},
    {.name = NULL},
};
