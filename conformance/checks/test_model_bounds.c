/* SPDX-License-Identifier: Apache-2.0
 *
 * The bounded operations of the reference backend against MPFR: the same
 * expression of the same inputs in 200 bits, and a bound derived before. u =
 * 2^-24 is the relative error of one rounding; terms of second order are
 * covered by the factor `slack`; `tiny` covers exponentials below exp(-87),
 * taken as 0.
 */
#include <mpfr.h>

#include "conformance/checks/model_fixture.h"
#include "reference/model/ref_exp.h"

static const ng_backend *b;
static const double u = 0x1p-24, slack = 1.001, tiny = 0x1p-120;

enum { BITS = 200 };

static void begin(void)
{
    fixture_at = 0;
    b = ng_backend_reference();
}

static void end(void)
{
    fixture_end();
    mpfr_free_cache();
}

/* |got - want| <= bound */
static void within(float got, mpfr_srcptr want, double bound, const char *what,
                   int64_t at)
{
    mpfr_t error;

    mpfr_init2(error, BITS);
    mpfr_sub_d(error, want, (double)got, MPFR_RNDN);
    ck_assert_msg(mpfr_cmp_d(error, bound * slack + tiny) <= 0
                      && mpfr_cmp_d(error, -bound * slack - tiny) >= 0
                      && !mpfr_nan_p(error),
                  "%s[%lld]: %a is %g off, bound %g", what, (long long)at,
                  (double)got, mpfr_get_d(error, MPFR_RNDN), bound);
    mpfr_clear(error);
}

/* An ulp of FP32 at a value. */
static double ulp(double x)
{
    int e;

    frexp(x, &e);
    return ldexp(1.0, (e < -125 ? -125 : e) - 24);
}

/* ---- exp and sigmoid: ulps, as ref_exp.h claims -------------------------- */

START_TEST(exponential)
{
    double worst = 0.0, worst_sigmoid = 0.0;
    int64_t met = 0;
    mpfr_t y, z;

    mpfr_init2(y, BITS);
    mpfr_init2(z, BITS);
    /* every sign, exponent and 7 bits of fraction, with two random tails */
    for (uint32_t i = 0; i < 0x20000; i++) {
        const float x = ng_fp32_from_bits(i >> 1 << 16 | (random_word() >> 16));
        double want;

        if (x != x) {
            ck_assert(ng_ref_exp(x) != ng_ref_exp(x));
            ck_assert(ng_ref_sigmoid(x) != ng_ref_sigmoid(x));
            continue;
        }
        if (x < -87.0f)
            ck_assert_float_eq(ng_ref_exp(x), 0.0f);
        /* the ends: log of the largest number is 88.7228 */
        if (x >= 88.73f)
            ck_assert(isinf(ng_ref_exp(x)) && ng_ref_sigmoid(-x) == 0.0f);
        if (x < -87.0f || x > 88.72f)
            continue;
        met++;
        mpfr_set_flt(y, x, MPFR_RNDN);
        mpfr_exp(y, y, MPFR_RNDN);
        want = mpfr_get_d(y, MPFR_RNDN);
        mpfr_sub_d(z, y, (double)ng_ref_exp(x), MPFR_RNDN);
        worst = fmax(worst, fabs(mpfr_get_d(z, MPFR_RNDN)) / ulp(want));
        /* 1 / (1 + 1/y) */
        mpfr_ui_div(y, 1, y, MPFR_RNDN);
        mpfr_add_ui(y, y, 1, MPFR_RNDN);
        mpfr_ui_div(y, 1, y, MPFR_RNDN);
        want = mpfr_get_d(y, MPFR_RNDN);
        mpfr_sub_d(z, y, (double)ng_ref_sigmoid(x), MPFR_RNDN);
        worst_sigmoid =
            fmax(worst_sigmoid, fabs(mpfr_get_d(z, MPFR_RNDN)) / ulp(want));
    }
    ck_assert_int_gt(met, 60000);
    ck_assert_msg(worst <= 2.0, "exp: %.3f ulps", worst);
    ck_assert_msg(worst > 0.5, "exp: only %.3f ulps: what was compared?",
                  worst);
    ck_assert_msg(worst_sigmoid <= 3.0, "sigmoid: %.3f ulps", worst_sigmoid);
    mpfr_clears(y, z, (mpfr_ptr)0);
}
END_TEST

