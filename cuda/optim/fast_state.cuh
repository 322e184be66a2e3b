/* SPDX-License-Identifier: Apache-2.0
 *
 * Companded states, eight at a time, for what training has; where something is
 * out of these bounds `odd` is set and the caller goes the way of
 * state_code.cuh instead: a scale that is 0, subnormal (UE6M10, below 2^-45),
 * past the range, or of a group with a NaN or an infinity; and codes under rule
 * ng whose quotient is just between two integers.
 *
 * Decoding. A table of what each of the 256 codes is worth under the scale 1,
 * in shared memory, made by ng_cuda_state_factor.
 *
 * Coding, rule ng. state_code.cuh has the argument: of the approximate quotient
 * u any floor k that is at most one off is good, since only k + 1/2, the
 * boundary beside u, is asked for, exactly. The errors here are some 2^-21 of
 * u, far below 1/2. What is negative is folded at no cost: k is the floor of
 * the signed u, h = 2k + 1, and (508 - |h|) m - h s has the sign of u - h/2
 * whatever that of m is (m > 0 and h = -1 do not meet: u is then above -1/2 as
 * well as above 0). A tie is odd. The variance's "at least 1": r is raised to
 * 3/4 of a code, which becomes 1, and r = 0 is odd, as it has no root
 * (exact.cuh). k reaches 127 and 255 only from u below 127.5 and 255.5: the
 * largest magnitude is at most s (1 + 2^-11) for normal s.
 *
 * Coding, rule flashoptim: the published operations, quotients by exact.cuh.
 * Magnitudes below 2^-100, whose quotients are not exact, are below 2^-60 of a
 * scale, and code to 0 all the same.
 */
#ifndef NG_CUDA_OPTIM_FAST_STATE_CUH
#define NG_CUDA_OPTIM_FAST_STATE_CUH

#include "cuda/optim/exact.cuh"
#include "cuda/optim/fast_weight.cuh"
#include "cuda/optim/state_code.cuh"

/* 1.5 * 2^23: integers from -2^22 to 2^22, added to it, lie in the low bits. */
#define NG_CUDA_MAGIC 0x1.8p23f

/* A group's new scale: the stored code, its value (flashoptim: the divisor),
 * and what quotients by it are made of. */
struct ng_cuda_fast_scale {
    uint32_t code;
    float s, inverse;
};

/* largest: bits of the group's largest magnitude, above Inf where it has a NaN.
 */
template <int COMPAND>
NG_HOST_DEVICE ng_cuda_fast_scale ng_cuda_fast_scale_of(uint32_t largest,
                                                        bool &odd)
{
    if (COMPAND == NG_COMPAND_NG) {
        /* 13 fraction bits go, ties to even; 81 = 127 - 46 between the biases
         */
        const uint32_t code =
            ((largest + 0xFFF + (largest >> 13 & 1)) >> 13) - (81u << 10);
        const float s = ng_cuda_float_of((code + (81u << 10)) << 13);

        odd |= code - 0x400 > NG_UE6M10_MAX_CODE - 0x400;
        return {code, s, ng_cuda_reciprocal_approx(s)};
    }

    const float least = 0x1.197998p-40f; /* RN32(10^-12) */
    const float a =
        ng_cuda_float_of(largest) > least ? ng_cuda_float_of(largest) : least;
    const uint32_t code = ng_cuda_cvt_fp16x2(a, 0.0f) & 0xFFFF;

    odd |= largest >= NG_FP32_INFINITY || code - 1 >= NG_FP16_INFINITY - 1;
    return {code, a, ng_cuda_reciprocal(a)};
}

/* Bytes of eight codes, which are the low bytes of x. */
NG_HOST_DEVICE void ng_cuda_pack_codes(uint32_t *codes, const uint32_t *x)
{
    codes[0] = ng_cuda_join_bytes(x, 0);
    codes[1] = ng_cuda_join_bytes(x + 4, 0);
}

/* k + (k + 1/2 < u), of k in magic's low bits and a number of the sign of
 * k + 1/2 - u. */
NG_HOST_DEVICE uint32_t ng_cuda_next_if_negative(float k, float side)
{
    return ng_cuda_bits_of(k) + (ng_cuda_bits_of(side) >> 31);
}

