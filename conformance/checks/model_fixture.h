/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays of the reference backend, random numbers, and a recipe in FP32, for
 * the tests of the model.
 */
#ifndef NG_CONFORMANCE_CHECKS_MODEL_FIXTURE_H
#define NG_CONFORMANCE_CHECKS_MODEL_FIXTURE_H

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/checks/suite_runner.h"
#include "formats/fp32.h"
#include "reference/backend.h"
#include "reference/convert/ref_philox.h"

static uint64_t fixture_at; /* of the stream; a test sets it to 0 */

static inline uint32_t random_word(void)
{
    return ng_ref_philox(20, 7, fixture_at++);
}

/* Uniform in [-1, 1), 24 bits. */
static inline double random_number(void)
{
    return (double)(random_word() >> 8) * 0x1p-23 - 1.0;
}

/* What a test made and did not free; fixture_end does. */
static void *fixture_made[1024];
static int fixture_n;

static inline void fixture_end(void)
{
    while (fixture_n > 0)
        free(fixture_made[--fixture_n]);
}

static inline ng_array array_of(ng_carrier carrier, int64_t batch, int64_t rows,
                                int64_t cols, int64_t blocks)
{
    ng_array a = {carrier, batch, rows, cols, blocks, NULL, NULL};
    const size_t data = (size_t)ng_array_data_bytes(&a);
    const size_t scales = (size_t)ng_array_scale_bytes(&a);

    a.data = malloc(data + 64);
    a.scales = malloc(scales + 64);
    ck_assert_ptr_nonnull(a.data);
    ck_assert_ptr_nonnull(a.scales);
    ck_assert_int_lt(fixture_n + 2, 1024);
    fixture_made[fixture_n++] = a.data;
    fixture_made[fixture_n++] = a.scales;
    memset(a.data, 0xA5, data + 64); /* poison */
    memset(a.scales, 0xA5, scales + 64);
    return a;
}

static inline ng_array matrix_of(ng_carrier carrier, int64_t rows, int64_t cols)
{
    return array_of(carrier, 1, rows, cols, 0);
}

static inline void array_free(ng_array *a)
{
    for (int i = 0; i < fixture_n; i++)
        if (fixture_made[i] == a->data || fixture_made[i] == a->scales) {
            free(fixture_made[i]);
            fixture_made[i--] = fixture_made[--fixture_n];
        }
    *a = (ng_array){.carrier = NG_CARRY_NONE};
}

/* Whether the bytes that the shapes speak of are the same. */
static inline bool same_arrays(const ng_array *a, const ng_array *b)
{
    return memcmp(a->data, b->data, (size_t)ng_array_data_bytes(a)) == 0
           && memcmp(a->scales, b->scales, (size_t)ng_array_scale_bytes(a))
                  == 0;
}

/* FP32 [rows, cols] of random numbers times `size`. */
static inline ng_array random_matrix(int64_t rows, int64_t cols, double size)
{
    ng_array a = matrix_of(NG_CARRY_FP32, rows, cols);

    for (int64_t i = 0; i < rows * cols; i++)
        ((float *)a.data)[i] = (float)(size * random_number());
    return a;
}

static inline float *floats(const ng_array *a)
{
    return a->data;
}

static inline ng_array converted(ng_carrier carrier, const ng_array *x,
                                 const ng_row_groups *groups)
{
    const ng_backend *b = ng_backend_reference();
    const int64_t blocks = ng_groups_blocks(
        groups != NULL ? &groups->host : NULL, x->rows, NG_FP8_BLOCK);
    ng_array y = array_of(carrier, x->batch, x->rows, x->cols, blocks);

    ck_assert_int_eq(b->convert(b->context, &y, x, groups, NULL), NG_OK);
    return y;
}

static const char recipe_fp32[] =
    "name fp32\nresidual fp32\n"
    "attention.multiply fp32\nattention.multiply_grad fp32\n"
    "attention.store_x fp32\n"
    "ffn.multiply fp32\nffn.multiply_grad fp32\nffn.store_x fp32\n"
    "ffn.store_gate_up fp32\n"
    "shared.multiply fp32\nshared.multiply_grad fp32\nshared.store_x fp32\n"
    "shared.store_gate_up fp32\n"
    "expert.multiply fp32\nexpert.multiply_grad fp32\nexpert.send_x fp32\n"
    "expert.send_y fp32\nexpert.send_grad_y fp32\nexpert.send_grad_x fp32\n"
    "expert.store_gate_up fp32\n"
    "head.multiply fp32\nhead.multiply_grad fp32\nhead.store_x fp32\n";

#endif