/* ---- products of BF16: n u sum |a b| ------------------------------------- */

/* Row or column elements of a BF16 or FP32 array. */
static double at(const ng_array *x, int64_t i)
{
    return x->carrier == NG_CARRY_FP32
               ? (double)floats(x)[i]
               : (double)ng_fp32_from_bits(
                   (uint32_t)((const uint16_t *)x->data)[i] << 16);
}

/* What sum over p of x[i0 + p i1] w[j0 + p j1] may be, against `got`. */
static void check_dot(float got, const ng_array *x, int64_t i0, int64_t i1,
                      const ng_array *w, int64_t j0, int64_t j1, int64_t n,
                      const char *what)
{
    double sizes = 0.0;
    mpfr_t sum, p;

    mpfr_init2(sum, BITS);
    mpfr_init2(p, BITS);
    mpfr_set_zero(sum, 1);
    for (int64_t k = 0; k < n; k++) {
        mpfr_set_d(p, at(x, i0 + k * i1), MPFR_RNDN);
        mpfr_mul_d(p, p, at(w, j0 + k * j1), MPFR_RNDN);
        mpfr_add(sum, sum, p, MPFR_RNDN);
        sizes += fabs(mpfr_get_d(p, MPFR_RNDN));
    }
    within(got, sum, (double)n * u * sizes, what, i0);
    mpfr_clears(sum, p, (mpfr_ptr)0);
}

START_TEST(products)
{
    enum { T = 21, K = 150, N = 19 };
    const ng_carrier carrier = _i != 0 ? NG_CARRY_FP32 : NG_CARRY_BF16;
    const ng_array numbers[] = {random_matrix(T, K, 3.0),
                                random_matrix(N, K, 2.0),
                                random_matrix(T, N, 1.0)};
    const ng_array x = converted(carrier, &numbers[0], NULL);
    const ng_array w = converted(carrier, &numbers[1], NULL);
    const ng_array g = converted(carrier, &numbers[2], NULL);
    const ng_array y = matrix_of(NG_CARRY_FP32, T, N);
    const ng_array gx = matrix_of(NG_CARRY_FP32, T, K);
    const ng_array gw = matrix_of(NG_CARRY_FP32, N, K);

    ck_assert_int_eq(b->linear(b->context, &y, &x, &w, NULL), NG_OK);
    ck_assert_int_eq(b->linear_backward(b->context, &gx, &g, &w, NULL, NULL),
                     NG_OK);
    ck_assert_int_eq(b->linear_weight(b->context, &gw, &g, &x, NULL, false),
                     NG_OK);
    for (int64_t t = 0; t < T; t++)
        for (int64_t n = 0; n < N; n++)
            check_dot(floats(&y)[t * N + n], &x, t * K, 1, &w, n * K, 1, K,
                      "forward");
    for (int64_t t = 0; t < T; t++)
        for (int64_t k = 0; k < K; k++)
            check_dot(floats(&gx)[t * K + k], &g, t * N, 1, &w, k, K, N,
                      "backward");
    for (int64_t n = 0; n < N; n++)
        for (int64_t k = 0; k < K; k++)
            check_dot(floats(&gw)[n * K + k], &g, n, N, &x, k, K, T, "weight");
}
END_TEST

/* ---- norm: r has 3u (the mean's rounding and eps's addition halved by the
 * root, the root, the division), y two products more; FP64 sums add less than u
 * / 2^20. 6u with room for what is of second order. */

