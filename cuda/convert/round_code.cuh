/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels' rounding to a code under any rules, with its events: what every
 * general path ends in, and what the fast encoders are held against.
 *
 * The positive codes of a format, in order, stand for ascending values, and
 * inside one exponent field the values are evenly spaced. So |v| has a place on
 * the axis of codes: a fixed-point number whose integer part is the code below
 * and whose fraction, t in 2^32nds, is how far v is on the way to the next.
 * Every rule reads off that one 64-bit number:
 *
 *   nearest     fraction against 0x80000000       directed    fraction != 0
 *   stochastic  carry of fraction + random        overflow    code > max_code
 *
 * The place itself is a shift: with the implicit one, a significand m in
 * [2^31, 2^32) is m << (1 + p) such 2^32nds of a step, and a field starts
 * 2^p steps after the one before.
 */
#ifndef NG_CUDA_CONVERT_ROUND_CODE_CUH
#define NG_CUDA_CONVERT_ROUND_CODE_CUH

#include "cuda/convert/format_facts.cuh"
#include "cuda/convert/real.cuh"
#include "formats/events.h"
#include "formats/rules.h"

#define NG_CUDA_EVENT(name) (1u << NG_EVENT_##name)

/* Whether the rounding moves every such value toward zero. */
NG_HOST_DEVICE bool ng_cuda_is_inward(int rounding, bool negative)
{
    return rounding == NG_TOWARD_ZERO
           || rounding == (negative ? NG_UP : NG_DOWN);
}

/* The magnitude code of an infinity, or of what passed the largest finite. */
template <class F>
NG_HOST_DEVICE uint32_t ng_cuda_overflow_code(const ng_rules &rules,
                                              bool finite, bool negative)
{
    if (F::beyond == NG_CUDA_BEYOND_NOTHING || rules.overflow == NG_SATURATE
        || (finite && ng_cuda_is_inward(rules.rounding, negative)))
        return F::max_code;
    return F::beyond == NG_CUDA_BEYOND_INFINITY ? F::max_code + 1 : F::nan;
}

/* Whether |v| goes on to the code above `below`. */
NG_HOST_DEVICE bool ng_cuda_goes_on(int rounding, uint32_t fraction,
                                    bool sticky, uint32_t below, bool negative,
                                    uint32_t random)
{
    const uint32_t half = UINT32_C(1) << 31;

    switch (rounding) {
    case NG_NEAREST_EVEN:
        return fraction > half
               || (fraction == half && (sticky || (below & 1) != 0));
    case NG_NEAREST_AWAY:
        return fraction >= half;
    case NG_UP:
        return !negative && (fraction != 0 || sticky);
    case NG_DOWN:
        return negative && (fraction != 0 || sticky);
    case NG_STOCHASTIC:
        return (uint32_t)(fraction + random) < fraction;
    default: /* NG_TOWARD_ZERO */
        return false;
    }
}

/* The code of v in format F.
 *   rules   rounding, overflow and e2m1_nan are read
 *   random  the word of stochastic rounding
 *   events  bits 1u << NG_EVENT_... are ORed in
 * Total. Source: semantics.md 1. */
template <class F>
NG_HOST_DEVICE uint32_t ng_cuda_round_code(const ng_cuda_real &v,
                                           const ng_rules &rules,
                                           uint32_t random, unsigned &events)
{
    const bool negative = F::sign != 0 && v.negative;
    const uint32_t sign = negative ? F::sign : 0;
    const int p = F::fraction_bits;
    const int lowest = F::has_subnormals ? 1 : 0;
    int field = v.exponent + 31 + F::bias;

    if (v.kind == NG_CUDA_NOT_A_NUMBER) {
        events |= NG_CUDA_EVENT(NAN);
        if (F::nan != 0)
            return F::nan;
        return rules.e2m1_nan == NG_E2M1_NAN_MAX ? F::max_code : 0;
    }
    if (v.kind == NG_CUDA_INFINITE) {
        events |= NG_CUDA_EVENT(INFINITE);
        return sign | ng_cuda_overflow_code<F>(rules, false, negative);
    }
    if (v.significand == 0 || (field < 0 && !F::has_subnormals)) {
        /* UE8M0 has neither a zero nor anything below 2^-127. */
        if (!F::has_subnormals)
            events |= NG_CUDA_EVENT(INEXACT);
        return sign;
    }

    /* Below the lowest field steps stay as wide as in it. */
    const int cut = field < lowest ? lowest - field : 0;
    uint64_t place = (uint64_t)v.significand << (1 + p);
    bool sticky = v.sticky;

    if (cut > 63) {
        place = 0;
        sticky = true;
    } else {
        sticky |= (place & ((UINT64_C(1) << cut) - 1)) != 0;
        place >>= cut;
    }
    /* In the lowest field of UE8M0 this takes one step away, modulo 2^64. */
    place += (uint64_t)(int64_t)(field + cut - 1) << (p + 32);

    const uint32_t fraction = (uint32_t)place;
    const uint32_t below = (uint32_t)(place >> 32);
    const uint32_t code = below
                          + ng_cuda_goes_on(rules.rounding, fraction, sticky,
                                            below, negative, random);

    if (fraction != 0 || sticky)
        events |= NG_CUDA_EVENT(INEXACT);
    if (fraction == UINT32_C(1) << 31 && !sticky && below <= F::max_code)
        events |= NG_CUDA_EVENT(TIE);
    if (code > F::max_code) {
        events |= NG_CUDA_EVENT(SATURATED) | NG_CUDA_EVENT(INEXACT);
        return sign | ng_cuda_overflow_code<F>(rules, true, negative);
    }
    if (F::has_subnormals && code < UINT32_C(1) << p)
        events |= code == 0 ? NG_CUDA_EVENT(FLUSHED) : NG_CUDA_EVENT(SUBNORMAL);
    return sign | code;
}

#endif
