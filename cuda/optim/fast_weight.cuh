/* SPDX-License-Identifier: Apache-2.0
 *
 * Eight weights at a time, in words as memory has them: FP32, or BF16 with 0, 8
 * or 16 bits of correction, under either rule. For what training has; where a
 * weight is something else (below), `odd` is set and the caller goes the way of
 * weight_code.cuh instead.
 *
 * Rule ulp: a BF16 pair is the upper half and, rho being signed, a correction
 * of the lower half of an FP32 pattern: theta = (low << 16) + (rho << (16 -
 * n)). With rho' = rho + 2^(n-1), which flips its top bit, the two parts do not
 * overlap, a byte permutation joins them, and 2^15 is taken off. Backwards,
 * 2^15 is added (to the pattern rounded to 16 + n bits, ties to even): then the
 * upper half is low, and the bits under it are rho'. Odd: a new low that is
 * infinite or NaN (saturation, which counts, among them).
 *
 * Rule flashoptim: 2^l is a shift of low's exponent field; rho / M is a product
 * with 1/M in two parts, whose error of some 2^-48 cannot move a quotient of
 * integers that small over a rounding boundary, which is 2^-33 (M = 127) or
 * 2^-41 (32767) away at the least: all 256 and 65536 of them were tried.
 *   Odd: the above, and a low, old or new, below 2^-100, zero included.
 */
#ifndef NG_CUDA_OPTIM_FAST_WEIGHT_CUH
#define NG_CUDA_OPTIM_FAST_WEIGHT_CUH

#include "cuda/optim/weight_code.cuh"
#include "cuda/ptx_cvt.cuh"
#include "cuda/ptx_math.cuh"
#include "cuda/ptx_prmt.cuh"

enum ng_cuda_weights_form {
    NG_CUDA_FP32,
    NG_CUDA_BF16,
    NG_CUDA_BF16_8,
    NG_CUDA_BF16_16,
    NG_CUDA_N_WEIGHTS_FORMS
};

enum { NG_CUDA_OCTET = 8 };

/* Byte i of a word as the number byte - bias, or half i: the pattern of 2^23
 * with the integer in its last bits, less 2^23 + bias. */
NG_HOST_DEVICE float ng_cuda_byte_number(uint32_t word, int i, float bias)
{
    return ng_cuda_add_rn(
        ng_cuda_float_of(ng_cuda_prmt(word, 0x4B000000, 0x7550u | (uint32_t)i)),
        -(0x1p23f + bias));
}

NG_HOST_DEVICE float ng_cuda_half_number(uint32_t word, int i, float bias)
{
    return ng_cuda_add_rn(ng_cuda_float_of(ng_cuda_prmt(
                              word, 0x4B000000, i == 0 ? 0x7510u : 0x7532u)),
                          -(0x1p23f + bias));
}

/* The four bytes number `byte` of four words; the two upper halves. */
NG_HOST_DEVICE uint32_t ng_cuda_join_bytes(const uint32_t *x, int byte)
{
    const uint32_t which = (uint32_t)byte | (uint32_t)(4 + byte) << 4;

    return ng_cuda_prmt(ng_cuda_prmt(x[0], x[1], which),
                        ng_cuda_prmt(x[2], x[3], which), 0x5410);
}

NG_HOST_DEVICE uint32_t ng_cuda_join_upper(uint32_t x, uint32_t y)
{
    return ng_cuda_prmt(x, y, 0x7632);
}

NG_HOST_DEVICE float ng_cuda_low_of_pair(uint32_t pair, int half)
{
    return ng_cuda_float_of(half == 0 ? pair << 16 : pair & 0xFFFF0000);
}

/* Whether a half of a word of magnitudes is at least, or below, a BF16 code. */
NG_HOST_DEVICE bool ng_cuda_half_reaches(uint32_t word, uint32_t code)
{
    return (word & 0xFFFF) >= code || word >> 16 >= code;
}

NG_HOST_DEVICE bool ng_cuda_half_below(uint32_t word, uint32_t code)
{
    return (word & 0xFFFF) < code || word >> 16 < code;
}