START_TEST(rmsnorm)
{
    enum { T = 9, H = 77 };
    const ng_array x = random_matrix(T, H, 2.0), w = random_matrix(1, H, 1.5);
    const ng_array y = matrix_of(NG_CARRY_FP32, T, H);
    const float eps = 1e-5f;
    mpfr_t r, p;

    mpfr_init2(r, BITS);
    mpfr_init2(p, BITS);
    ck_assert_int_eq(b->rmsnorm(b->context, &y, &x, &w, eps), NG_OK);
    for (int64_t t = 0; t < T; t++) {
        mpfr_set_zero(r, 1);
        for (int64_t i = 0; i < H; i++) {
            mpfr_set_d(p, at(&x, t * H + i), MPFR_RNDN);
            mpfr_sqr(p, p, MPFR_RNDN);
            mpfr_add(r, r, p, MPFR_RNDN);
        }
        mpfr_div_ui(r, r, H, MPFR_RNDN);
        mpfr_add_d(r, r, (double)eps, MPFR_RNDN);
        mpfr_rec_sqrt(r, r, MPFR_RNDN);
        for (int64_t i = 0; i < H; i++) {
            mpfr_mul_d(p, r, at(&x, t * H + i), MPFR_RNDN);
            mpfr_mul_d(p, p, at(&w, i), MPFR_RNDN);
            within(floats(&y)[t * H + i], p,
                   6.0 * u * fabs(mpfr_get_d(p, MPFR_RNDN)), "rmsnorm",
                   t * H + i);
        }
    }
    mpfr_clears(r, p, (mpfr_ptr)0);
}
END_TEST

/* ---- attention. A score s = scale q.k is off by d = (n + 1) u scale sum |q
 * k|, n = qk; e = exp(s - m) by eta = d + u |s - m| + 4u relatively (2 ulps are
 * 4u), where m is the same number for all; sums of i + 1 terms add (i + 1) u
 * each, the products with v and the division 2u: |y - y'| <= (2 eta + (2 i + 4)
 * u) sum p |v|. lse: d of the largest, eta, (i + 1) u, and its own rounding. */

START_TEST(attention)
{
    enum { L = 13, D = 24, V = 8 };
    const ng_attention_shape shape = {1, L, 1, 1, D, V, 0.75f};
    const ng_array q = random_matrix(L, D, 2.0), k = random_matrix(L, D, 2.0);
    const ng_array v = random_matrix(L, V, 1.0);
    const ng_array y = matrix_of(NG_CARRY_FP32, L, V);
    const ng_array lse = matrix_of(NG_CARRY_FP32, L, 1);
    mpfr_t s[L], sum, out, p;

    for (int j = 0; j < L; j++)
        mpfr_init2(s[j], BITS);
    mpfr_inits2(BITS, sum, out, p, (mpfr_ptr)0);
    ck_assert_int_eq(b->attention(b->context, &y, &lse, &q, &k, &v, &shape),
                     NG_OK);
    for (int64_t i = 0; i < L; i++) {
        double d = 0.0, largest = -INFINITY, least = INFINITY, eta;

        mpfr_set_zero(sum, 1);
        for (int64_t j = 0; j <= i; j++) {
            double sizes = 0.0;

            mpfr_set_zero(s[j], 1);
            for (int64_t c = 0; c < D; c++) {
                mpfr_set_d(p, at(&q, i * D + c), MPFR_RNDN);
                mpfr_mul_d(p, p, at(&k, j * D + c), MPFR_RNDN);
                sizes += fabs(mpfr_get_d(p, MPFR_RNDN));
                mpfr_add(s[j], s[j], p, MPFR_RNDN);
            }
            mpfr_mul_d(s[j], s[j], (double)shape.scale, MPFR_RNDN);
            d = fmax(d, (D + 1) * u * (double)shape.scale * sizes);
            largest = fmax(largest, mpfr_get_d(s[j], MPFR_RNDN));
            least = fmin(least, mpfr_get_d(s[j], MPFR_RNDN));
            mpfr_exp(s[j], s[j], MPFR_RNDN);
            mpfr_add(sum, sum, s[j], MPFR_RNDN);
        }
        eta = d + u * (largest - least) + 4.0 * u;
        for (int64_t c = 0; c < V; c++) {
            double sizes = 0.0;

            mpfr_set_zero(out, 1);
            for (int64_t j = 0; j <= i; j++) {
                mpfr_div(p, s[j], sum, MPFR_RNDN);
                mpfr_mul_d(p, p, at(&v, j * V + c), MPFR_RNDN);
                sizes += fabs(mpfr_get_d(p, MPFR_RNDN));
                mpfr_add(out, out, p, MPFR_RNDN);
            }
            within(floats(&y)[i * V + c], out,
                   (2.0 * eta + (double)(2 * i + 4) * u) * sizes, "attention",
                   i * V + c);
        }
        mpfr_log(p, sum, MPFR_RNDN);
        within(floats(&lse)[i], p,
               2.0 * d + eta + (double)(i + 1) * u
                   + u * fabs(mpfr_get_d(p, MPFR_RNDN)),
               "lse", i);
    }
    for (int j = 0; j < L; j++)
        mpfr_clear(s[j]);
    mpfr_clears(sum, out, p, (mpfr_ptr)0);
}
END_TEST

