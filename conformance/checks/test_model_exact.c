/* SPDX-License-Identifier: Apache-2.0
 *
 * What the reference backend does fast is what reference/convert/ and
 * reference/moe/ define: codes, scales, events and products, bit for bit.
 */
#include "conformance/checks/model_fixture.h"
#include "reference/convert/ref_convert_fp8_row_to_col.h"
#include "reference/convert/ref_convert_fp8_to_mxfp4.h"
#include "reference/convert/ref_convert_mxfp4_to_fp8.h"
#include "reference/convert/ref_dequantize_fp8.h"
#include "reference/convert/ref_dequantize_mxfp4.h"
#include "reference/convert/ref_encode.h"
#include "reference/convert/ref_quantize_fp8.h"
#include "reference/convert/ref_quantize_mxfp4.h"
#include "reference/model/ref_rows.h"
#include "reference/model/ref_views_array.h"
#include "reference/moe/ref_grouped_gemm_fprop.h"
#include "reference/moe/ref_grouped_gemm_wgrad.h"

static const ng_backend *b;
static ng_rules rules;

static void begin(void)
{
    fixture_at = 0;
    b = ng_backend_reference();
    rules = ng_default_rules;
    rules.fp8_scale = NG_FP8_POW2;
    rules.overflow = NG_IEEE; /* of decoding to BF16: Inf stays Inf */
}

/* Rows whose largest exponents run over all there are, and whose elements lie
 * up to 30 binades below; bits of every kind; now and then a NaN, an Inf, a row
 * of zeros or of subnormals. Columns 32k .. 32k+31 have a spread of their own.
 */
static void fill(ng_array *x)
{
    const bool bf16 = x->carrier == NG_CARRY_BF16;

    for (int64_t r = 0; r < x->batch * x->rows; r++) {
        const uint32_t top =
            r % 3 == 0 ? (uint32_t)(r * 7 % 256) : 100 + random_word() % 40;

        for (int64_t c = 0; c < x->cols; c++) {
            const uint32_t spread = 1 + (uint32_t)(c / 32) % 4 * 9;
            const uint32_t down = random_word() % spread;
            uint32_t bits = random_word();

            bits &= 0x807FFFFF;
            bits |= (top > down ? top - down : 0) << 23;
            if (random_word() % 4096 == 0)
                bits = random_word() % 2 != 0 ? 0x7F800000 : 0xFFC12345;
            if (random_word() % 16 == 0)
                bits &= 0x80000000;
            if (random_word() % 3 == 0)
                bits &= 0xFFF80000; /* ties */
            if (r % 37 == 5 || (bits >> 23 & 0xFF) == 0xFF)
                bits &= r % 2 != 0 ? 0x80000000 : 0xFFFFFFFF;
            if (bf16)
                ((uint16_t *)x->data)[r * x->cols + c] = (uint16_t)(bits >> 16);
            else
                memcpy((float *)x->data + r * x->cols + c, &bits, 4);
        }
    }
}

static ng_events counted, expected;

static ng_status define(const ng_array *y, const ng_array *x,
                        const ng_groups *groups)
{
    const ng_options options = {
        .rules = &rules, .groups = groups, .events = &expected};
    const ng_fp8 fp8 = ng_ref_fp8_view(y);
    const ng_mxfp4 mxfp4 = ng_ref_mxfp4_view(y);
    const ng_matrix out = ng_ref_matrix_view(y);
    const ng_fp8 from_fp8 = ng_ref_fp8_view(x);
    const ng_mxfp4 from_mxfp4 = ng_ref_mxfp4_view(x);
    const ng_matrix in = ng_ref_matrix_view(x);

    switch (x->carrier) {
    case NG_CARRY_MXFP4:
        return ng_ref_is_numbers(y)
                   ? ng_ref_dequantize_mxfp4(&out, &from_mxfp4, &options)
                   : ng_ref_convert_mxfp4_to_fp8(&fp8, &from_mxfp4, &options);
    case NG_CARRY_FP8:
        if (y->carrier == NG_CARRY_MXFP4)
            return ng_ref_convert_fp8_to_mxfp4(&mxfp4, &from_fp8, &options);
        return ng_ref_is_numbers(y)
                   ? ng_ref_dequantize_fp8(&out, &from_fp8, &options)
                   : ng_ref_convert_fp8_row_to_col(&fp8, &from_fp8, &options);
    default:
        return y->carrier == NG_CARRY_MXFP4
                   ? ng_ref_quantize_mxfp4(&mxfp4, &in, &options)
                   : ng_ref_quantize_fp8(&fp8, &in, &options);
    }
}