template <int COMPAND>
NG_HOST_DEVICE void ng_cuda_fast_momentum(uint32_t *codes, const float *m,
                                          const ng_cuda_fast_scale &scale,
                                          bool &odd)
{
    uint32_t x[NG_CUDA_OCTET];

    NG_CUDA_UNROLL
    for (int i = 0; i < NG_CUDA_OCTET; i++) {
        if (COMPAND == NG_COMPAND_NG) {
            const float n =
                ng_cuda_mul_rn(m[i], ng_cuda_reciprocal_approx(ng_cuda_add_rn(
                                         scale.s, std::fabs(m[i]))));
            const float at = ng_cuda_floor_product(n, 254.0f, NG_CUDA_MAGIC);
            const float h =
                ng_cuda_fma_rn(2.0f, ng_cuda_add_rn(at, -NG_CUDA_MAGIC), 1.0f);
            const float weight = ng_cuda_add_rn(508.0f, -std::fabs(h));
            const float side =
                ng_cuda_fma_rn(-weight, m[i], ng_cuda_mul_rn(h, scale.s));

            odd |= side == 0.0f;
            x[i] = ng_cuda_next_if_negative(at, side);
        } else {
            const float n = ng_cuda_quotient(m[i], scale.s, scale.inverse);
            const float divisor = ng_cuda_add_rn(1.0f, std::fabs(n));
            const float folded = ng_cuda_quotient(
                ng_cuda_mul_rn(2.0f, n), divisor, ng_cuda_reciprocal(divisor));

            x[i] = ng_cuda_bits_of(ng_cuda_floor_sum(
                ng_cuda_add_rn(ng_cuda_mul_rn(folded, 127.0f), 0.5f),
                NG_CUDA_MAGIC));
        }
    }
    ng_cuda_pack_codes(codes, x);
}

/* r is sqrt v. */
template <int COMPAND>
NG_HOST_DEVICE void ng_cuda_fast_variance(uint32_t *codes, const float *r,
                                          const ng_cuda_fast_scale &scale,
                                          bool &odd)
{
    const float step = ng_cuda_mul_rn(scale.inverse, 255.0f);
    const float least = ng_cuda_mul_rn(scale.s, 0.75f / 255.0f);
    const float twice = ng_cuda_mul_rn(scale.s, 2.0f);
    uint32_t x[NG_CUDA_OCTET];

    NG_CUDA_UNROLL
    for (int i = 0; i < NG_CUDA_OCTET; i++) {
        if (COMPAND == NG_COMPAND_NG) {
            const float raised = ng_cuda_max_magnitude(least, r[i]);
            const float at = ng_cuda_floor_product(raised, step, NG_CUDA_MAGIC);
            const float boundary = ng_cuda_fma_rn(
                ng_cuda_add_rn(at, -NG_CUDA_MAGIC), twice, scale.s);
            const float side = ng_cuda_fma_rn(-510.0f, raised, boundary);

            odd |= side == 0.0f;
            x[i] = ng_cuda_next_if_negative(at, side);
        } else {
            const float n = ng_cuda_quotient(r[i], scale.s, scale.inverse);

            x[i] = ng_cuda_bits_of(ng_cuda_floor_sum(
                ng_cuda_add_rn(ng_cuda_mul_rn(n, 255.0f), 0.5f),
                NG_CUDA_MAGIC));
        }
    }
    ng_cuda_pack_codes(codes, x);
}

/* Eight codes, in two words, to numbers: of momentum, or of variance. */
NG_HOST_DEVICE void ng_cuda_fast_expand(float *x, const uint32_t *codes,
                                        float scale, const float *table,
                                        bool squared)
{
    NG_CUDA_UNROLL
    for (int i = 0; i < NG_CUDA_OCTET; i++) {
        const uint32_t code =
            ng_cuda_prmt(codes[i / 4], 0, 0x4440u | (uint32_t)(i % 4));
        const float t = ng_cuda_mul_rn(table[code], scale);

        x[i] = squared ? ng_cuda_mul_rn(t, t) : t;
    }
}

#endif