/* ---- SwiGLU: sigmoid's 3 ulps are 6u, two products: 8u ------------------- */

START_TEST(swiglu)
{
    enum { T = 30, F = 17 };
    const ng_array x = random_matrix(T, 2 * F, 8.0);
    const ng_array y = matrix_of(NG_CARRY_FP32, T, F);
    mpfr_t p, s;

    mpfr_inits2(BITS, p, s, (mpfr_ptr)0);
    ck_assert_int_eq(b->swiglu(b->context, &y, &x, NULL, NULL, NULL), NG_OK);
    for (int64_t t = 0; t < T; t++)
        for (int64_t i = 0; i < F; i++) {
            mpfr_set_d(p, at(&x, t * 2 * F + i), MPFR_RNDN);
            mpfr_neg(s, p, MPFR_RNDN);
            mpfr_exp(s, s, MPFR_RNDN);
            mpfr_add_ui(s, s, 1, MPFR_RNDN);
            mpfr_div(p, p, s, MPFR_RNDN);
            mpfr_mul_d(p, p, at(&x, t * 2 * F + F + i), MPFR_RNDN);
            within(floats(&y)[t * F + i], p,
                   8.0 * u * fabs(mpfr_get_d(p, MPFR_RNDN)), "swiglu",
                   t * F + i);
        }
    mpfr_clears(p, s, (mpfr_ptr)0);
}
END_TEST

/* ---- scores of the router: sigmoid 3 ulps; softmax: e is off by eta = u |l -
 * m| + 4u, the sum by eta and E u, the division by u */

START_TEST(scores)
{
    enum { T = 25, E = 11 };
    const ng_router_shape shape = {.experts = E,
                                   .top_k = 2,
                                   .n_groups = 1,
                                   .top_groups = 1,
                                   .softmax = _i != 0,
                                   .route_scale = 1.0f};
    const ng_array l = random_matrix(T, E, 6.0);
    const ng_array s = matrix_of(NG_CARRY_FP32, T, E);
    const ng_array w = matrix_of(NG_CARRY_FP32, T, 2);
    int32_t expert[2 * T];
    int64_t load[E] = {0}, nan_rows = 0;
    mpfr_t p, sum;

    mpfr_inits2(BITS, p, sum, (mpfr_ptr)0);
    ck_assert_int_eq(b->router(b->context, &s, expert, &w, load, &nan_rows,
                               NULL, &l, NULL, &shape),
                     NG_OK);
    for (int64_t t = 0; t < T; t++) {
        mpfr_set_zero(sum, 1);
        for (int64_t e = 0; e < E; e++) {
            mpfr_set_d(p, at(&l, t * E + e), MPFR_RNDN);
            mpfr_exp(p, p, MPFR_RNDN);
            mpfr_add(sum, sum, p, MPFR_RNDN);
        }
        for (int64_t e = 0; e < E; e++) {
            double want;

            mpfr_set_d(p, at(&l, t * E + e), MPFR_RNDN);
            mpfr_exp(p, p, MPFR_RNDN);
            if (shape.softmax) {
                mpfr_div(p, p, sum, MPFR_RNDN);
            } else {
                mpfr_ui_div(p, 1, p, MPFR_RNDN);
                mpfr_add_ui(p, p, 1, MPFR_RNDN);
                mpfr_ui_div(p, 1, p, MPFR_RNDN);
            }
            want = mpfr_get_d(p, MPFR_RNDN);
            within(floats(&s)[t * E + e], p,
                   shape.softmax ? want * u * (2.0 * (12.0 + 4.0) + E + 1.0)
                                 : 3.0 * ulp(want),
                   "score", t * E + e);
        }
    }
    mpfr_clears(p, sum, (mpfr_ptr)0);
}
END_TEST