static void check(ng_carrier to, const ng_array *x, const ng_row_groups *groups)
{
    const ng_groups *of_rows =
        groups != NULL && x->batch == 1 ? &groups->host : NULL;
    const int64_t blocks = ng_groups_blocks(of_rows, x->rows, NG_FP8_BLOCK);
    ng_array got = array_of(to, x->batch, x->rows, x->cols, blocks);
    ng_array want = array_of(to, x->batch, x->rows, x->cols, blocks);
    const int64_t tiles[] = {0, x->rows, 2 * x->rows, 3 * x->rows};
    const ng_groups stacked = {x->batch, tiles};

    memset(&counted, 0, sizeof counted);
    memset(&expected, 0, sizeof expected);
    ck_assert_int_eq(b->convert(b->context, &got, x, groups, &counted), NG_OK);
    ck_assert_int_eq(define(&want, x, x->batch > 1 ? &stacked : of_rows),
                     NG_OK);
    ck_assert_msg(same_arrays(&got, &want), "%s -> %s",
                  ng_carrier_name(x->carrier), ng_carrier_name(to));
    if (!ng_ref_is_numbers(&got))
        for (int e = 0; e < NG_N_EVENTS; e++)
            ck_assert_msg(
                e == NG_EVENT_INFINITE || counted.count[e] == expected.count[e],
                "%s -> %s: %s %llu, not %llu", ng_carrier_name(x->carrier),
                ng_carrier_name(to), ng_event_name((ng_event)e),
                (unsigned long long)counted.count[e],
                (unsigned long long)expected.count[e]);
    array_free(&got);
    array_free(&want);
}

START_TEST(conversions)
{
    static const int64_t sizes[][2] = {
        {768, 128}, {300, 259}, {1, 1}, {0, 64}, {130, 33}};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int bf16 = 0; bf16 < 2; bf16++) {
            const int64_t rows = sizes[i][0];
            const int64_t offsets[] = {0, rows / 3, rows / 3, rows - rows / 9};
            const ng_row_groups groups = {{3, offsets}, NULL};
            ng_array x = matrix_of(bf16 ? NG_CARRY_BF16 : NG_CARRY_FP32, rows,
                                   sizes[i][1]);
            ng_array fp8, mxfp4;

            fill(&x);
            check(NG_CARRY_FP8, &x, NULL);
            check(NG_CARRY_MXFP4, &x, NULL);
            check(NG_CARRY_FP8_TILE, &x, NULL);
            check(NG_CARRY_FP8_COL, &x, NULL);
            check(NG_CARRY_FP8_COL, &x, &groups);
            fp8 = converted(NG_CARRY_FP8, &x, NULL);
            mxfp4 = converted(NG_CARRY_MXFP4, &x, NULL);
            check(NG_CARRY_FP8_COL, &fp8, &groups);
            check(NG_CARRY_FP8_COL, &mxfp4, &groups);
            check(NG_CARRY_FP8, &mxfp4, NULL);
            check(NG_CARRY_MXFP4, &fp8, NULL);
            check(NG_CARRY_BF16, &fp8, NULL);
            check(NG_CARRY_FP32, &fp8, NULL);
            check(NG_CARRY_BF16, &mxfp4, NULL);
            check(NG_CARRY_FP32, &mxfp4, NULL);
            array_free(&x);
            array_free(&fp8);
            array_free(&mxfp4);
        }
}
END_TEST

START_TEST(stacked_tiles)
{
    ng_array x = array_of(NG_CARRY_FP32, 3, 140, 200, 0);

    fill(&x);
    check(NG_CARRY_FP8_TILE, &x, NULL);
    array_free(&x);
}
END_TEST

/* Every BF16 number, under every scale that its block could have: the elements
 * of a block are all numbers of one exponent, with one of each larger exponent
 * as its amax. */
START_TEST(every_bf16_number)
{
    ng_array x = matrix_of(NG_CARRY_BF16, 255 * 24, 128);
    uint16_t *codes = x.data;

    for (int64_t e = 0; e < 255; e++)
        for (int64_t up = 0; up < 24; up++) {
            uint16_t *row = codes + (e * 24 + up) * 128;

            for (int64_t i = 0; i < 128; i++)
                row[i] = (uint16_t)((i % 2 << 15) | e << 7 | i);
            for (int64_t i = 0; i < 128; i += 32) /* of each MXFP4 block */
                row[i] = (uint16_t)((e + up < 254 ? e + up : 254) << 7
                                    | (up * 37 % 128));
        }
    check(NG_CARRY_FP8, &x, NULL);
    check(NG_CARRY_MXFP4, &x, NULL);
    array_free(&x);
}
END_TEST

START_TEST(to_bf16)
{
    const ng_format *format = &ng_formats[NG_FORMAT_BF16];

    /* every upper half with the lower halves around a tie */
    for (uint32_t upper = 0; upper < 0x10000; upper++)
        for (uint32_t i = 0; i < 6; i++) {
            static const uint16_t lower[] = {0,      1,      0x7FFF,
                                             0x8000, 0x8001, 0xFFFF};
            const float v = ng_fp32_from_bits(upper << 16 | lower[i]);

            ck_assert_uint_eq(ng_ref_to_bf16(v),
                              ng_ref_encode(format, v,
                                            &(ng_rules){.overflow = NG_IEEE}, 0,
                                            NULL));
        }
}
END_TEST

/* ---- products ------------------------------------------------------------ */

