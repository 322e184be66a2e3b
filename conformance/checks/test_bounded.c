/* SPDX-License-Identifier: Apache-2.0
 *
 * The bounded class, on an operation made for the purpose: h = 3 x in FP32, the
 * bound 2^-10 of |h|, and sign = the sign bit of h, exact, of the h that the
 * subject made. The last row of both is not written.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/checks/suite_runner.h"
#include "conformance/checks/verify.h"
#include "formats/fp32.h"

enum { ROWS = 3, COLS = 4 };

static const float values[ROWS][COLS] = {
    {1, -2, 0, -0.0f}, {0x1p127f, 7, INFINITY, NAN}, {5, 5, 5, 5}};

static void fill(ng_case *c, int64_t index)
{
    const int64_t shape[2] = {ROWS, COLS};
    float *x = ng_case_input(c, "x", NG_FP32, 2, shape);

    (void)index;
    if (x != NULL)
        memcpy(x, values, sizeof values);
    ng_case_output(c, "h", NG_FP32, 2, shape, false);
    c->call.output[0].stride[0] = COLS + 1;
    ng_case_output(c, "sign", NG_U8, 2, shape, false);
}

static int64_t count(const ng_variant *variant, int level)
{
    (void)variant, (void)level;
    return 1;
}

static bool is_bounded(const ng_variant *variant, const char *output)
{
    (void)variant;
    return strcmp(output, "h") == 0;
}

static const ng_stratum strata[] = {
    {"all", "every value", 0, count, fill}, {NULL, NULL, 0, NULL, NULL}};
static ng_operation operation = {.name = "thrice", .bounded = is_bounded,
                                 .strata = strata};

/* ---- three sides ---- */

static uint32_t *h_of(const ng_call *call, int64_t row, int64_t col)
{
    const ng_tensor *h = ng_call_output(call, "h");

    return (uint32_t *)h->data + row * h->stride[0] + col;
}

static uint8_t *sign_of(const ng_call *call, int64_t row, int64_t col)
{
    return (uint8_t *)ng_call_output(call, "sign")->data + row * COLS + col;
}

/* The expected side: of the h that it is given. */
static ng_status run(const ng_call *call)
{
    const ng_tensor *made = ng_call_input(call, "made.h");

    for (int64_t r = 0; r < ROWS - 1; r++)
        for (int64_t c = 0; c < COLS; c++) {
            const float x = 3 * values[r][c];
            const uint32_t bits =
                made != NULL
                    ? ((const uint32_t *)made->data)[r * made->stride[0] + c]
                : x != x ? (uint32_t)NG_FP32_NAN
                         : ng_fp32_bits(x);

            *h_of(call, r, c) = bits;
            *sign_of(call, r, c) = (uint8_t)(bits >> 31);
        }
    return NG_OK;
}

static ng_status bounds_of(const ng_call *call, ng_bounds *bounds)
{
    (void)call;
    for (int i = 0; i < (ROWS - 1) * COLS; i++) {
        const double x = (double)values[i / COLS][i % COLS];

        bounds[0].exact[i] = 3 * x;
        bounds[0].bound[i] = isfinite(x) ? fabs(3 * x) / 1024 : 1;
    }
    bounds[0].bound[5] = (double)INFINITY;      /* of 7: nothing is claimed */
    ck_assert_ptr_null(bounds[1].bound);
    return NG_OK;
}

/* The subject: the expected side, then one change. */
static void (*change)(const ng_call *);

static ng_status run_changed(const ng_call *call)
{
    const ng_status status = run(call);

    change(call);
    return status;
}

static bool covers(const ng_call *call)
{
    (void)call;
    return true;
}

static ng_subject expected = {.name = "expected", .covers = covers, .run = run,
                              .bounds = bounds_of};
static ng_subject subject = {.name = "subject", .covers = covers,
                             .run = run_changed};
static ng_failure failure;

static bool passes(void (*how)(const ng_call *))
{
    const ng_variant variant = {.rules = ng_default_rules};
    const ng_verify_plan plan = {.subject = &subject, .expected = &expected,
                                 .oracle = &expected, .n_shards = 1};
    const ng_case_id id = {.operation = &operation, .stratum = strata};
    ng_events events = {{0}};
    int64_t elements;

    change = how;
    return ng_verify_case(&failure, &events, &elements, &id, &variant, &plan);
}

static void setup(void)
{
    operation.stated = subject.trusted = false;
}

/* ---- changes ---- */

static void none(const ng_call *call)
{
    (void)call;
}

static void put(const ng_call *call, int64_t row, int64_t col, float h)
{
    *h_of(call, row, col) = ng_fp32_bits(h);
    *sign_of(call, row, col) = (uint8_t)(ng_fp32_bits(h) >> 31);
}

static void within(const ng_call *call)
{
    put(call, 0, 1, -6 * (1 + 0x1p-11f));       /* half of the bound */
}

static void at_the_bound(const ng_call *call)
{
    put(call, 0, 1, -6 * (1 - 0x1p-10f));
}

static void past_the_bound(const ng_call *call)
{
    put(call, 0, 1, -6 * (1 + 0x1p-10f + 0x1p-20f));
    put(call, 0, 0, 4);
}

static void wrong_zero(const ng_call *call)
{
    put(call, 0, 3, 0);
}

