/* SPDX-License-Identifier: Apache-2.0
 *
 * The comparer: one flipped bit anywhere in the outputs of a call, elements,
 * gaps and guards alike, is caught, counted once, and named.
 */
#include <check.h>
#include <string.h>

#include "conformance/checks/case.h"
#include "conformance/checks/suite_runner.h"

enum { MAX_UNITS = 64, N_LAYOUTS = 7 };

/* Shapes and strides, in units. */
static const struct layout {
    int rank;
    int64_t shape[2], stride[2];
} layouts[N_LAYOUTS] = {
    {1, {5}, {1}},
    {1, {4}, {3}},              /* gaps of two units */
    {2, {3, 4}, {4, 1}},
    {2, {3, 4}, {7, 1}},        /* gaps of three after each row */
    {2, {3, 4}, {1, 5}},        /* transposed, with gaps */
    {2, {1, 1}, {9, 9}},
    {2, {0, 4}, {4, 1}},        /* nothing but guards */
};

/* A call with two outputs: one of the type and layout tried, then bytes. */
typedef struct pair {
    ng_case c;
    ng_call want_call, got_call;
    ng_outputs want, got;
    /* Of each unit between the guards: the element that it is, or -1. */
    int64_t element[MAX_UNITS];
    int64_t size;               /* bytes of a unit */
} pair;

static void begin(pair *p, ng_dtype dtype, const struct layout *layout)
{
    static const ng_variant variant;
    static const int64_t three = 3;
    int64_t cols = layout->rank == 2 ? layout->shape[1] : 1;
    uint32_t random = 12345;

    ng_case_begin(&p->c, "none", &variant, "none", 0, 1);
    ng_case_output(&p->c, "y.codes", dtype, layout->rank, layout->shape, false);
    ng_case_output(&p->c, "y.scales", NG_U8, 1, &three, false);
    for (int axis = 0; axis < layout->rank; axis++)
        p->c.call.output[0].stride[axis] = layout->stride[axis];
    ck_assert(ng_outputs_make(&p->want, &p->want_call, &p->c, 0xA5));
    ck_assert(ng_outputs_make(&p->got, &p->got_call, &p->c, 0xA5));
    ck_assert_int_eq(p->want.n, 2);
    for (int i = 0; i < 2; i++) {
        const int64_t bytes = p->want.span[i] + 2 * NG_GUARD_BYTES;

        for (int64_t b = 0; b < bytes; b++) {
            random = random * 1664525u + 1013904223u;
            p->want.block[i][b] = (unsigned char)(random >> 24);
        }
        memcpy(p->got.block[i], p->want.block[i], (size_t)bytes);
    }

    p->size = (int64_t)ng_dtype_size(dtype);
    for (int i = 0; i < MAX_UNITS; i++)
        p->element[i] = -1;
    for (int64_t row = 0; row < layout->shape[0]; row++)
        for (int64_t col = 0; col < cols; col++)
            p->element[row * layout->stride[0]
                       + (layout->rank == 2 ? col * layout->stride[1] : 0)] =
                row * cols + col;
}

static void end(pair *p)
{
    ng_outputs_free(&p->want);
    ng_outputs_free(&p->got);
    ng_case_end(&p->c);
}

static ng_difference compare(const pair *p)
{
    return ng_outputs_compare(&p->want_call, &p->want, &p->got_call, &p->got);
}

/* Little-endian bits of the `size` bytes at an address. */
static uint64_t bits_at(const unsigned char *bytes, int64_t size)
{
    uint64_t bits = 0;

    for (int64_t i = 0; i < size; i++)
        bits |= (uint64_t)bytes[i] << 8 * i;
    return bits;
}