static const int64_t ragged[] = {0, 70, 70, 211, 300};

START_TEST(fp8_products)
{
    const ng_row_groups groups = {{4, ragged}, NULL};
    const ng_options options = {.rules = &rules, .groups = &groups.host};
    ng_array x = matrix_of(NG_CARRY_BF16, 320, 200);
    ng_array w = array_of(NG_CARRY_FP32, 4, 150, 200, 0);
    ng_array y = matrix_of(NG_CARRY_BF16, 320, 150), want_y = y;
    ng_array xq, wq;

    fill(&x);
    fill(&w);
    xq = converted(NG_CARRY_FP8, &x, NULL);
    wq = converted(NG_CARRY_FP8_TILE, &w, NULL);
    want_y = matrix_of(NG_CARRY_BF16, 320, 150);

    const ng_matrix d = ng_ref_matrix_view(&want_y);
    const ng_fp8 a = ng_ref_fp8_view(&xq), of_w = ng_ref_fp8_view(&wq);

    ck_assert_int_eq(b->linear(b->context, &y, &xq, &wq, &groups), NG_OK);
    ck_assert_int_eq(ng_ref_grouped_gemm_fprop(&d, &a, &of_w, &options), NG_OK);
    ck_assert(same_arrays(&y, &want_y)); /* rows past 300 poisoned in both */
    array_free(&x);
    array_free(&w);
    array_free(&y);
    array_free(&want_y);
    array_free(&xq);
    array_free(&wq);
}
END_TEST

/* L-21, L-22: an empty group gives +0, or leaves what is there; what lies past
 * the last row is not looked at. */
START_TEST(fp8_weight_gradients)
{
    const ng_row_groups groups = {{4, ragged}, NULL};
    const ng_options options = {.rules = &rules, .groups = &groups.host};
    ng_array x = matrix_of(NG_CARRY_BF16, 320, 90);
    ng_array g = matrix_of(NG_CARRY_BF16, 320, 40);
    ng_array grad = array_of(NG_CARRY_FP32, 4, 40, 90, 0);
    ng_array want = array_of(NG_CARRY_FP32, 4, 40, 90, 0);
    ng_array xq, gq;

    fill(&x);
    fill(&g);
    xq = converted(NG_CARRY_FP8_COL, &x, &groups);
    gq = converted(NG_CARRY_FP8_COL, &g, &groups);

    const ng_matrix d = ng_ref_matrix_view(&want);
    const ng_fp8 of_g = ng_ref_fp8_view(&gq), of_x = ng_ref_fp8_view(&xq);

    for (int accumulate = 0; accumulate < 2; accumulate++) {
        ck_assert_int_eq(b->linear_weight(b->context, &grad, &gq, &xq, &groups,
                                          accumulate != 0),
                         NG_OK);
        ck_assert_int_eq(ng_ref_grouped_gemm_wgrad(&d, accumulate ? &d : NULL,
                                                   &of_g, &of_x, &options),
                         NG_OK);
        ck_assert(same_arrays(&grad, &want));
        for (int64_t i = 40 * 90; i < 2 * 40 * 90; i++)
            ck_assert_uint_eq(ng_fp32_bits(floats(&grad)[i]), 0);
    }
    array_free(&x);
    array_free(&g);
    array_free(&grad);
    array_free(&want);
    array_free(&xq);
    array_free(&gq);
}
END_TEST

/* Whatever the size of equal numbers, their norm is +-1 times w: squares of
 * 2^100 pass FP32, those of 2^-100 fall below it (eps 0). Powers of two: no
 * rounding but the root's and the quotient's, which are exact here. */
START_TEST(trap_norm_of_large_and_small_numbers)
{
    static const float size[] = {0x1p+100f, 0x1p-100f, 0x1p+127f};

    for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
        ng_array x = matrix_of(NG_CARRY_FP32, 1, 4);
        ng_array y = matrix_of(NG_CARRY_FP32, 1, 4);
        ng_array w = matrix_of(NG_CARRY_FP32, 1, 4);

        for (int c = 0; c < 4; c++) {
            ((float *)x.data)[c] = c % 2 == 0 ? size[i] : -size[i];
            ((float *)w.data)[c] = (float)(c + 1);
        }
        ck_assert_int_eq(b->rmsnorm(b->context, &y, &x, &w, 0.0f), NG_OK);
        for (int c = 0; c < 4; c++)
            ck_assert_float_eq(((float *)y.data)[c],
                               (float)(c % 2 == 0 ? c + 1 : -c - 1));
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("model, exact");
    TCase *tcase = tcase_create("exact");

    tcase_add_checked_fixture(tcase, begin, fixture_end);
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, conversions);
    tcase_add_test(tcase, stacked_tiles);
    tcase_add_test(tcase, every_bf16_number);
    tcase_add_test(tcase, to_bf16);
    tcase_add_test(tcase, fp8_products);
    tcase_add_test(tcase, fp8_weight_gradients);
    tcase_add_test(tcase, trap_norm_of_large_and_small_numbers);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
