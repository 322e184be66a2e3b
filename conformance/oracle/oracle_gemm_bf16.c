/* SPDX-License-Identifier: Apache-2.0
 *
 * The bound. Products of BF16 numbers are exact. What is allowed to a sum of n
 * of them, W the sum of their magnitudes and u = 2^-23:
 *   - FP32 additions in any order, each rounded or cut to FP32: off by less
 *     than u of the largest partial sum, or 2^-149 where that is subnormal;
 *   - or, as tensor cores add, m products and an accumulator at a time, each
 *     term cut at u of the largest of them, added exactly, the sum cut to FP32:
 *     m + 2 cuts, each less than u of a magnitude that is at most the largest
 *     partial sum of magnitudes.
 * With 16 products an instruction, the fewest of any, or one at a time, at most
 * r = n + 2 ceil(n / 16) + 2 such losses add up, each of at most u (1 + g) W or
 * 2^-149, where g = r u / (1 - r u) bounds what the losses add to the partial
 * sums themselves: |acc - exact| <= g W + r 2^-149. C adds 2^-24 of the result,
 * BF16 at last 2^-8 of the largest result allowed, or 2^-134. Where W + |C|
 * could pass 2^128 a partial sum may overflow: nothing is claimed. A NaN among
 * the operands, an infinity times zero and infinities of both signs give NaN in
 * any order; infinities of one sign give that one where the finite rest cannot
 * overflow.
 */
#include "conformance/oracle/oracle_gemm_bf16.h"

#include <math.h>
#include <mpfr.h>

#include "conformance/oracle/oracle_gemm_element.h"
#include "conformance/oracle/oracle_ieee.h"
#include "conformance/oracle/oracle_range.h"
#include "conformance/oracle/oracle_round.h"
#include "conformance/oracle/oracle_view.h"

/* Sums of products without loss: from 2^(2 * 128 + 40) down to 2^(-2 * 133). */
enum { EXACT_BITS = 640 };

/* One element of D: n products, elements (row_a + i * down, col_a + i * across)
 * of a, and so of b. */
typedef struct element {
    const ng_matrix *a, *b, *d, *c;
    int64_t row_a, col_a, row_b, col_b;
    int64_t down, across, n;
    int64_t row, col; /* of d and c */
} element;

static void load(mpfr_ptr a, mpfr_ptr b, const element *x, int64_t i)
{
    ng_oracle_load(a, x->a, x->row_a + i * x->down, x->col_a + i * x->across);
    ng_oracle_load(b, x->b, x->row_b + i * x->down, x->col_b + i * x->across);
}

/* The stated order: acc = fma(a, b, acc). */
static void perform(const element *x, const ng_options *options)
{
    MPFR_DECL_INIT(a, NG_ORACLE_FP32_BITS);
    MPFR_DECL_INIT(b, NG_ORACLE_FP32_BITS);
    MPFR_DECL_INIT(acc, NG_ORACLE_FP32_BITS);
    MPFR_DECL_INIT(product, NG_ORACLE_BITS);

    mpfr_set_zero(acc, 1);
    for (int64_t i = 0; i < x->n; i++) {
        load(a, b, x, i);
        mpfr_mul(product, a, b, MPFR_RNDN);
        ng_oracle_add(acc, product, acc);
    }
    ng_oracle_gemm_store(acc, x->d, x->c, x->row, x->col, options);
}

typedef struct sums {
    double magnitude; /* W, of the finite products */
    bool nan, plus, minus;
} sums;

/* Add a term to the exact sum, or note what it is. */
static void add_term(mpfr_ptr exact, sums *t, mpfr_srcptr term)
{
    if (mpfr_nan_p(term)) {
        t->nan = true;
    } else if (mpfr_inf_p(term)) {
        t->plus = t->plus || mpfr_sgn(term) > 0;
        t->minus = t->minus || mpfr_sgn(term) < 0;
    } else {
        t->magnitude += fabs(mpfr_get_d(term, MPFR_RNDA));
        ng_oracle_require_exact(mpfr_add(exact, exact, term, MPFR_RNDN));
    }
}

