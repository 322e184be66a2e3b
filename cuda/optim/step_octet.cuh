/* SPDX-License-Identifier: Apache-2.0
 *
 * The step of eight neighbouring elements, a quarter of a group, for what
 * training has; the four quarters' threads tell each other their largest
 * magnitudes between `run` and `code`. Where anything is out of bounds `odd` is
 * set, and the caller does the group by step_share.cuh instead: so what is here
 * need only be exact inside its bounds, which are checked on what came out.
 *
 * Adam. The root r of the new v and the quotient are those of exact.cuh; what
 * they need is checked:
 *   - r from 2^-49 to 2^20: a root outside, or of a v that has none, fails;
 *   - |m| up to 2^20. With it the constants keep b = ka r + eps and a = al m
 *     within bounds (ng_cuda_fast_constants);
 *   - |theta| from FLOOR up. Where |a| is so small that a/b is not exact, below
 *     2^-100, true and computed quotient are both below a quarter ulp of FLOOR
 *     (the same check): then theta is what its decay made it, as it should be.
 */
#ifndef NG_CUDA_OPTIM_STEP_OCTET_CUH
#define NG_CUDA_OPTIM_STEP_OCTET_CUH

#include "cuda/optim/fast_state.cuh"
#include "cuda/optim/step_job.cuh"

enum ng_cuda_row { NG_CUDA_ROW_SGD, NG_CUDA_ROW_ADAM, NG_CUDA_ROW_LION };

enum ng_cuda_states {
    NG_CUDA_STATES_CODED, /* companded */
    NG_CUDA_STATES_FP32,
    NG_CUDA_STATES_NONE /* SGD without momentum */
};

/* Both rules at once: split, compand and step are ng's, or flashoptim's. */
enum ng_cuda_rule_set { NG_CUDA_RULES_NG, NG_CUDA_RULES_FLASHOPTIM };

/* BF16 codes of FLOOR: 2^-33 and 2^-24. */
enum { NG_CUDA_FLOOR_NG = 0x2F00, NG_CUDA_FLOOR_FLASHOPTIM = 0x3380 };

/* Whether Adam's constants keep the quotients within exact.cuh's bounds, given
 * |m| and r up to 2^20:
 *   b >= eps >= 2^-40; b < 2^20 * 2^20 + 2^11; |a| <= 2^20 * 2^20
 *   ng: where |a| < 2^-100, a/b < 2^-60, a quarter of the ulp 2^-57 of numbers
 *   from 2^-34 on is 2^-59
 *   flashoptim: where |m| < 2^-100, mh < 2^-90 (bc1 >= 2^-10), and
 *   lr mh / b < 2^-90 * 1 * 2^40 = 2^-50, a quarter ulp at FLOOR; vh lies
 *   between 2^-98 and 2^80, as v does between 2^-98 and 2^40. */
inline bool ng_cuda_fast_constants(const ng_step_constants &c, int step)
{
    const float lr = std::fabs(c.lr);

    if (c.kind != NG_ADAM && c.kind != NG_ADAMW)
        return true;
    if (!(c.eps >= 0x1p-40f && c.eps <= 0x1p10f))
        return false;
    if (step == NG_STEP_NG)
        return std::fabs(c.al) <= 0x1p20f && c.ka <= 0x1p20f;
    return lr <= 1.0f && c.bc1 >= 0x1p-10f && c.bc1 <= 1.0f && c.bc2 >= 0x1p-40f
           && c.bc2 <= 1.0f;
}

/* What is the same for all elements. table: of momentum's and of variance's
 * codes. */
struct ng_cuda_octet_context {
    const ng_step_constants &c;
    float bc1_inverse, bc2_inverse; /* RN(1/bc) */
    const float *table[NG_N_STATE_KINDS];
    bool has_grad_scale;
    float grad_scale;
};

