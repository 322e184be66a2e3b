/* SPDX-License-Identifier: Apache-2.0
 *
 * Optimizer states, coded and decoded (semantics 9): both kinds, codings and
 * rules, every bit pattern. A group is coded in three steps, so that its
 * elements may lie in several threads: each sums up its own, the summaries are
 * joined, and each codes its own under the common scale.
 */
#ifndef NG_CUDA_OPTIM_STATE_CODE_CUH
#define NG_CUDA_OPTIM_STATE_CODE_CUH

#include "cuda/optim/weight_code.cuh"
#include "formats/optim.h"

struct ng_cuda_state_form {
    int kind, coding, compand; /* ng_state_kind, ng_state_coding, ng_compand */
};

NG_HOST_DEVICE float ng_cuda_sqrt_rn(float x)
{
#ifdef __CUDA_ARCH__
    return __fsqrt_rn(x);
#else
    return std::sqrt(x);
#endif
}

/* ---- decoding ----------------------------------------------------------- */

/* What a code is worth under the scale 1: the number that the scale multiplies.
 * 256 of them make the kernels' tables. */
NG_HOST_DEVICE float ng_cuda_state_factor(uint32_t code,
                                          const ng_cuda_state_form &f)
{
    if (f.kind == NG_VARIANCE)
        return ng_cuda_div_rn((float)code, 255.0f);

    const float q = (float)(int8_t)code;
    const float t = ng_cuda_div_rn(q, 127.0f);

    if (f.coding == NG_STATE_LINEAR)
        return t;
    if (f.compand == NG_COMPAND_NG)
        return ng_cuda_div_rn(q, ng_cuda_add_rn(254.0f, -std::fabs(q)));
    return ng_cuda_div_rn(t, ng_cuda_add_rn(2.0f, -std::fabs(t)));
}

NG_HOST_DEVICE float ng_cuda_state_scale_value(uint32_t scale, int compand)
{
    return compand == NG_COMPAND_NG ? ng_cuda_decode_ue6m10(scale)
                                    : ng_cuda_decode_fp16(scale);
}

/* From the factor and the scale's value to the number. */
NG_HOST_DEVICE float ng_cuda_state_number(float factor, float scale,
                                          const ng_cuda_state_form &f)
{
    const float x = ng_cuda_mul_rn(factor, scale);

    return ng_cuda_computed(f.kind == NG_VARIANCE
                                    && f.coding == NG_STATE_COMPANDED
                                ? ng_cuda_mul_rn(x, x)
                                : x);
}

/* ---- summing up --------------------------------------------------------- */

/* What a group is coded by: the bits of its largest magnitude (of |m|, r or v;
 * NaN taking no part), and whether it holds a NaN, an Inf or a v < 0. */
struct ng_cuda_summary {
    uint32_t largest, odd;
};

/* The number that is coded: m, sqrt v, or v. */
NG_HOST_DEVICE float ng_cuda_coded_number(float x, const ng_cuda_state_form &f)
{
    return f.kind == NG_VARIANCE && f.coding == NG_STATE_COMPANDED
               ? ng_cuda_sqrt_rn(x)
               : x;
}

NG_HOST_DEVICE void ng_cuda_sum_up(ng_cuda_summary &sum, float x,
                                   const ng_cuda_state_form &f)
{
    const float y = ng_cuda_coded_number(x, f);
    const uint32_t magnitude = ng_cuda_bits_of(y) & 0x7FFFFFFF;

    if (magnitude >= NG_FP32_INFINITY || (f.kind == NG_VARIANCE && y < 0.0f))
        sum.odd = 1;
    if (magnitude <= NG_FP32_INFINITY && magnitude > sum.largest)
        sum.largest = magnitude;
}

/* ---- coding ------------------------------------------------------------- */

/* A group's scale: its code, the number to divide by, and what to count. */
struct ng_cuda_group_scale {
    uint32_t code;
    float divisor; /* 0: every element codes to 0 */
    bool nan, saturated, lost;
};