static void infinite(const ng_call *call)
{
    put(call, 0, 0, INFINITY);
}

static void largest(const ng_call *call)
{
    put(call, 1, 0, 0x1.fffffep127f);   /* 3 * 2^127 is far above */
}

static void other_infinity(const ng_call *call)
{
    put(call, 1, 2, -INFINITY);
}

static void unclaimed(const ng_call *call)
{
    put(call, 1, 1, -1000);
}

static void nan_at_a_number(const ng_call *call)
{
    *h_of(call, 0, 0) = NG_FP32_NAN;
}

static void number_at_a_nan(const ng_call *call)
{
    put(call, 1, 3, 0);
}

static void other_nan(const ng_call *call)
{
    *h_of(call, 1, 3) = 0x7FC00000;
}

/* Another order of the sum in every run. */
static void unsteady(const ng_call *call)
{
    static int runs;

    put(call, 0, 1, -6 * (1 + (runs++ % 2 == 0 ? 0 : 0x1p-11f)));
}

static void unclaimed_unsteady(const ng_call *call)
{
    static int runs;

    put(call, 1, 1, (float)++runs);
}

/* The gap beside it holds what was there before. */
static void unclaimed_unwritten(const ng_call *call)
{
    *h_of(call, 1, 1) = *h_of(call, 0, COLS);
    *sign_of(call, 1, 1) = (uint8_t)(*h_of(call, 1, 1) >> 31);
}

static void in_a_gap(const ng_call *call)
{
    *h_of(call, 0, COLS) = 0;
}

static void unwritten_row(const ng_call *call)
{
    *h_of(call, ROWS - 1, 0) = 0;
}

static void wrong_derived(const ng_call *call)
{
    *sign_of(call, 0, 1) = 0;
}

/* ---- tests ---- */

START_TEST(equal_passes)
{
    ck_assert(passes(none));
    ck_assert(failure.judged.share == 0);
    /* Two runs, over two poisons, of 8 units of which one is not claimed. */
    ck_assert_int_eq(failure.judged.bounded, 14);
    ck_assert_int_eq(failure.judged.unclaimed, 2);
}
END_TEST

START_TEST(share_is_reported)
{
    ck_assert(passes(within));
    ck_assert(fabs(failure.judged.share - 0.5) < 1e-12);
    ck_assert(passes(at_the_bound));
    ck_assert(failure.judged.share == 1);
    ck_assert(passes(unclaimed));
    ck_assert(failure.judged.share == 0);
}
END_TEST

START_TEST(excess_fails_with_a_line)
{
    char line[1536];

    ck_assert(!passes(past_the_bound));
    ck_assert_int_eq(failure.kind, NG_FAILURE_BOUND);
    ck_assert_int_eq(failure.difference.count, 2);
    ck_assert(failure.judged.share > 1);
    ng_failure_print(line, sizeof line, &failure);
    ck_assert_msg(strstr(line, " at=h[0,0] exact=3 bound=0.00293 got=4(40800000)"
                               " (+1 more in this case)") != NULL, "%s", line);
}
END_TEST

static const struct {
    void (*how)(const ng_call *);
    ng_failure_kind kind;
} wrong[] = {
    {wrong_zero, NG_FAILURE_BOUND},     /* where the bound is 0 */
    {infinite, NG_FAILURE_BOUND},
    {largest, NG_FAILURE_BOUND},
    {other_infinity, NG_FAILURE_BOUND},
    {nan_at_a_number, NG_FAILURE_BOUND},
    {number_at_a_nan, NG_FAILURE_BOUND},
    {other_nan, NG_FAILURE_BOUND},
    {unsteady, NG_FAILURE_UNSTABLE},
    {unclaimed_unsteady, NG_FAILURE_UNSTABLE},
    {unclaimed_unwritten, NG_FAILURE_UNWRITTEN},
    {in_a_gap, NG_FAILURE_OUTSIDE},
    {unwritten_row, NG_FAILURE_BITS},
    {wrong_derived, NG_FAILURE_BITS}};

START_TEST(wrong_fails)
{
    ck_assert(!passes(wrong[_i].how));
    ck_assert_int_eq(failure.kind, wrong[_i].kind);
}
END_TEST

/* Our own writings of an order that is stated agree in every bit. */
START_TEST(stated_is_compared_in_bits)
{
    operation.stated = subject.trusted = true;
    ck_assert(passes(none));
    ck_assert_int_eq(failure.judged.bounded, 7);
    ck_assert(!passes(within));
    ck_assert_int_eq(failure.kind, NG_FAILURE_BITS);
    ck_assert(!passes(past_the_bound));
    ck_assert_int_eq(failure.kind, NG_FAILURE_BOUND);
    subject.trusted = false;
    ck_assert(passes(within));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("bounded");
    TCase *all = tcase_create("all");

    tcase_add_checked_fixture(all, setup, NULL);
    tcase_add_test(all, equal_passes);
    tcase_add_test(all, share_is_reported);
    tcase_add_test(all, excess_fails_with_a_line);
    tcase_add_loop_test(all, wrong_fails, 0,
                        (int)(sizeof wrong / sizeof *wrong));
    tcase_add_test(all, stated_is_compared_in_bits);
    suite_add_tcase(suite, all);
    return run_suite(suite);
}
