/* SPDX-License-Identifier: Apache-2.0
 *
 * A row's bound is that of its operations (oracle_range.c), composed. To first
 * order, far from underflow, with u = 2^-24: m errs by u (|b1 m| + |c1 g| +
 * |m|), the last m being the new one; v, a sum of what is not negative, by 3 u
 * v (three roundings at most on a path); sqrt(v) then by 2.5 u, ka sqrt(v)
 * by 3.5 u, the denominator D by 4.5 u of itself; so AdamW's update U = al m /
 * D by 6.5 u |U| + (al / D) times the error of m (the product, D and the
 * quotient: 1 + 4.5 + 1), and theta by that + u (|d theta| + |theta|).
 */
#include "conformance/oracle/oracle_step_bound.h"

typedef struct row {
    ng_oracle_range theta, m, v, g, u, a, b;
} row;

static void times(ng_oracle_range *y, float c, const ng_oracle_range *x)
{
    ng_oracle_range factor;

    ng_oracle_range_init(&factor);
    ng_oracle_range_set(&factor, c);
    ng_oracle_range_product(y, &factor, x);
    ng_oracle_range_clear(&factor);
}

/* y = a*x + b*z; y may be x. */
static void mix(row *r, ng_oracle_range *y, float a, const ng_oracle_range *x,
                float b, const ng_oracle_range *z)
{
    times(&r->a, a, x);
    times(&r->b, b, z);
    ng_oracle_range_sum(y, &r->a, &r->b, false);
}

static void sgd(row *r, const ng_step_constants *c)
{
    if (c->mu == 0) {
        ng_oracle_range_copy(&r->u, &r->g);
        return;
    }
    mix(r, &r->m, c->mu, &r->m, c->cd, &r->g);
    ng_oracle_range_copy(&r->u, &r->m);
    if (c->nesterov) {
        times(&r->a, c->mu, &r->m);
        ng_oracle_range_sum(&r->u, &r->g, &r->a, false);
    }
}

/* What theta loses, in u. */
static void adam(row *r, const ng_step_constants *c, int step)
{
    ng_oracle_range other;

    ng_oracle_range_init(&other);
    mix(r, &r->m, c->b1, &r->m, c->c1, &r->g);
    ng_oracle_range_product(&other, &r->g, &r->g);
    mix(r, &r->v, c->b2, &r->v, c->c2, &other);
    if (step == NG_STEP_NG) {
        ng_oracle_range_root(&r->b, &r->v);
        times(&r->b, c->ka, &r->b);
        times(&r->a, c->al, &r->m);
    } else {
        ng_oracle_range_set(&other, c->bc2);
        ng_oracle_range_quotient(&r->b, &r->v, &other);
        ng_oracle_range_root(&r->b, &r->b);
        ng_oracle_range_set(&other, c->bc1);
        ng_oracle_range_quotient(&r->a, &r->m, &other);
        times(&r->a, c->lr, &r->a);
    }
    ng_oracle_range_set(&other, c->eps);
    ng_oracle_range_sum(&r->b, &r->b, &other, false);
    ng_oracle_range_quotient(&r->u, &r->a, &r->b);
    ng_oracle_range_clear(&other);
}

static void perform(row *r, const ng_step_constants *c, int step)
{
    const bool is_adam = c->kind == NG_ADAM || c->kind == NG_ADAMW;

    if (c->w != 0) {
        times(&r->a, c->w, &r->theta);
        ng_oracle_range_sum(&r->g, &r->g, &r->a, false);
    }
    if (is_adam) {
        adam(r, c, step);
    } else if (c->kind == NG_LION) {
        mix(r, &r->u, c->b1, &r->m, c->c1, &r->g);
        ng_oracle_range_sign(&r->u, &r->u);
        mix(r, &r->m, c->b2, &r->m, c->c2, &r->g);
    } else {
        sgd(r, c);
    }
    if (c->d != 1)
        times(&r->theta, c->d, &r->theta);
    if (!is_adam)
        times(&r->u, c->lr, &r->u);
    ng_oracle_range_sum(&r->theta, &r->theta, &r->u, true);
}

void ng_oracle_step_ranges_init(ng_oracle_step_ranges *y)
{
    ng_oracle_range_init(&y->theta);
    ng_oracle_range_init(&y->m);
    ng_oracle_range_init(&y->v);
}

void ng_oracle_step_ranges_clear(ng_oracle_step_ranges *y)
{
    ng_oracle_range_clear(&y->theta);
    ng_oracle_range_clear(&y->m);
    ng_oracle_range_clear(&y->v);
}

void ng_oracle_step_bound(ng_oracle_step_ranges *y, float theta, float m,
                          float v, float g, const ng_step_constants *c,
                          int step)
{
    row r;
    ng_oracle_range *const all[] = {&r.theta, &r.m, &r.v, &r.g,
                                    &r.u,     &r.a, &r.b};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ng_oracle_range_init(all[i]);
    ng_oracle_range_set(&r.theta, theta);
    ng_oracle_range_set(&r.m, m);
    ng_oracle_range_set(&r.v, v);
    ng_oracle_range_set(&r.g, g);
    perform(&r, c, step);
    ng_oracle_range_copy(&y->theta, &r.theta);
    ng_oracle_range_copy(&y->m, &r.m);
    ng_oracle_range_copy(&y->v, &r.v);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ng_oracle_range_clear(all[i]);
}