NG_HOST_DEVICE ng_cuda_group_scale ng_cuda_scale_of(const ng_cuda_summary &sum,
                                                    int compand)
{
    if (compand == NG_COMPAND_FLASHOPTIM) {
        /* RN32(10^-12), the least scale before it is rounded */
        const float least = 0x1.197998p-40f;
        const float largest = ng_cuda_float_of(sum.largest);
        const float a = largest > least ? largest : least;
        const uint32_t code = ng_cuda_nearest_fp16(a);
        const bool odd = sum.odd != 0;

        return {code, a, odd, !odd && code == NG_FP16_INFINITY,
                !odd && code == 0 && sum.largest != 0};
    }
    if (sum.odd != 0)
        return {NG_UE6M10_NAN, 0.0f, true, false, false};

    const uint32_t code =
        ng_cuda_nearest_magnitude<ng_cuda_ue6m10>(sum.largest);

    if (code > NG_UE6M10_MAX_CODE)
        return {NG_UE6M10_MAX_CODE, ng_cuda_decode_ue6m10(NG_UE6M10_MAX_CODE),
                false, true, false};
    return {code, ng_cuda_decode_ue6m10(code), false, false,
            code == 0 && sum.largest != 0};
}

/* min(top, RNI(u)) of u = top x / s, or 2 top x / (s + x) where folded; x >= 0
 * and s > 0 a UE6M10 number. Division gives u to within a few ulps; so its
 * floor k may be one off where u is near an integer, but of the half-integers,
 * where rounding turns, k + 1/2 is then still the one beside u. On which side u
 * lies says the sign of
 *
 *     2 top x - h s          folded: (4 top - h) x - h s,       h = 2k + 1,
 *
 * which one fma gives exactly: h s is a product of 9 and 11 bits, and what
 * remains is a multiple of the ulp of x, far above the least FP32 number
 * wherever the two terms are near each other. */
NG_HOST_DEVICE uint32_t ng_cuda_nearest_share(float x, float s, uint32_t top,
                                              bool folded)
{
    if (x >= s)
        return top; /* u = top there, and past it */

    const float whole = folded ? (float)(2 * top) : (float)top;
    const float divisor = folded ? ng_cuda_add_rn(s, x) : s;
    const uint32_t k =
        (uint32_t)ng_cuda_mul_rn(ng_cuda_div_rn(x, divisor), whole);
    const float h = (float)(2 * k + 1);
    const float side =
        ng_cuda_fma_rn(folded ? (float)(4 * top) - h : (float)(2 * top), x,
                       -ng_cuda_mul_rn(h, s));

    return k + (side > 0.0f || (side == 0.0f && k % 2 != 0));
}

/* floor(y + 0.5) as a byte in two's complement, of NaN 0; |y| <= 255. */
NG_HOST_DEVICE uint32_t ng_cuda_raised_floor(float y)
{
    const float raised = ng_cuda_add_rn(y, 0.5f);

    return raised != raised ? 0 : (uint32_t)(int)std::floor(raised) & 0xFF;
}

NG_HOST_DEVICE uint32_t
ng_cuda_state_code_flashoptim(float y, float a, const ng_cuda_state_form &f)
{
    const float n = ng_cuda_div_rn(y, a);

    if (f.kind == NG_VARIANCE) {
        const float share = ng_cuda_mul_rn(n, 255.0f);

        return share < 0.0f ? 0 : ng_cuda_raised_floor(share);
    }
    if (f.coding == NG_STATE_LINEAR)
        return ng_cuda_raised_floor(ng_cuda_mul_rn(n, 127.0f));

    const float folded = ng_cuda_div_rn(ng_cuda_mul_rn(2.0f, n),
                                        ng_cuda_add_rn(1.0f, std::fabs(n)));

    return ng_cuda_raised_floor(ng_cuda_mul_rn(folded, 127.0f));
}

/* The code byte of a new state x under its group's scale. */
NG_HOST_DEVICE uint32_t ng_cuda_state_code(float x,
                                           const ng_cuda_group_scale &scale,
                                           const ng_cuda_state_form &f)
{
    const float y = ng_cuda_coded_number(x, f);
    const bool folded = f.coding == NG_STATE_COMPANDED;

    if (f.compand == NG_COMPAND_FLASHOPTIM)
        return ng_cuda_state_code_flashoptim(y, scale.divisor, f);
    if (scale.divisor == 0.0f)
        return 0;
    if (f.kind == NG_MOMENTUM) {
        const uint32_t code = ng_cuda_nearest_share(
            std::fabs(y), scale.divisor, NG_MOMENTUM_MAX_CODE, folded);

        return (y < 0.0f ? 0u - code : code) & 0xFF;
    }

    const uint32_t code =
        ng_cuda_nearest_share(y, scale.divisor, NG_VARIANCE_MAX_CODE, false);

    return folded && code == 0 && y > 0.0f ? 1 : code;
}

#endif