template <int ROW, int STATES, int FORM, int RULES> struct ng_cuda_octet {
    static constexpr bool coded = STATES == NG_CUDA_STATES_CODED;
    static constexpr bool has_m = STATES != NG_CUDA_STATES_NONE;
    static constexpr bool has_v = ROW == NG_CUDA_ROW_ADAM;
    static constexpr bool ng = RULES == NG_CUDA_RULES_NG;
    static constexpr int split = ng ? NG_SPLIT_ULP : NG_SPLIT_FLASHOPTIM;
    static constexpr int compand = ng ? NG_COMPAND_NG : NG_COMPAND_FLASHOPTIM;
    static constexpr int state_words = coded ? 2 : 8;
    static constexpr uint32_t floor = !has_v ? 0
                                      : ng   ? NG_CUDA_FLOOR_NG
                                             : NG_CUDA_FLOOR_FLASHOPTIM;

    using weights_type = ng_cuda_fast_weights<FORM, split>;

    /* As memory has them, old and then new. */
    weights_type weights;
    uint32_t state[NG_N_STATE_KINDS][state_words];
    uint32_t scale[NG_N_STATE_KINDS];

    /* Between run and code: new m, and new r or, of FP32 states, v. */
    float m[NG_CUDA_OCTET], v[NG_CUDA_OCTET];
    uint32_t largest[NG_N_STATE_KINDS];
    bool odd;

    NG_HOST_DEVICE void expand(float *x, int kind, const float *table)
    {
        if (!coded) {
            NG_CUDA_UNROLL
            for (int i = 0; i < NG_CUDA_OCTET; i++)
                x[i] = ng_cuda_float_of(state[kind][i % state_words]);
            return;
        }

        const float s =
            ng ? ng_cuda_mul_rn(ng_cuda_float_of(scale[kind] << 13), 0x1p81f)
               : ng_cuda_low_value(scale[kind], NG_FP16);

        odd |= ng && scale[kind] == NG_UE6M10_NAN;
        ng_cuda_fast_expand(x, state[kind], s, table, kind == NG_VARIANCE);
    }

    /* theta - move, the decay before: d = 1 changes nothing. */
    NG_HOST_DEVICE static float moved(float theta, float move,
                                      const ng_step_constants &c)
    {
        return ng_cuda_add_rn(ng_cuda_mul_rn(c.d, theta), -move);
    }

    /* g in FP32, its scale not yet applied. */
    NG_HOST_DEVICE void run(float *g, const ng_cuda_octet_context &context)
    {
        const ng_step_constants &c = context.c;
        float theta[NG_CUDA_OCTET];

        odd = false;
        weights.merge(theta, odd);
        if (context.has_grad_scale)
            NG_CUDA_UNROLL
        for (int i = 0; i < NG_CUDA_OCTET; i++)
            g[i] = ng_cuda_mul_rn(g[i], context.grad_scale);
        if (ROW != NG_CUDA_ROW_LION && c.w != 0.0f)
            NG_CUDA_UNROLL
        for (int i = 0; i < NG_CUDA_OCTET; i++)
            g[i] = ng_cuda_add_rn(g[i], ng_cuda_mul_rn(c.w, theta[i]));
        if (has_m)
            expand(m, NG_MOMENTUM, context.table[NG_MOMENTUM]);
        if (has_v)
            expand(v, NG_VARIANCE, context.table[NG_VARIANCE]);
        if (ROW == NG_CUDA_ROW_SGD)
            sgd(theta, g, c);
        else if (ROW == NG_CUDA_ROW_LION)
            lion(theta, g, c);
        else
            adam(theta, g, context);
        if constexpr (has_m)
            sum_up();
        weights.template split<floor>(theta, odd);
    }

    NG_HOST_DEVICE void sgd(float *theta, const float *g,
                            const ng_step_constants &c)
    {
        NG_CUDA_UNROLL
        for (int i = 0; i < NG_CUDA_OCTET; i++) {
            float u = g[i];

            if (has_m) {
                m[i] = ng_cuda_two_products(c.mu, m[i], c.cd, g[i]);
                u = c.nesterov ? ng_cuda_add_rn(u, ng_cuda_mul_rn(c.mu, m[i]))
                               : m[i];
            }
            theta[i] = moved(theta[i], ng_cuda_mul_rn(c.lr, u), c);
        }
    }

    /* A direction that is NaN comes with an m that is not finite: c1 and c2 are
     * not 0, and what else makes one makes the other. That is odd. */
    NG_HOST_DEVICE void lion(float *theta, const float *g,
                             const ng_step_constants &c)
    {
        const float none = ng_cuda_mul_rn(c.lr, 0.0f);

        NG_CUDA_UNROLL
        for (int i = 0; i < NG_CUDA_OCTET; i++) {
            const float u = ng_cuda_two_products(c.b1, m[i], c.c1, g[i]);
            const float move = u > 0.0f ? c.lr : u < 0.0f ? -c.lr : none;

            m[i] = ng_cuda_two_products(c.b2, m[i], c.c2, g[i]);
            theta[i] = moved(theta[i], move, c);
        }
    }

    NG_HOST_DEVICE void adam(float *theta, const float *g,
                             const ng_cuda_octet_context &context)
    {
        const ng_step_constants &c = context.c;
        float r_least = 0x1p20f, r_most = 0.0f;

        NG_CUDA_UNROLL
        for (int i = 0; i < NG_CUDA_OCTET; i++) {
            m[i] = ng_cuda_two_products(c.b1, m[i], c.c1, g[i]);
            v[i] = ng_cuda_two_products(c.b2, v[i], c.c2,
                                        ng_cuda_mul_rn(g[i], g[i]));

            const float r = ng_cuda_root(v[i]);
            float a, b;

            if (ng) {
                a = ng_cuda_mul_rn(c.al, m[i]);
                b = ng_cuda_add_rn(ng_cuda_mul_rn(c.ka, r), c.eps);
            } else {
                a = ng_cuda_mul_rn(
                    c.lr, ng_cuda_quotient(m[i], c.bc1, context.bc1_inverse));
                b = ng_cuda_add_rn(ng_cuda_root(ng_cuda_quotient(
                                       v[i], c.bc2, context.bc2_inverse)),
                                   c.eps);
            }
            theta[i] = moved(theta[i],
                             ng_cuda_quotient(a, b, ng_cuda_reciprocal(b)), c);
            r_least = ng_cuda_smaller(r_least, r);
            r_most = ng_cuda_max_magnitude(r_most, r);
            if (coded)
                v[i] = r;
        }
        odd |= !(r_least >= 0x1p-49f && r_most <= 0x1p20f);
        largest[NG_VARIANCE] = ng_cuda_bits_of(r_most);
    }

    /* NaN lies above every number here, and stays. */
    NG_HOST_DEVICE void sum_up()
    {
        float most = 0.0f;

        NG_CUDA_UNROLL
        for (int i = 0; i < NG_CUDA_OCTET; i++)
            most = ng_cuda_max_magnitude(most, m[i]);
        odd |= !(most <= 0x1p20f);
        largest[NG_MOMENTUM] = ng_cuda_bits_of(most);
    }

    /* largest: now of the whole group. */
    NG_HOST_DEVICE void code()
    {
        if (coded) {
            const ng_cuda_fast_scale s =
                ng_cuda_fast_scale_of<compand>(largest[NG_MOMENTUM], odd);

            scale[NG_MOMENTUM] = s.code;
            ng_cuda_fast_momentum<compand>(state[NG_MOMENTUM], m, s, odd);
        }
        if (coded && has_v) {
            const ng_cuda_fast_scale s =
                ng_cuda_fast_scale_of<compand>(largest[NG_VARIANCE], odd);

            scale[NG_VARIANCE] = s.code;
            ng_cuda_fast_variance<compand>(state[NG_VARIANCE], v, s, odd);
        }
        if (!coded)
            NG_CUDA_UNROLL
        for (int i = 0; i < NG_CUDA_OCTET; i++) {
            if (has_m)
                state[NG_MOMENTUM][i % state_words] = ng_cuda_bits_of(m[i]);
            if (has_v)
                state[NG_VARIANCE][i % state_words] = ng_cuda_bits_of(v[i]);
        }
    }
};

#endif
