/* SPDX-License-Identifier: Apache-2.0
 *
 * The most that the tensor core of semantics section 11 can lose on a block, in
 * any order of its products. Let p be the products, A the sum of their
 * magnitudes, e(p) the exponent that the hardware takes a product for (the sum
 * of its operands', each at least -6), and X = max(A, 2^e(p) over the nonzero
 * ones). An accumulator is a sum of terms cut toward zero, so at most A; hence
 * 2^emax <= X in each of the (at most) four instructions.
 *   - A product is a multiple of 2^(e(p) - 6), and so survives where
 *     e(p) - 6 >= emax - 13; all with 2^e(p) >= 2^-7 X do. Any other loses less
 *     than its own magnitude and less than 2^(emax - 13): at most
 *     min(|p|, 2^-13 X).
 *   - An accumulator is cut in three instructions (the first starts from zero)
 *     and the sum in four, by less than 2^-13 X each.
 * So |t - dot| <= sum of min(|p|, 2^-13 X) over p with 2^e(p) < 2^-7 X, plus
 * 7 * 2^-13 X. A sum in FP32 or wider loses less: its 24 bits are counted with
 * the other roundings of the whole element (oracle_grouped_gemm.c).
 */
#include "conformance/oracle/oracle_gemm_block.h"

#include <math.h>
#include <mpfr.h>
#include <pthread.h>

#include "conformance/oracle/oracle_format.h"

enum { INSTRUCTION = 32, FRACTION_BITS = 13, LEAST_EXPONENT = -6 };

/* Of each code: its value (NaN too) and 2 to the exponent the hardware sees. */
static double value[256], binade[256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void fill(void)
{
    MPFR_DECL_INIT(x, NG_ORACLE_BITS);

    for (uint32_t code = 0; code < 256; code++) {
        ng_oracle_value(x, NG_FORMAT_E4M3, code);
        value[code] = mpfr_get_d(x, MPFR_RNDN);

        const double magnitude = fabs(value[code]);

        if (magnitude > 0)
            binade[code] =
                fmax(ldexp(1, ilogb(magnitude)), ldexp(1, LEAST_EXPONENT));
    }
}

ng_oracle_gemm_block ng_oracle_gemm_block_of(const uint8_t *a, const uint8_t *b,
                                             int64_t n)
{
    ng_oracle_gemm_block block = {.nan = false};
    double most = 0;

    pthread_once(&once, fill);
    for (int64_t i = 0; i < n; i++) {
        const double p = value[a[i]] * value[b[i]];

        block.dot += p;
        block.magnitude += fabs(p);
        most = fmax(most, binade[a[i]] * binade[b[i]]);
    }
    if (isnan(block.magnitude)) {
        block.nan = true;
        return block;
    }
    most = fmax(most, block.magnitude); /* X */

    const double quantum = most * 0x1p-13, whole = most * 0x1p-7;

    block.cut = 7 * quantum;
    for (int64_t i = 0; i < n; i++)
        if (binade[a[i]] * binade[b[i]] < whole)
            block.cut += fmin(fabs(value[a[i]] * value[b[i]]), quantum);
    return block;
}

/* 2^k of the leading bit; x > 0. */
static double leading(double x)
{
    return ldexp(1, ilogb(x));
}

/* c and up to 32 products. Every term is at most 2^15 quanta. */
static double instruction(const uint8_t *a, const uint8_t *b, int64_t n,
                          double c)
{
    double top = c != 0 ? leading(fabs(c)) : 0;
    double sum;

    for (int64_t i = 0; i < n; i++)
        top = fmax(top, binade[a[i]] * binade[b[i]]);
    if (top == 0)
        return 0;

    const double quantum = ldexp(top, -FRACTION_BITS);

    sum = trunc(c / quantum);
    for (int64_t i = 0; i < n; i++)
        sum += trunc(value[a[i]] * value[b[i]] / quantum);
    if (sum == 0)
        return 0;

    const double last = ldexp(leading(fabs(sum)), -FRACTION_BITS);

    return trunc(sum / last) * last * quantum;
}

double ng_oracle_gemm_hopper(const uint8_t *a, const uint8_t *b, int64_t n)
{
    double sum = 0;

    pthread_once(&once, fill);
    for (int64_t i = 0; i < n; i += INSTRUCTION)
        sum = instruction(a + i, b + i,
                          n - i < INSTRUCTION ? n - i : INSTRUCTION, sum);
    return sum;
}