static void set_bound(const element *x, double *exact, double *bound)
{
    MPFR_DECL_INIT(a, NG_ORACLE_FP32_BITS);
    MPFR_DECL_INIT(b, NG_ORACLE_FP32_BITS);
    MPFR_DECL_INIT(product, NG_ORACLE_BITS);
    MPFR_DECL_INIT(sum, EXACT_BITS);
    const double r = (double)(x->n + 2 * ng_oracle_blocks(x->n, 16) + 2);
    const double g = r * 0x1p-23 / (1 - r * 0x1p-23);
    sums t = {.magnitude = 0};

    mpfr_set_zero(sum, 1);
    for (int64_t i = 0; i < x->n; i++) {
        load(a, b, x, i);
        mpfr_mul(product, a, b, MPFR_RNDN);
        add_term(sum, &t, product);
    }

    const double products = t.magnitude;

    if (x->c != NULL) {
        ng_oracle_load(a, x->c, x->row, x->col);
        add_term(sum, &t, a);
    }
    *bound = 0;
    *exact = (double)NAN;
    if (t.nan || (t.plus && t.minus))
        return;
    if (t.magnitude >= 0x1p128 * (1 - 2 * g)) {
        *bound = (double)INFINITY;
        return;
    }
    if (t.plus || t.minus) {
        *exact = t.plus ? (double)INFINITY : -(double)INFINITY;
        return;
    }
    *exact = mpfr_get_d(sum, MPFR_RNDN);
    if (x->n == 0 && x->c == NULL)
        return; /* +0, exactly */

    double error = g * products + r * 0x1p-149;

    if (x->c != NULL)
        error += 0x1p-24 * (fabs(*exact) + error);
    if (x->d->dtype == NG_BF16)
        error += fmax(0x1p-8 * (fabs(*exact) + error), 0x1p-134);
    *bound = error * (1 + 0x1p-40) + 0x1p-52 * fabs(*exact);
}

static void do_element(const element *x, const ng_options *options,
                       const ng_bounds *bounds)
{
    const int64_t i = x->row * x->d->cols + x->col;

    if (bounds == NULL)
        perform(x, options);
    else
        set_bound(x, &bounds->exact[i], &bounds->bound[i]);
}

static int64_t groups_in(const ng_options *options)
{
    return options->groups != NULL ? options->groups->n_groups : 1;
}

/* The row at which group g begins, and the one before ends. */
static int64_t edge(const ng_options *options, int64_t g, int64_t rows)
{
    return options->groups != NULL ? options->groups->offsets[g]
           : g == 0                ? 0
                                   : rows;
}

static bool is_output(ng_dtype dtype)
{
    return dtype == NG_FP32 || dtype == NG_BF16;
}

ng_status ng_oracle_grouped_gemm_bf16_fprop(const ng_matrix *d,
                                            const ng_matrix *a,
                                            const ng_matrix *b,
                                            const ng_options *options,
                                            const ng_bounds *bounds)
{
    const ng_options o = ng_oracle_options(options);

    if (!ng_oracle_groups_legal(&o, a->rows))
        return NG_BAD_GROUPS;
    if (d->rows != a->rows || b->cols != a->cols
        || b->rows != groups_in(&o) * d->cols)
        return NG_BAD_SHAPE;
    if (!is_output(d->dtype) || a->dtype != NG_BF16 || b->dtype != NG_BF16)
        return NG_BAD_DTYPE;
    for (int64_t g = 0; g < groups_in(&o); g++)
        for (int64_t t = edge(&o, g, a->rows); t < edge(&o, g + 1, a->rows);
             t++)
            for (int64_t n = 0; n < d->cols; n++) {
                const element x = {.a = a,
                                   .b = b,
                                   .d = d,
                                   .row_a = t,
                                   .row_b = g * d->cols + n,
                                   .across = 1,
                                   .n = a->cols,
                                   .row = t,
                                   .col = n};

                do_element(&x, &o, bounds);
            }
    return NG_OK;
}

ng_status ng_oracle_grouped_gemm_bf16_wgrad(
    const ng_matrix *d, const ng_matrix *c, const ng_matrix *a,
    const ng_matrix *b, const ng_options *options, const ng_bounds *bounds)
{
    const ng_options o = ng_oracle_options(options);

    if (!ng_oracle_groups_legal(&o, a->rows))
        return NG_BAD_GROUPS;
    if (a->rows != b->rows || d->cols != b->cols
        || d->rows != groups_in(&o) * a->cols
        || (c != NULL && (c->rows != d->rows || c->cols != d->cols)))
        return NG_BAD_SHAPE;
    if (!is_output(d->dtype) || a->dtype != NG_BF16 || b->dtype != NG_BF16
        || (c != NULL && c->dtype != d->dtype))
        return NG_BAD_DTYPE;
    for (int64_t i = 0; i < d->rows; i++) {
        const int64_t g = i / a->cols, first = edge(&o, g, a->rows);

        for (int64_t k = 0; k < d->cols; k++) {
            const element x = {.a = a,
                               .b = b,
                               .d = d,
                               .c = c,
                               .row_a = first,
                               .col_a = i % a->cols,
                               .row_b = first,
                               .col_b = k,
                               .down = 1,
                               .n = edge(&o, g + 1, a->rows) - first,
                               .row = i,
                               .col = k};

            if (x.n == 0)
                ng_oracle_gemm_empty(d, c, i, k, bounds);
            else
                do_element(&x, &o, bounds);
        }
    }
    return NG_OK;
}
