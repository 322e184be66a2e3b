/* SPDX-License-Identifier: Apache-2.0
 *
 * Each call below is one operation of the table, exact and then rounded once.
 */
#include "conformance/oracle/oracle_step_row.h"

#include <stdlib.h>

#include "conformance/oracle/oracle_ieee.h"

#define FP32(x) MPFR_DECL_INIT(x, NG_ORACLE_FP32_BITS)

/* y = c * x and y = a * x + b * z, products and sum rounded by themselves. */
static void times(mpfr_ptr y, float c, mpfr_srcptr x)
{
    FP32(factor);

    mpfr_set_flt(factor, c, MPFR_RNDN);
    ng_oracle_mul(y, factor, x);
}

static void mix(mpfr_ptr y, float a, mpfr_srcptr x, float b, mpfr_srcptr z)
{
    FP32(left);
    FP32(right);

    times(left, a, x);
    times(right, b, z);
    ng_oracle_add(y, left, right);
}

/* g = g + (w*theta) */
static void l2_decay(const ng_oracle_row *row, const ng_step_constants *c)
{
    FP32(product);

    if (c->w == 0)
        return;
    times(product, c->w, row->theta);
    ng_oracle_add(row->g, row->g, product);
}

/* theta = d*theta */
static void decoupled_decay(const ng_oracle_row *row,
                            const ng_step_constants *c)
{
    if (c->d != 1)
        times(row->theta, c->d, row->theta);
}

/* theta = theta - (lr*u) */
static void descend(const ng_oracle_row *row, const ng_step_constants *c,
                    mpfr_srcptr u)
{
    FP32(move);

    times(move, c->lr, u);
    ng_oracle_sub(row->theta, row->theta, move);
}

/* m = (mu*m) + (cd*g); u = m, or g + (mu*m) */
static void sgd_update(mpfr_ptr u, const ng_oracle_row *row,
                       const ng_step_constants *c)
{
    if (c->mu == 0) {
        mpfr_set(u, row->g, MPFR_RNDN);
        return;
    }
    mix(row->m, c->mu, row->m, c->cd, row->g);
    if (c->nesterov) {
        times(u, c->mu, row->m);
        ng_oracle_add(u, row->g, u);
    } else {
        mpfr_set(u, row->m, MPFR_RNDN);
    }
}

/* m = (b1*m) + (c1*g); v = (b2*v) + (c2*(g*g)) and what theta loses:
 * ng          (al*m) / ((ka*r) + eps), r = sqrt(v)
 * flashoptim  (lr*(m/bc1)) / (sqrt(v/bc2) + eps) */
static void adam_update(mpfr_ptr u, const ng_oracle_row *row,
                        const ng_step_constants *c, int step)
{
    FP32(square);
    FP32(bc);
    FP32(below);

    mix(row->m, c->b1, row->m, c->c1, row->g);
    ng_oracle_mul(square, row->g, row->g);
    mix(row->v, c->b2, row->v, c->c2, square);
    if (step == NG_STEP_NG) {
        ng_oracle_sqrt(below, row->v);
        times(below, c->ka, below);
        times(u, c->al, row->m);
    } else {
        mpfr_set_flt(bc, c->bc2, MPFR_RNDN);
        ng_oracle_div(below, row->v, bc);
        ng_oracle_sqrt(below, below);
        mpfr_set_flt(bc, c->bc1, MPFR_RNDN);
        ng_oracle_div(u, row->m, bc);
        times(u, c->lr, u);
    }
    mpfr_set_flt(bc, c->eps, MPFR_RNDN);
    ng_oracle_add(below, below, bc);
    ng_oracle_div(u, u, below);
}

/* u = sign((b1*m) + (c1*g)), of zero +0; m = (b2*m) + (c2*g) of the old m */
static void lion_update(mpfr_ptr u, const ng_oracle_row *row,
                        const ng_step_constants *c, int step)
{
    mix(u, c->b1, row->m, c->c1, row->g);
    mix(row->m, c->b2, row->m, c->c2, row->g);
    if (!mpfr_nan_p(u))
        mpfr_set_si(u, mpfr_sgn(u), MPFR_RNDN);
    else if (step == NG_STEP_FLASHOPTIM)
        mpfr_set_zero(u, 1);
}

void ng_oracle_perform_row(const ng_oracle_row *row, const ng_step_constants *c,
                           int step)
{
    FP32(u);

    switch (c->kind) {
    case NG_SGD:
        l2_decay(row, c);
        sgd_update(u, row, c);
        descend(row, c, u);
        break;
    case NG_SGDW:
        sgd_update(u, row, c);
        decoupled_decay(row, c);
        descend(row, c, u);
        break;
    case NG_ADAM:
        l2_decay(row, c);
        adam_update(u, row, c, step);
        ng_oracle_sub(row->theta, row->theta, u);
        break;
    case NG_ADAMW:
        adam_update(u, row, c, step);
        decoupled_decay(row, c);
        ng_oracle_sub(row->theta, row->theta, u);
        break;
    case NG_LION:
        lion_update(u, row, c, step);
        decoupled_decay(row, c);
        descend(row, c, u);
        break;
    case NG_N_OPTIMIZERS:
        abort();
    }
}

bool ng_oracle_row_has_m(const ng_step_constants *c)
{
    return (c->kind != NG_SGD && c->kind != NG_SGDW) || c->mu != 0;
}

bool ng_oracle_row_has_v(const ng_step_constants *c)
{
    return c->kind == NG_ADAM || c->kind == NG_ADAMW;
}
