/* SPDX-License-Identifier: Apache-2.0
 *
 * The bound of an element whose order is free. Let there be B blocks with exact
 * scale products s = s_a * s_b, exact dots, A and cut as in
 * oracle_gemm_block.c; u = 2^-24 and e = 2^-150 (half the smallest subnormal).
 * What is allowed:
 *   - the scale product is rounded once: s' = s (1 + d) + t, |d| <= u, |t| <= e
 *     (one of them 0). Below 2^-126 the second is what counts: there s' can be
 *     0, or twice s.
 *   - the block's sum is off by at most cut, as the tensor core's is;
 *   - any sum may be formed in FP32 in any order, any product be rounded before
 *     it is added.
 * At most r = n + 2 B + 2 roundings lie on the way of a product to the result,
 * and each but the last B (the products by s', which lose up to e where they
 * underflow) is relative: FP32 sums below 2^-126 are exact. With
 * W = sum over blocks of (|s| (1 + u) + e) (A + cut), the most that the
 * magnitudes can add up to, and g = r u / (1 - r u),
 *   |acc - exact| <= sum of |s| cut + (u |s| + e) (A + cut)      the inputs
 *                  + g W + B e (1 + g)                           the roundings
 * C adds u (|C + exact| + the above); BF16 at last 2^-8 of the largest result
 * allowed, or 2^-134. Where W + |C|, or a scale product, could pass 2^128 a
 * partial result may overflow: nothing is claimed. FP64 arithmetic on these
 * sums of at most a few thousand positive terms is off by less than 2^-40 of
 * them, which is added, as is what FP64 loses of the exact value.
 */
#include "conformance/oracle/oracle_gemm_element.h"

#include <math.h>
#include <mpfr.h>
#include <string.h>

#include "conformance/oracle/oracle_format.h"
#include "conformance/oracle/oracle_gemm_block.h"
#include "conformance/oracle/oracle_ieee.h"
#include "conformance/oracle/oracle_round.h"
#include "conformance/oracle/oracle_view.h"

/* Sums of s_a * s_b * dot without loss: from 2^(2 * 128 + 25 + 13) (blocks, C)
 * down to 2^(2 * -149 - 18). */
enum { EXACT_BITS = 640 };

static void load_scale(mpfr_ptr s, const ng_oracle_gemm_operand *x,
                       int64_t block)
{
    ng_oracle_load_scale(s, x->scales, x->line, x->first + block);
}

static int64_t block_size(const ng_oracle_gemm_element *x, int64_t block)
{
    return ng_oracle_min(NG_ORACLE_GEMM_BLOCK,
                         x->n - block * NG_ORACLE_GEMM_BLOCK);
}

/* ---- the stated order ---- */

/* acc = fma(RN32(s_a * s_b), RN32(dot), acc). A product of FP32 numbers is
 * exact in 64 bits, so that the sum rounds once. */
static void add_block(mpfr_ptr acc, const ng_oracle_gemm_element *x,
                      int64_t block, int gemm)
{
    MPFR_DECL_INIT(s_a, NG_ORACLE_FP32_BITS);
    MPFR_DECL_INIT(s_b, NG_ORACLE_FP32_BITS);
    MPFR_DECL_INIT(dot, NG_ORACLE_FP32_BITS);
    MPFR_DECL_INIT(product, NG_ORACLE_BITS);
    const uint8_t *a = x->a.codes + block * NG_ORACLE_GEMM_BLOCK;
    const uint8_t *b = x->b.codes + block * NG_ORACLE_GEMM_BLOCK;
    const int64_t size = block_size(x, block);
    const ng_oracle_gemm_block sums = ng_oracle_gemm_block_of(a, b, size);

    load_scale(s_a, &x->a, block);
    load_scale(s_b, &x->b, block);
    ng_oracle_mul(s_a, s_a, s_b);
    if (sums.nan) {
        mpfr_set_nan(dot);
    } else {
        mpfr_set_d(product,
                   gemm == NG_GEMM_HOPPER_WGMMA
                       ? ng_oracle_gemm_hopper(a, b, size)
                       : sums.dot,
                   MPFR_RNDN);
        ng_oracle_round_to(dot, product);
    }
    mpfr_mul(product, s_a, dot, MPFR_RNDN);
    ng_oracle_add(acc, product, acc);
}

void ng_oracle_gemm_store(mpfr_ptr acc, const ng_matrix *d,
                          const ng_matrix *addend, int64_t row, int64_t col,
                          const ng_options *options)
{
    static const ng_rules ieee = {.rounding = NG_NEAREST_EVEN,
                                  .overflow = NG_IEEE};
    MPFR_DECL_INIT(c, NG_ORACLE_FP32_BITS);
    unsigned unused = 0, seen = 0;
    ng_format_id format;

    if (!ng_oracle_float_format(&format, d->dtype))
        return; /* the caller has looked */
    if (addend != NULL) {
        ng_oracle_load(c, addend, row, col);
        ng_oracle_add(acc, c, acc);
    }

    const uint32_t code =
        ng_oracle_round(ng_oracle_grid_of(format), acc, &ieee, 0, &unused);

    ng_oracle_store(d, row, col, code);
    ng_oracle_value(c, format, code);
    if (mpfr_nan_p(c))
        seen = 1u << NG_EVENT_NAN;
    else if (mpfr_inf_p(c))
        seen = 1u << NG_EVENT_INFINITE;
    else if (mpfr_regular_p(c) && mpfr_get_exp(c) - 1 < -126)
        seen = 1u << NG_EVENT_SUBNORMAL;
    ng_oracle_count(options, seen);
}

