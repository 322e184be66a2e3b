/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/convert/ref_peer_scales.h"

#include "formats/rules.h"
#include "reference/convert/ref_scales.h"

/* RN32(log2 a) for the integers next to log2 a: whether it is n = f + 1 although
 * a = 2^n (1 - d) lies below 2^n, f = floor(log2 a).
 *
 * log2 a = n - d', d' = -log2(1 - d). FP32's numbers below n are 2^(1-k) apart
 * next to it, so RN32 gives n iff d' < 2^-k; a tie cannot be, d' is irrational.
 * Then d < 1 - 2^(-2^-k), which is 2^-k times 0.693145 (k = 17) to 0.693147
 * (k = 25). With a in 28 bits, d is i 2^-28, and d 2^k a multiple of 2^-11: none
 * of those lies between 0.69288 and 0.69336, so 0xB172 / 2^16 = 0.693146 will
 * do for every k.
 *
 * k: below a positive n lies the binade [2^(j-1), 2^j) with 2^(j-1) < n <= 2^j,
 * spaced 2^(j-24), k = 25 - j; below a negative one that of |n|, [2^j, 2^(j+1)),
 * spaced 2^(j-23), k = 24 - j; below 0 ever closer numbers. */
static bool log2_rounds_up(ng_exact a, int f)
{
    enum { BITS = 28, LN_2 = 0xB172 }; /* 2^16 ln 2 */
    const int n = f + 1;
    const uint64_t m = a.significand << (BITS - 1 - (f - a.exponent));
    const uint64_t i = (UINT64_C(1) << BITS) - m;
    int j = 0;

    if (n == 0)
        return false;
    if (n > 0)
        while (1 << j < n)
            j++;
    else
        while (1 << (j + 1) <= -n)
            j++;
    const int k = n > 0 ? 25 - j : 24 - j;

    return i << 16 <= (uint64_t)LN_2 << (BITS - k);
}

/* floor of RN32(log2 a). */
static int floor_log2(ng_exact a)
{
    const int f = ng_exact_floor_log2(a);

    return f + log2_rounds_up(a, f);
}

/* ceil of RN32(log2 a): f + 1, but f for a power of two, and for what RN32 takes
 * down to f: a = 2^f (1 + d), log2 a = f + d', d' = log2(1 + d) > d, and half of
 * the spacing above f is at most 2^-18 (|f| < 128): a is then within 2^-18, so
 * that d' = d / ln 2 (1 - d/2 ...), and RN32 gives f iff d' <= 2^-k. With a from
 * FP32, d is a multiple of 2^-23, and d 2^k / ln 2 one of 2^-6 / ln 2 at the
 * least: k = 24 .. 17 ask for d <= 0.34 ... 44.36 units of 2^-23 / 2, as above
 * (1 + d/2 changes nothing in 7 digits). */
static int ceil_log2(ng_exact a)
{
    enum { BITS = 28, LN_2 = 0xB172 };
    const int f = ng_exact_floor_log2(a);
    const uint64_t m = a.significand << (BITS - 1 - (f - a.exponent));
    const uint64_t i = m - (UINT64_C(1) << (BITS - 1)); /* d = i 2^-27 */
    int j = 0;

    if (i == 0)
        return f;
    if (f == 0)
        return 1;
    /* The numbers above f > 0 lie in [2^j, 2^(j+1)), spaced 2^(j-23); above
     * f < 0, towards 0, in (2^(j-1), 2^j], spaced 2^(j-24). */
    if (f > 0)
        while (1 << (j + 1) <= f)
            j++;
    else
        while (1 << j < -f)
            j++;
    const int k = f > 0 ? 24 - j : 25 - j;

    return i << 16 <= (uint64_t)LN_2 << (BITS - 1 - k) ? f : f + 1;
}

/* RN32(a / n), and RN32(a * RN32(1 / n)). */
static ng_exact share(ng_exact a, unsigned n, bool by_product)
{
    const ng_exact one = {.significand = 1}, whole = {.significand = n};
    unsigned events = 0; /* of a scale: not counted */

    if (!by_product)
        return ng_exact_round_fp32(ng_exact_quotient(a, whole), &events);
    return ng_exact_round_fp32(
        ng_exact_product(
            a, ng_exact_round_fp32(ng_exact_quotient(one, whole), &events)),
        &events);
}

/* What rounds to 2^(f+1) with p fraction bits: 2 - 2^-(p+1) times 2^f and more,
 * as in ref_mx_coding.c. */
static ng_exact least_rounded_up(const ng_ref_mx *mx, int f)
{
    const int bits = mx->fraction_bits + 1;

    return (ng_exact){.significand = (UINT64_C(2) << bits) - 1,
                      .exponent = f - bits};
}

int ng_ref_peer_mx_exponent(const ng_ref_mx *mx, ng_exact amax, int mode)
{
    const int f = ng_exact_floor_log2(amax);
    ng_exact s;

    switch (mode) {
    case NG_MX_FLOOR_LOG2:
        return floor_log2(amax) - mx->emax;
    case NG_MX_EVEN_FP32:
        return f - mx->emax
               + (ng_exact_compare_magnitude(amax, least_rounded_up(mx, f))
                  >= 0);
    default: /* NG_MX_RCEIL_FP32, NG_MX_RCEIL_LOG2 */
        s = share(amax, mx->largest, mode == NG_MX_RCEIL_FP32);
        if (s.kind != NG_EXACT_FINITE)
            return INT16_MAX; /* section 7 only: past every scale */
        if (s.significand == 0)
            return INT16_MIN;
        if (mode == NG_MX_RCEIL_LOG2)
            return ceil_log2(s);
        return ng_exact_floor_log2(s)
               + (ng_exact_compare_magnitude(
                      s, ng_ref_power_of_two(ng_exact_floor_log2(s)))
                  > 0);
    }
}

bool ng_ref_peer_amax_is_nan(const ng_ref_mx *mx, ng_exact amax, int mode)
{
    enum { MAX_EXPONENT = 127 };
    const ng_exact least = least_rounded_up(mx, MAX_EXPONENT);

    return mode == NG_MX_EVEN_FP32
           && ng_exact_compare_magnitude(amax, least) >= 0;
}