/* Byte `at` of output 0, counted from its first unit, differs. */
static void expect_named(const pair *p, const struct layout *layout, int64_t at)
{
    const ng_difference d = compare(p);
    const int64_t unit = at < 0 ? -1 : at / p->size;
    const bool inside = at >= 0 && at < p->want.span[0]
                        && p->element[unit] >= 0;
    const unsigned char *want = p->want.block[0] + NG_GUARD_BYTES;
    const unsigned char *got = p->got.block[0] + NG_GUARD_BYTES;
    const int64_t first = inside ? unit * p->size : at;
    const int64_t size = inside ? p->size : 1;

    ck_assert_int_eq(d.count, 1);
    ck_assert_str_eq(d.tensor, "y.codes");
    ck_assert_int_eq(d.outside, !inside);
    ck_assert_uint_eq(d.want, bits_at(want + first, size));
    ck_assert_uint_eq(d.got, bits_at(got + first, size));
    if (!inside)
        ck_assert_int_eq(d.index[0], at);
    else if (layout->rank == 1)
        ck_assert_int_eq(d.index[0], p->element[unit]);
    else
        ck_assert_int_eq(d.index[0] * layout->shape[1] + d.index[1],
                         p->element[unit]);
}

START_TEST(one_bit_anywhere)
{
    const ng_dtype dtype = (ng_dtype)_i;

    for (int i = 0; i < N_LAYOUTS; i++) {
        int64_t inside = 0;
        pair p;

        begin(&p, dtype, &layouts[i]);
        ck_assert_ptr_null(compare(&p).tensor);
        ck_assert_int_eq(compare(&p).count, 0);
        for (int64_t at = -NG_GUARD_BYTES; at < p.want.span[0] + NG_GUARD_BYTES;
             at++) {
            unsigned char *byte = &p.got.block[0][NG_GUARD_BYTES + at];

            for (int bit = 0; bit < 8; bit++) {
                *byte ^= (unsigned char)(1 << bit);
                expect_named(&p, &layouts[i], at);
                *byte ^= (unsigned char)(1 << bit);
            }
            inside += at >= 0 && at < p.want.span[0]
                      && p.element[at / p.size] >= 0;
        }
        ck_assert_int_eq(inside, layouts[i].shape[0] * p.size
                                     * (layouts[i].rank == 2
                                            ? layouts[i].shape[1] : 1));
        end(&p);
    }
}
END_TEST

START_TEST(the_other_output)
{
    pair p;

    begin(&p, NG_E4M3, &layouts[3]);
    for (int64_t at = -NG_GUARD_BYTES; at < 3 + NG_GUARD_BYTES; at++) {
        unsigned char *byte = &p.got.block[1][NG_GUARD_BYTES + at];

        *byte ^= 0x80;

        const ng_difference d = compare(&p);

        ck_assert_int_eq(d.count, 1);
        ck_assert_str_eq(d.tensor, "y.scales");
        ck_assert_int_eq(d.outside, at < 0 || at >= 3);
        ck_assert_int_eq(d.index[0], at);
        *byte ^= 0x80;
    }
    end(&p);
}
END_TEST

/* Units are counted over both outputs; the first one in index order is named,
 * which in a transposed plane is not the first in memory. */
START_TEST(several)
{
    pair p;

    begin(&p, NG_U16, &layouts[4]);

    unsigned char *codes = p.got.block[0] + NG_GUARD_BYTES;

    codes[2 * (0 + 3 * 5) + 1] ^= 1;    /* [0,3], later in memory */
    codes[2 * (2 + 0 * 5)] ^= 1;        /* [2,0] */
    codes[2 * (2 + 0 * 5) + 1] ^= 1;    /* and again, the same unit */
    p.got.block[1][NG_GUARD_BYTES + 2] ^= 1;

    const ng_difference d = compare(&p);

    ck_assert_int_eq(d.count, 3);
    ck_assert_str_eq(d.tensor, "y.codes");
    ck_assert(!d.outside);
    ck_assert_int_eq(d.index[0], 0);
    ck_assert_int_eq(d.index[1], 3);
    end(&p);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("comparer");
    TCase *tcase = tcase_create("comparer");

    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, one_bit_anywhere, 0, NG_N_DTYPES);
    tcase_add_test(tcase, the_other_output);
    tcase_add_test(tcase, several);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
