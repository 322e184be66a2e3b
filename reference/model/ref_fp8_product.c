/* SPDX-License-Identifier: Apache-2.0
 *
 * The FP8 product: as ref_product.c, but that a block of 128 is summed in FP64,
 * exactly and so in any order, and then added to the tile in FP32 by one FMA.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reference/model/ref_codes.h"
#include "reference/model/ref_lanes.h"
#include "reference/model/ref_linear.h"
#include "reference/model/ref_rows.h"

enum { HIGH = 4, LANES = 4, WIDE = 2 * LANES, BLOCK = NG_FP8_BLOCK };

/* Lines first .. as panel[p][width] of values without scales; absent ones 0. */
static void pack(double *panel, const ng_ref_fp8_operand *x, int64_t first,
                 int64_t lines, int64_t width, int64_t first_p,
                 int64_t products)
{
    for (int64_t i = 0; i < width; i++) {
        const int64_t line = first + i;
        const uint8_t *codes =
            line < lines ? x->codes + line * x->ld + first_p : NULL;

        for (int64_t p = 0; p < products; p++)
            panel[p * width + i] =
                codes != NULL ? (double)ng_ref_e4m3_values[codes[p]] : 0.0;
    }
}

NG_REF_CLONES
static void tile(double *c, const double *a, const double *b, int64_t products)
{
    ng_ref_doubles sum[HIGH][2];

    memset(sum, 0, sizeof sum);
    for (int64_t p = 0; p < products; p++) {
        const ng_ref_doubles left = *(const ng_ref_doubles *)(b + p * WIDE);
        const ng_ref_doubles right =
            *(const ng_ref_doubles *)(b + p * WIDE + LANES);

#pragma GCC unroll 4
        for (int i = 0; i < HIGH; i++) {
            sum[i][0] += a[p * HIGH + i] * left;
            sum[i][1] += a[p * HIGH + i] * right;
        }
    }
    memcpy(c, sum, sizeof sum);
}

typedef struct product {
    const ng_array *y;
    int64_t first_row, rows, first_p, products, first_block;
    const ng_ref_fp8_operand *a, *b;
    double *panels; /* of a: [ceil(rows / HIGH)][products][HIGH] */
    bool accumulate;
} product;

static void pack_a(const void *job, int64_t i, float *scratch)
{
    const product *q = job;

    (void)scratch;
    pack(q->panels + i * q->products * HIGH, q->a, i * HIGH, q->rows, HIGH,
         q->first_p, q->products);
}

static float scale_of(const ng_ref_fp8_operand *x, int64_t line, int64_t block)
{
    return x->scales[line / x->lines_a_scale * x->scale_ld + block];
}

static void put(const ng_array *y, int64_t at, float x, bool accumulate)
{
    if (y->carrier == NG_CARRY_BF16) {
        ((uint16_t *)y->data)[at] = ng_ref_to_bf16(x);
        return;
    }

    float *out = (float *)y->data + at;
    const float sum = accumulate ? *out + x : x;

    *out = sum != sum ? ng_fp32_from_bits(NG_FP32_NAN) : sum;
}

static void columns(const void *job, int64_t i, float *scratch)
{
    const product *q = job;
    const int64_t left = i * WIDE, cols = q->y->cols;
    const int64_t wide = cols - left < WIDE ? cols - left : WIDE;
    double *panel = (double *)(void *)scratch;
    double dot[HIGH * WIDE];

    pack(panel, q->b, left, cols, WIDE, q->first_p, q->products);
    for (int64_t row = 0; row < q->rows; row += HIGH) {
        const int64_t high = q->rows - row < HIGH ? q->rows - row : HIGH;
        float sum[HIGH * WIDE] = {0};

        for (int64_t p = 0; p < q->products; p += BLOCK) {
            const int64_t block = q->first_block + p / BLOCK;
            const int64_t n = q->products - p < BLOCK ? q->products - p : BLOCK;

            tile(dot, q->panels + row * q->products + p * HIGH,
                 panel + p * WIDE, n);
            for (int64_t r = 0; r < high; r++)
                for (int64_t c = 0; c < wide; c++) {
                    const float scale = scale_of(q->a, row + r, block)
                                        * scale_of(q->b, left + c, block);

                    sum[r * WIDE + c] = fmaf(scale, (float)dot[r * WIDE + c],
                                             sum[r * WIDE + c]);
                }
        }
        for (int64_t r = 0; r < high; r++)
            for (int64_t c = 0; c < wide; c++)
                put(q->y, (q->first_row + row + r) * cols + left + c,
                    sum[r * WIDE + c], q->accumulate);
    }
}

ng_status ng_ref_fp8_product(const ng_array *y, int64_t first_row, int64_t rows,
                             const ng_ref_fp8_operand *a,
                             const ng_ref_fp8_operand *b, int64_t first_p,
                             int64_t products, int64_t first_block,
                             bool accumulate)
{
    product q = {y,           first_row, rows, first_p, products,
                 first_block, a,         b,    NULL,    accumulate};
    const int64_t high = ng_ceil_div(rows, HIGH);
    ng_status status;

    if (rows == 0 || y->cols == 0)
        return NG_OK;
    q.panels = malloc(((size_t)(high * products) * HIGH + 1) * sizeof(double));
    if (q.panels == NULL)
        return NG_NO_MEMORY;
    status = ng_ref_each_row(pack_a, &q, high, 0);
    if (status == NG_OK)
        status = ng_ref_each_row(columns, &q, ng_ceil_div(y->cols, WIDE),
                                 2 * products * WIDE);
    free(q.panels);
    return status;
}
