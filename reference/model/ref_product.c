/* SPDX-License-Identifier: Apache-2.0
 *
 * The FP32 product: both operands are laid out in panels, [p][lines], and a
 * tile of outputs lives in registers while p ascends. Each output is one chain
 * of additions; tiles and threads share none.
 */
#include <stdlib.h>
#include <string.h>

#include "reference/model/ref_lanes.h"
#include "reference/model/ref_linear.h"
#include "reference/model/ref_rows.h"

enum { HIGH = 4, LANES = 8, WIDE = 2 * LANES }; /* of a tile */

/* Lines first .. first + width - 1 as panel[p][width]; absent lines are 0. The
 * inner loop runs along whichever index lies together. */
static void pack(float *panel, const ng_ref_operand *x, int64_t first,
                 int64_t lines, int64_t width, int64_t products)
{
    const int64_t n = lines - first < width ? lines - first : width;
    const int64_t start = first * x->line_step;
    const float *numbers = (const float *)x->data + start;
    const uint16_t *codes = (const uint16_t *)x->data + start;
    const bool fp32 = x->carrier == NG_CARRY_FP32;
    const int64_t line = x->line_step, step = x->p_step;

    if (n < width)
        for (int64_t i = 0; i < width * products; i++)
            panel[i] = 0.0f;
    if (step != 1)
        for (int64_t p = 0; p < products; p++)
            for (int64_t i = 0; i < n; i++)
                panel[p * width + i] =
                    fp32 ? numbers[i * line + p * step]
                         : ng_ref_of_bf16(codes[i * line + p * step]);
    else if (fp32)
        for (int64_t i = 0; i < n; i++)
            for (int64_t p = 0; p < products; p++)
                panel[p * width + i] = numbers[i * line + p];
    else
        for (int64_t i = 0; i < n; i++)
            for (int64_t p = 0; p < products; p++)
                panel[p * width + i] = ng_ref_of_bf16(codes[i * line + p]);
}

/* c[HIGH][WIDE] = sum over p of a[p][i] * b[p][j] */
NG_REF_CLONES
static void tile(float *c, const float *a, const float *b, int64_t products)
{
    ng_ref_floats sum[HIGH][2];

    memset(sum, 0, sizeof sum);
    for (int64_t p = 0; p < products; p++) {
        const ng_ref_floats left = *(const ng_ref_floats *)(b + p * WIDE);
        const ng_ref_floats right =
            *(const ng_ref_floats *)(b + p * WIDE + LANES);

#pragma GCC unroll 4
        for (int i = 0; i < HIGH; i++) {
            sum[i][0] += a[p * HIGH + i] * left;
            sum[i][1] += a[p * HIGH + i] * right;
        }
    }
    memcpy(c, sum, sizeof sum);
}

/* Put what is in range of a tile at (row, col) of y. */
static void put(const ng_array *y, int64_t row, int64_t rows, int64_t col,
                const float *c, bool accumulate)
{
    const int64_t high = rows < HIGH ? rows : HIGH;
    const int64_t wide = y->cols - col < WIDE ? y->cols - col : WIDE;

    for (int64_t i = 0; i < high; i++)
        for (int64_t j = 0; j < wide; j++) {
            const int64_t at = (row + i) * y->cols + col + j;
            const float x = c[i * WIDE + j];

            if (y->carrier == NG_CARRY_BF16) {
                ((uint16_t *)y->data)[at] = ng_ref_to_bf16(x);
                continue;
            }

            float *out = (float *)y->data + at;
            const float sum = accumulate ? *out + x : x;

            *out = sum != sum ? ng_fp32_from_bits(NG_FP32_NAN) : sum;
        }
}

typedef struct product {
    const ng_array *y;
    int64_t first_row, rows, products;
    const ng_ref_operand *a, *b;
    float *panels; /* of a: [ceil(rows / HIGH)][products][HIGH] */
    bool accumulate;
} product;

static void pack_a(const void *job, int64_t i, float *scratch)
{
    const product *q = job;

    (void)scratch;
    pack(q->panels + i * q->products * HIGH, q->a, i * HIGH, q->rows, HIGH,
         q->products);
}

/* Column panel i of the outputs. */
static void columns(const void *job, int64_t i, float *scratch)
{
    const product *q = job;
    float c[HIGH * WIDE];

    pack(scratch, q->b, i * WIDE, q->y->cols, WIDE, q->products);
    for (int64_t row = 0; row < q->rows; row += HIGH) {
        tile(c, q->panels + row * q->products, scratch, q->products);
        put(q->y, q->first_row + row, q->rows - row, i * WIDE, c,
            q->accumulate);
    }
}

ng_status ng_ref_product(const ng_array *y, int64_t first_row, int64_t rows,
                         const ng_ref_operand *a, const ng_ref_operand *b,
                         int64_t products, bool accumulate)
{
    product q = {y, first_row, rows, products, a, b, NULL, accumulate};
    const int64_t high = ng_ceil_div(rows, HIGH);
    ng_status status;

    if (rows == 0 || y->cols == 0)
        return NG_OK;
    q.panels = malloc(((size_t)(high * products) * HIGH + 1) * sizeof(float));
    if (q.panels == NULL)
        return NG_NO_MEMORY;
    status = ng_ref_each_row(pack_a, &q, high, 0);
    if (status == NG_OK)
        status = ng_ref_each_row(columns, &q, ng_ceil_div(y->cols, WIDE),
                                 products * WIDE);
    free(q.panels);
    return status;
}