template <int FORM, int SPLIT> struct ng_cuda_fast_weights {
    static constexpr int bits = FORM == NG_CUDA_BF16_8    ? 8
                                : FORM == NG_CUDA_BF16_16 ? 16
                                                          : 0;
    static constexpr int low_words = FORM == NG_CUDA_FP32 ? 8 : 4;
    static constexpr int rho_words = bits / 4;
    static constexpr int rho_room = rho_words > 0 ? rho_words : 1;

    uint32_t low[low_words];
    uint32_t rho[rho_room];

    NG_HOST_DEVICE void merge(float *theta, bool &odd) const
    {
        if (FORM == NG_CUDA_FP32)
            NG_CUDA_UNROLL
        for (int i = 0; i < NG_CUDA_OCTET; i++)
            theta[i] = ng_cuda_float_of(low[i]);
        else if (bits == 0)
            NG_CUDA_UNROLL for (int i = 0; i < NG_CUDA_OCTET; i++) theta[i] =
                ng_cuda_low_of_pair(low[i / 2], i % 2);
        else if (SPLIT == NG_SPLIT_ULP) merge_ulp(theta);
        else merge_flashoptim(theta, odd);
    }

    NG_HOST_DEVICE void merge_ulp(float *theta) const
    {
        NG_CUDA_UNROLL
        for (int i = 0; i < NG_CUDA_OCTET; i++) {
            uint32_t joined;

            if (bits == 8) {
                /* bytes 0 and 2, or 1 and 3, of four biased corrections */
                const uint32_t four = rho[i / 4 % rho_room] ^ 0x80808080;
                const uint32_t two =
                    (i % 2 == 0 ? four : four >> 8) & 0x00FF00FF;
                const uint32_t which = (i % 2 == 0 ? 0x1000u : 0x3200u)
                                       | (i % 4 < 2 ? 0x45u : 0x65u);

                joined = ng_cuda_prmt(low[i / 2 % low_words], two, which);
            } else {
                const uint32_t biased = rho[i / 2 % rho_room] ^ 0x80008000;

                joined = ng_cuda_prmt(low[i / 2 % low_words], biased,
                                      i % 2 == 0 ? 0x1054u : 0x3276u);
            }
            theta[i] = ng_cuda_float_of(joined - 0x8000);
        }
    }

    NG_HOST_DEVICE void merge_flashoptim(float *theta, bool &odd) const
    {
        constexpr float top = bits == 8 ? 127.0f : 32767.0f;
        constexpr float first = 1.0f / top;
        constexpr float rest = (float)(1.0 / (double)top - (double)first);
        uint32_t least = low[0];

        NG_CUDA_UNROLL
        for (int i = 0; i < NG_CUDA_OCTET; i++) {
            const float value = ng_cuda_low_of_pair(low[i / 2], i % 2);
            const float k =
                bits == 8
                    ? ng_cuda_byte_number(rho[i / 4 % rho_room] ^ 0x80808080,
                                          i % 4, 128.0f)
                    : ng_cuda_half_number(rho[i / 2 % rho_room] ^ 0x80008000,
                                          i % 2, 32768.0f);
            const float share =
                ng_cuda_fma_rn(k, first, ng_cuda_mul_rn(k, rest));
            const float half_ulp = ng_cuda_float_of(
                (ng_cuda_bits_of(value) & 0x7F800000) - (8u << 23));

            /* the product is exact, so this rounds as a sum does */
            theta[i] = ng_cuda_fma_rn(share, half_ulp, value);
            if (i % 2 == 0)
                least = ng_cuda_min_magnitude_bf16x2(least, low[i / 2]);
        }
        odd |= ng_cuda_half_below(least, 0x0D80); /* 2^-100 */
    }

    /* FLOOR, a BF16 code: lows below it are odd too; 0: none are. */
    template <uint32_t FLOOR>
    NG_HOST_DEVICE void split(const float *theta, bool &odd)
    {
        if (FORM == NG_CUDA_FP32) {
            split_fp32<FLOOR>(theta, odd);
            return;
        }
        if (SPLIT == NG_SPLIT_ULP && bits > 0) {
            split_ulp(theta);
            if (FLOOR == 0)
                odd |= has_nan(theta);
        } else
            split_nearest(theta);

        constexpr uint32_t floor =
            SPLIT == NG_SPLIT_ULP || bits == 0 || FLOOR > 0x0D80 ? FLOOR
                                                                 : 0x0D80;
        uint32_t most = 0, least = low[0];

        NG_CUDA_UNROLL
        for (int i = 0; i < 4; i++) {
            most = ng_cuda_max_magnitude_bf16x2(most, low[i]);
            if (floor > 0)
                least = ng_cuda_min_magnitude_bf16x2(least, low[i]);
        }
        odd |= ng_cuda_half_reaches(most, 0x7F80);
        if (floor > 0)
            odd |= ng_cuda_half_below(least & 0x7FFF7FFF, floor);
    }

    template <uint32_t FLOOR>
    NG_HOST_DEVICE void split_fp32(const float *theta, bool &odd)
    {
        NG_CUDA_UNROLL
        for (int i = 0; i < NG_CUDA_OCTET; i++) {
            low[i % low_words] = ng_cuda_bits_of(theta[i]);
            if (FLOOR > 0)
                odd |= !(std::fabs(theta[i]) >= ng_cuda_float_of(FLOOR << 16));
#ifndef __CUDA_ARCH__
            odd |= theta[i] != theta[i]; /* the host's NaN is any */
#endif
        }
    }

    /* NaN and Inf times 0 are NaN, and stay in a sum. */
    NG_HOST_DEVICE static bool has_nan(const float *theta)
    {
        float sum = 0.0f;

        NG_CUDA_UNROLL
        for (int i = 0; i < NG_CUDA_OCTET; i++)
            sum = ng_cuda_fma_rn(theta[i], 0.0f, sum);
        return sum != 0.0f;
    }

    /* The largest NaN patterns, the device's own among them, pass the end of
     * the patterns here and come out as a low of +-0: below any floor, else to
     * be looked for. */
    NG_HOST_DEVICE void split_ulp(const float *theta)
    {
        uint32_t x[NG_CUDA_OCTET];

        NG_CUDA_UNROLL
        for (int i = 0; i < NG_CUDA_OCTET; i++) {
            const uint32_t pattern = ng_cuda_bits_of(theta[i]);

            x[i] = bits == 8 ? pattern + 0x807F + (pattern >> 8 & 1)
                             : pattern + 0x8000;
        }
        NG_CUDA_UNROLL
        for (int i = 0; i < 4; i++) {
            low[i] = ng_cuda_join_upper(x[2 * i], x[2 * i + 1]);
            if (bits == 16)
                rho[i % rho_room] =
                    ng_cuda_prmt(x[2 * i], x[2 * i + 1], 0x5410) ^ 0x80008000;
        }
        if (bits == 8)
            NG_CUDA_UNROLL
        for (int i = 0; i < 2; i++)
            rho[i % rho_room] = ng_cuda_join_bytes(x + 4 * i, 1) ^ 0x80808080;
    }

    /* low nearest; rho, flashoptim's, of what is left. The clamp of the rule
     * does nothing: low is nearest, so |theta - low| is at most half an ulp. */
    NG_HOST_DEVICE void split_nearest(const float *theta)
    {
        NG_CUDA_UNROLL
        for (int i = 0; i < 4; i++)
            low[i] = ng_cuda_cvt_bf16x2(theta[2 * i], theta[2 * i + 1]);
        if constexpr (bits > 0)
            split_rest(theta);
    }

    NG_HOST_DEVICE void split_rest(const float *theta)
    {
        constexpr float top = bits == 8 ? 127.0f : 32767.0f;
        uint32_t x[NG_CUDA_OCTET];

        NG_CUDA_UNROLL
        for (int i = 0; i < NG_CUDA_OCTET; i++) {
            const float value = ng_cuda_low_of_pair(low[i / 2], i % 2);
            const float per_half_ulp = ng_cuda_float_of(
                0x83000000u - (ng_cuda_bits_of(value) & 0x7F800000));
            const float e = ng_cuda_mul_rn(
                ng_cuda_mul_rn(ng_cuda_add_rn(theta[i], -value), per_half_ulp),
                top);

            /* |e| + 0.5 cut, with the sign of e: half is 0.5 with that */
            const float half = ng_cuda_float_of(
                (ng_cuda_bits_of(e) & 0x80000000) | 0x3F000000);

            x[i] = (uint32_t)(int32_t)ng_cuda_add_rn(e, half);
        }
        if (bits == 16)
            NG_CUDA_UNROLL
        for (int i = 0; i < 4; i++)
            rho[i % rho_room] = ng_cuda_prmt(x[2 * i], x[2 * i + 1], 0x5410);
        else NG_CUDA_UNROLL for (int i = 0; i < 2; i++) rho[i % rho_room] =
            ng_cuda_join_bytes(x + 4 * i, 0);
    }
};

#endif
