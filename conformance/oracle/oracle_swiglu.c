/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/oracle/oracle_swiglu.h"

#include <math.h>
#include <mpfr.h>

#include "conformance/oracle/oracle_encode.h"
#include "conformance/oracle/oracle_format.h"
#include "conformance/oracle/oracle_ieee.h"
#include "conformance/oracle/oracle_view.h"
#include "formats/fp32.h"

/* s, silu(x) and s (1 + x (1 - s)) to far beyond FP64's digits. */
enum { BITS = 160 };

static void load(mpfr_ptr v, uint16_t code)
{
    ng_oracle_value(v, NG_FORMAT_BF16, code);
}

/* 1 / (1 + exp(-x)), of -x if minus is -1. */
static void logistic(mpfr_ptr s, mpfr_srcptr x, int minus)
{
    mpfr_mul_si(s, x, -minus, MPFR_RNDN);
    mpfr_exp(s, s, MPFR_RNDN);
    mpfr_add_ui(s, s, 1, MPFR_RNDN);
    mpfr_ui_div(s, 1, s, MPFR_RNDN);
}

static void silu(mpfr_ptr y, mpfr_srcptr x)
{
    mpfr_neg(y, x, MPFR_RNDN);
    mpfr_exp(y, y, MPFR_RNDN);
    mpfr_add_ui(y, y, 1, MPFR_RNDN);
    mpfr_div(y, x, y, MPFR_RNDN);
}

/* s (1 + x (1 - s)); *magnitude gets s (1 + |x| (1 - s)). */
static void slope(mpfr_ptr y, double *magnitude, mpfr_srcptr x)
{
    mpfr_t s, rest;

    mpfr_inits2(BITS, s, rest, (mpfr_ptr)NULL);
    logistic(s, x, 1);
    logistic(rest, x, -1);
    mpfr_mul(y, x, rest, MPFR_RNDN);
    mpfr_abs(rest, y, MPFR_RNDN);
    mpfr_add_ui(rest, rest, 1, MPFR_RNDN);
    mpfr_mul(rest, rest, s, MPFR_RNDN);
    *magnitude = mpfr_get_d(rest, MPFR_RNDU);
    mpfr_add_ui(y, y, 1, MPFR_RNDN);
    mpfr_mul(y, y, s, MPFR_RNDN);
    mpfr_clears(s, rest, (mpfr_ptr)NULL);
}

/* Where exp(-x) passes FP32: below, s may be taken for 0. */
static const double flush = -88.7;

static double rounded(double error, double exact, ng_dtype out)
{
    const double fp64 = 0x1p-52 * fabs(exact);

    error += fp64;
    return out == NG_FP32 ? error
                          : error + 0x1p-8 * (fabs(exact) + error) + 0x1p-134;
}

/* a * silu(x), with the bound of y; a is up or grad_y. */
static ng_oracle_bounded times_silu(uint16_t gate, uint16_t a, ng_dtype out)
{
    ng_oracle_bounded y;
    mpfr_t x, f, product;

    mpfr_inits2(BITS, x, f, product, (mpfr_ptr)NULL);
    load(x, gate);
    load(f, a);
    silu(product, x);
    mpfr_mul(product, product, f, MPFR_RNDN);
    y.exact = mpfr_get_d(product, MPFR_RNDN);

    const double gate_value = mpfr_get_d(x, MPFR_RNDN);
    const double factor = mpfr_get_d(f, MPFR_RNDN);
    const double exact = fabs(y.exact), size = fabs(gate_value);

    if (isinf(factor) && gate_value < flush && !isinf(gate_value))
        y.bound = (double)INFINITY; /* NaN if s is 0, else infinite */
    else if (isnan(y.exact) || isinf(factor) || isinf(gate_value)
             || gate_value == 0 || factor == 0)
        y.bound = 0;
    else
        y.bound = rounded((12 + 2 * size) * 0x1p-24 * exact
                              + (gate_value < flush ? exact : 0)
                              + 0x1p-149 * (1 + size) * (1 + fabs(factor)),
                          exact, out);
    mpfr_clears(x, f, product, (mpfr_ptr)NULL);
    return y;
}

ng_oracle_bounded ng_oracle_swiglu_element(uint16_t gate, uint16_t up,
                                           ng_dtype out)
{
    return times_silu(gate, up, out);
}

ng_oracle_bounded ng_oracle_swiglu_grad_up(uint16_t grad, uint16_t gate,
                                           ng_dtype out)
{
    return times_silu(gate, grad, out);
}

