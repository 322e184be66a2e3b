/* SPDX-License-Identifier: Apache-2.0
 *
 * The reference's steps lie within the a-priori bound of rounding around the
 * real number that the formula means (oracle_step_bound.c), and the bound is no
 * wider than it need be: some result comes within a tenth of it.
 */
#include <check.h>
#include <math.h>

#include "conformance/checks/numbers.h"
#include "conformance/checks/scratch.h"
#include "conformance/oracle/oracle_step_bound.h"
#include "formats/fp32.h"
#include "reference/optim/ref_step.h"
#include "reference/optim/ref_step_constants.h"

enum { N = 2000 };

typedef struct element {
    float theta, m, v, g;
} element;

/* Sizes of training, or (wide) of anything; cancellation is met by chance. */
static element make(ng_case *c, bool wide)
{
    const double size = exp2((wide ? 30 : 4) * ng_case_normal(c));
    const double theta = wide ? exp2(30 * ng_case_normal(c)) : 0.02;

    return (element){
        .theta = (float)(theta * ng_case_normal(c)),
        .m = (float)(size * ng_case_normal(c)),
        .v = (float)(size * size * fabs(ng_case_normal(c))),
        .g = (float)(size * ng_case_normal(c))};
}

/* How much of its bound a result uses; -1 if there is none. */
static double share(const ng_oracle_range *range, float got)
{
    mpfr_t off;
    double part = -1;

    ck_assert_msg(ng_oracle_within(range, got) != 0, "%a is out of bounds",
                  (double)got);
    if (!mpfr_number_p(range->error) || mpfr_zero_p(range->error))
        return part;
    mpfr_init2(off, 64);
    mpfr_set_flt(off, got, MPFR_RNDN);
    mpfr_sub(off, off, range->value, MPFR_RNDN);
    mpfr_div(off, off, range->error, MPFR_RNDN);
    part = fabs(mpfr_get_d(off, MPFR_RNDN));
    mpfr_clear(off);
    return part;
}

static void raise(double *most, double part)
{
    if (part > *most)
        *most = part;
}

static void run(ng_optimizer_kind kind, int step, bool wide)
{
    const bool adam = kind == NG_ADAM || kind == NG_ADAMW;
    ng_rules rules = ng_default_rules;
    const ng_optim_options options = {.rules = &rules};
    ng_hyper hyper = {.lr = 1e-3, .beta1 = 0.9, .beta2 = 0.999,
                      .momentum = 0.9, .eps = 1e-8, .weight_decay = 0.1};
    ng_case c = {.state = 77 + (uint64_t)kind};
    double most_theta = 0, most_m = 0, most_v = 0;
    ng_oracle_step_ranges want;
    ng_step_constants constants;
    ng_error error;
    int claims = 0;

    rules.step = step;
    ng_oracle_step_ranges_init(&want);
    for (int i = 0; i < N; i++) {
        const element x = make(&c, wide);
        element y = x;
        const ng_weights theta = {.dtype = NG_FP32, .low = &y.theta};
        const ng_state m = {.kind = NG_MOMENTUM, .data = &y.m};
        const ng_state v = {.kind = NG_VARIANCE, .data = &y.v};
        const ng_gradient g = {NG_FP32, &x.g, NULL};

        hyper.nesterov = i % 2 != 0;
        ck_assert_msg(ng_ref_step_constants(&constants, kind, &hyper,
                                            1 + (uint64_t)(i % 300), &options,
                                            &error) == NG_OK, "%s", error.text);
        ck_assert_int_eq(ng_ref_step(&theta, &m, &v, &g, 1, &constants,
                                     &options), NG_OK);
        ng_oracle_step_bound(&want, x.theta, x.m, x.v, x.g, &constants, step);
        claims += mpfr_number_p(want.theta.error) != 0;
        raise(&most_theta, share(&want.theta, y.theta));
        raise(&most_m, share(&want.m, y.m));
        if (adam)
            raise(&most_v, share(&want.v, y.v));
    }
    ng_oracle_step_ranges_clear(&want);
    ck_assert_int_gt(claims, N * 9 / 10);
    ck_assert_double_gt(most_theta, 0.1);
    ck_assert_double_gt(most_m, 0.1);
    if (adam)
        ck_assert_double_gt(most_v, 0.1);
}

START_TEST(within_the_bound)
{
    run((ng_optimizer_kind)(_i / 4), _i / 2 % 2, _i % 2 != 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("bounds of optimizer steps");
    TCase *tcase = tcase_create("bounds");

    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, within_the_bound, 0, 4 * NG_N_OPTIMIZERS);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