void ng_oracle_gemm_perform(const ng_oracle_gemm_element *x,
                            const ng_options *options)
{
    MPFR_DECL_INIT(acc, NG_ORACLE_FP32_BITS);

    mpfr_set_zero(acc, 1);
    for (int64_t j = 0; j * NG_ORACLE_GEMM_BLOCK < x->n; j++)
        add_block(acc, x, j, options->rules->gemm);
    ng_oracle_gemm_store(acc, x->d, x->c, x->row, x->col, options);
}

void ng_oracle_gemm_empty(const ng_matrix *d, const ng_matrix *c, int64_t row,
                          int64_t col, const ng_bounds *bounds)
{
    const size_t size = ng_dtype_size(d->dtype);
    char *to = (char *)d->data + (size_t)(row * d->ld + col) * size;
    const int64_t i = row * d->cols + col;

    if (bounds != NULL) {
        MPFR_DECL_INIT(v, NG_ORACLE_FP32_BITS);

        mpfr_set_zero(v, 1);
        if (c != NULL)
            ng_oracle_load(v, c, row, col);
        bounds->exact[i] = mpfr_get_d(v, MPFR_RNDN);
        bounds->bound[i] = 0;
    } else if (c != NULL) {
        memmove(to, (const char *)c->data + (size_t)(row * c->ld + col) * size,
                size);
    } else {
        memset(to, 0, size);
    }
}

/* ---- any order ---- */

typedef struct sums {
    mpfr_ptr exact;      /* of s * dot */
    double inputs, most; /* the first line of the bound; W */
    bool nan, overflow;
} sums;

static void add_terms(sums *t, const ng_oracle_gemm_element *x, int64_t block)
{
    MPFR_DECL_INIT(s_a, NG_ORACLE_FP32_BITS);
    MPFR_DECL_INIT(s_b, NG_ORACLE_FP32_BITS);
    MPFR_DECL_INIT(s, NG_ORACLE_BITS);
    MPFR_DECL_INIT(product, 2 * NG_ORACLE_BITS);
    const ng_oracle_gemm_block sum = ng_oracle_gemm_block_of(
        x->a.codes + block * NG_ORACLE_GEMM_BLOCK,
        x->b.codes + block * NG_ORACLE_GEMM_BLOCK, block_size(x, block));

    load_scale(s_a, &x->a, block);
    load_scale(s_b, &x->b, block);
    if (sum.nan || mpfr_nan_p(s_a) || mpfr_nan_p(s_b)) {
        t->nan = true;
        return;
    }
    mpfr_mul(s, s_a, s_b, MPFR_RNDN);

    const double scale = fabs(mpfr_get_d(s, MPFR_RNDA));
    const double reach = sum.magnitude + sum.cut;

    if (!(scale < 0x1.fffffep127)) {
        t->overflow = true; /* an infinite scale, too */
        return;
    }
    t->inputs += scale * sum.cut + (0x1p-24 * scale + 0x1p-150) * reach;
    t->most += (scale * (1 + 0x1p-24) + 0x1p-150) * reach;
    mpfr_mul_d(product, s, sum.dot, MPFR_RNDN);
    ng_oracle_require_exact(mpfr_add(t->exact, t->exact, product, MPFR_RNDN));
}

void ng_oracle_gemm_bound(const ng_oracle_gemm_element *x, double *exact,
                          double *bound)
{
    MPFR_DECL_INIT(sum, EXACT_BITS);
    MPFR_DECL_INIT(c, NG_ORACLE_FP32_BITS);
    const int64_t blocks = ng_oracle_blocks(x->n, NG_ORACLE_GEMM_BLOCK);
    const double r = (double)(x->n + 2 * blocks + 2);
    const double g = r * 0x1p-24 / (1 - r * 0x1p-24);
    sums t = {.exact = sum};

    mpfr_set_zero(sum, 1);
    mpfr_set_zero(c, 1);
    for (int64_t j = 0; j < blocks; j++)
        add_terms(&t, x, j);
    if (x->c != NULL) {
        ng_oracle_load(c, x->c, x->row, x->col);
        t.nan = t.nan || mpfr_nan_p(c);
        t.overflow = t.overflow || mpfr_inf_p(c);
    }
    *exact = (double)NAN;
    *bound = 0;
    if (t.nan)
        return;

    const double addend = fabs(mpfr_get_d(c, MPFR_RNDA));

    *bound = (double)INFINITY;
    if (t.overflow || t.most + addend >= 0x1p128 * (1 - 2 * g))
        return;
    ng_oracle_require_exact(mpfr_add(sum, sum, c, MPFR_RNDN));
    *exact = mpfr_get_d(sum, MPFR_RNDN);
    *bound = 0;
    if (blocks == 0 && x->c == NULL)
        return; /* +0, exactly */

    double error = t.inputs + g * t.most + (double)blocks * 0x1p-150 * (1 + g);

    if (x->c != NULL)
        error += 0x1p-24 * (fabs(*exact) + error);
    if (x->d->dtype == NG_BF16)
        error += fmax(0x1p-8 * (fabs(*exact) + error), 0x1p-134);
    *bound = error * (1 + 0x1p-40) + 0x1p-52 * fabs(*exact);
}