ng_oracle_bounded ng_oracle_swiglu_grad_gate(uint16_t grad, uint16_t gate,
                                             uint16_t up, ng_dtype out)
{
    ng_oracle_bounded y;
    mpfr_t x, f, g, product;
    double magnitude;

    mpfr_inits2(BITS, x, f, g, product, (mpfr_ptr)NULL);
    load(x, gate);
    load(f, up);
    load(g, grad);
    slope(product, &magnitude, x);
    mpfr_mul(f, f, g, MPFR_RNDN);
    mpfr_mul(product, product, f, MPFR_RNDN);
    y.exact = mpfr_get_d(product, MPFR_RNDN);

    const double gate_value = mpfr_get_d(x, MPFR_RNDN);
    const double factor = mpfr_get_d(f, MPFR_RNDN);
    const double sum = fabs(factor) * magnitude;

    if (isnan(y.exact) || (factor == 0 && !isinf(gate_value)))
        y.bound = 0;
    else if (fabs(factor) >= 0x1.fffffep127)
        y.bound = (double)INFINITY;
    else
        y.bound = rounded((24 + 13 * fabs(gate_value)) * 0x1p-24 * sum
                              + (gate_value < flush ? sum : 0)
                              + 0x1p-149 * (1 + fabs(gate_value))
                                    * (1 + fabs(factor)),
                          y.exact, out);
    if (y.bound == 0 && y.exact == 0)
        y.bound = 0x1p-149; /* the sign goes by the bracket's, which rounds */
    mpfr_clears(x, f, g, product, (mpfr_ptr)NULL);
    return y;
}

/* ---- the operations ---- */

static uint16_t code_at(const ng_matrix *x, int64_t r, int64_t c)
{
    return ((const uint16_t *)x->data)[r * x->ld + c];
}

/* The nearest FP32 number to v, then BF16. */
static void store(const ng_matrix *y, int64_t r, int64_t c, mpfr_srcptr v)
{
    const ng_rules rules = {.overflow = NG_IEEE};
    MPFR_DECL_INIT(x, NG_ORACLE_FP32_BITS);

    ng_oracle_round_to(x, v);

    const uint32_t bits = ng_oracle_to_fp32(x);

    ng_oracle_store(y, r, c,
                    y->dtype == NG_FP32
                        ? bits
                        : ng_oracle_encode(NG_FORMAT_BF16,
                                           ng_fp32_from_bits(bits), &rules, 0,
                                           NULL));
}

static bool alike(const ng_matrix *a, const ng_matrix *b)
{
    return a->rows == b->rows && a->cols == b->cols;
}

ng_status ng_oracle_swiglu(const ng_matrix *y, const ng_matrix *gate,
                           const ng_matrix *up, const ng_options *options)
{
    const ng_options o = ng_oracle_options(options);
    mpfr_t x, f, v;

    if (!ng_oracle_groups_legal(&o, gate->rows))
        return NG_BAD_GROUPS;
    if (!alike(y, gate) || !alike(up, gate))
        return NG_BAD_SHAPE;
    mpfr_inits2(BITS, x, f, v, (mpfr_ptr)NULL);
    for (int64_t r = 0; r < ng_oracle_rows(&o, gate->rows); r++)
        for (int64_t c = 0; c < gate->cols; c++) {
            load(x, code_at(gate, r, c));
            load(f, code_at(up, r, c));
            silu(v, x);
            mpfr_mul(v, v, f, MPFR_RNDN);
            store(y, r, c, v);
        }
    mpfr_clears(x, f, v, (mpfr_ptr)NULL);
    return NG_OK;
}

ng_status ng_oracle_swiglu_backward(const ng_matrix *grad_gate,
                                    const ng_matrix *grad_up,
                                    const ng_matrix *grad_y,
                                    const ng_matrix *gate, const ng_matrix *up,
                                    const ng_options *options)
{
    const ng_options o = ng_oracle_options(options);
    mpfr_t x, f, g, v;
    double ignored;

    if (!ng_oracle_groups_legal(&o, gate->rows))
        return NG_BAD_GROUPS;
    if (!alike(grad_y, gate) || !alike(up, gate) || !alike(grad_gate, gate)
        || !alike(grad_up, gate))
        return NG_BAD_SHAPE;
    mpfr_inits2(BITS, x, f, g, v, (mpfr_ptr)NULL);
    for (int64_t r = 0; r < ng_oracle_rows(&o, gate->rows); r++)
        for (int64_t c = 0; c < gate->cols; c++) {
            load(g, code_at(grad_y, r, c));
            load(x, code_at(gate, r, c));
            load(f, code_at(up, r, c));
            silu(v, x);
            mpfr_mul(v, v, g, MPFR_RNDN);
            store(grad_up, r, c, v);
            slope(v, &ignored, x);
            mpfr_mul(f, f, g, MPFR_RNDN);
            mpfr_mul(v, v, f, MPFR_RNDN);
            store(grad_gate, r, c, v);
        }
    mpfr_clears(x, f, g, v, (mpfr_ptr)NULL);
    return NG_OK;
}