/* ---- loss: with eta as above, FP64 sums: |loss error| <= eta; gradient: scale
 * * p relative 2 eta + 3u, minus scale once more rounded: u * scale */

START_TEST(cross_entropy)
{
    enum { T = 14, V = 50 };
    const ng_array z = random_matrix(T, V, 5.0);
    const ng_array g = matrix_of(NG_CARRY_FP32, T, V);
    const float scale = 0.125f;
    const double eta = u * 10.0 + 4.0 * u;
    int32_t targets[T];
    double loss = 0.0;
    int64_t n = 0;
    mpfr_t p, sum, total;

    for (int t = 0; t < T; t++)
        targets[t] = (t * 7) % V;
    mpfr_inits2(BITS, p, sum, total, (mpfr_ptr)0);
    ck_assert_int_eq(
        b->cross_entropy(b->context, &loss, &n, &g, &z, targets, scale), NG_OK);
    mpfr_set_zero(total, 1);
    for (int64_t t = 0; t < T; t++) {
        mpfr_set_zero(sum, 1);
        for (int64_t i = 0; i < V; i++) {
            mpfr_set_d(p, at(&z, t * V + i), MPFR_RNDN);
            mpfr_exp(p, p, MPFR_RNDN);
            mpfr_add(sum, sum, p, MPFR_RNDN);
        }
        mpfr_log(p, sum, MPFR_RNDN);
        mpfr_sub_d(p, p, at(&z, t * V + targets[t]), MPFR_RNDN);
        mpfr_add(total, total, p, MPFR_RNDN);
        for (int64_t i = 0; i < V; i++) {
            double share;

            mpfr_set_d(p, at(&z, t * V + i), MPFR_RNDN);
            mpfr_exp(p, p, MPFR_RNDN);
            mpfr_div(p, p, sum, MPFR_RNDN);
            share = mpfr_get_d(p, MPFR_RNDN);
            if (i == targets[t])
                mpfr_sub_ui(p, p, 1, MPFR_RNDN);
            mpfr_mul_d(p, p, (double)scale, MPFR_RNDN);
            within(floats(&g)[t * V + i], p,
                   (double)scale
                       * ((2.0 * eta + 3.0 * u) * share
                          + (i == targets[t] ? u : 0.0)),
                   "gradient", t * V + i);
        }
    }
    mpfr_sub_d(total, total, loss, MPFR_RNDN);
    ck_assert_double_le(fabs(mpfr_get_d(total, MPFR_RNDN)), T * eta * slack);
    mpfr_clears(p, sum, total, (mpfr_ptr)0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("model, bounds");
    TCase *tcase = tcase_create("bounds");

    tcase_add_checked_fixture(tcase, begin, end);
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, exponential);
    tcase_add_loop_test(tcase, products, 0, 2);
    tcase_add_test(tcase, rmsnorm);
    tcase_add_test(tcase, attention);
    tcase_add_test(tcase, swiglu);
    tcase_add_loop_test(tcase, scores, 0, 2);
    tcase_add_test(tcase, cross_entropy);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
