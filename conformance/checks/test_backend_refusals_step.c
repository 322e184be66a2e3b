/* SPDX-License-Identifier: Apache-2.0
 *
 * What the loss and the step of the backend refuse, and that no targets are legal.
 * And the carriers by name.
 */
#include "conformance/checks/backend_refusals.h"
#include "reference/optim/ref_step_constants.h"

/* ---- loss ---------------------------------------------------------------- */

static void good_entropy(void)
{
    OUTPUTS(fp32(4, 8));
    c.in[0] = numbers(4, 8);
    c.choice[1] = 7;
    c.choice[2] = -1;
}

static ng_status call_entropy(void)
{
    return b->cross_entropy(b->context, &c.sum, &c.n, &c.out[0], &c.in[0],
                            c.choice, 1.0f);
}

START_TEST(losses)
{
    static const operation entropy = {"cross_entropy", good_entropy,
                                      call_entropy};
    double loss = 3.0;
    int64_t n = 5;

    TAKES(&entropy);
    SHAPES(&entropy, out, 1);
    REFUSES(&entropy, NG_BAD_VALUE, c.choice[3] = 8);
    CARRIERS(&entropy, out, 1, NG_CARRY_FP8);
    CARRIERS(&entropy, in, 1, NG_CARRY_MXFP4);
    /* no targets, no gradient asked for: nothing is added */
    start(&entropy);
    for (int t = 0; t < 4; t++)
        c.choice[t] = -1;
    ck_assert_int_eq(
        b->cross_entropy(b->context, &loss, &n, NULL, &c.in[0], c.choice, 1.0f),
        NG_OK);
    ck_assert_double_eq(loss, 3.0);
    ck_assert_int_eq(n, 5);
}
END_TEST

/* ---- the step, and names ------------------------------------------------- */

/* One step of plain descent through the table: theta - lr g, by hand. */
START_TEST(step)
{
    const ng_hyper hyper = {.lr = 0.5};
    float low[4] = {1.0f, -2.0f, 3.0f, 0.0f};
    float gradient[4] = {1.0f, 1.0f, -2.0f, 0.25f};
    static const float want[4] = {0.5f, -2.5f, 4.0f, -0.125f};
    const ng_weights theta = {.low = low, .dtype = NG_FP32};
    const ng_gradient g = {.data = gradient, .dtype = NG_FP32};
    ng_step_constants constants;

    ck_assert_int_eq(
        ng_ref_step_constants(&constants, NG_SGD, &hyper, 1, NULL, NULL),
        NG_OK);
    ck_assert_int_eq(
        b->step(b->context, &theta, NULL, NULL, &g, 4, &constants, NULL, NULL),
        NG_OK);
    for (int i = 0; i < 4; i++)
        ck_assert_float_eq(low[i], want[i]);
    ck_assert_int_eq(
        b->step(b->context, &theta, NULL, NULL, &g, -1, &constants, NULL, NULL),
        NG_BAD_SHAPE);
    for (int i = 0; i < 4; i++)
        ck_assert_float_eq(low[i], want[i]);
}
END_TEST

START_TEST(names)
{
    ng_carrier carrier = NG_CARRY_FP8;

    for (int i = 0; i < NG_N_CARRIERS; i++) {
        ck_assert(ng_carrier_find(ng_carrier_name((ng_carrier)i), &carrier));
        ck_assert_int_eq(carrier, i);
    }
    ck_assert(!ng_carrier_find("FP8", &carrier)
              && !ng_carrier_find("", &carrier));
    ck_assert_int_eq(carrier, NG_N_CARRIERS - 1);
    ck_assert_ptr_null(b->alloc(b->context, -1));
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("step");

    tcase_add_test(tcase, losses);
    tcase_add_test(tcase, step);
    tcase_add_test(tcase, names);
    return run_refusals(tcase);
}
