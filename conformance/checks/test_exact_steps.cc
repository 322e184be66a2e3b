/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels' shortcuts to exact results, with the host's seeds: reciprocals
 * and roots of every significand, quotients at the hardest places, every share
 * of the largest correction. Exits 1 where one differs from IEEE.
 */
#include <cinttypes>
#include <cstdio>

#include "cuda/optim/exact.cuh"
#include "cuda/optim/fast_weight.cuh"
#include "cuda/optim/state_code.cuh"

namespace
{

int failures;

void report(const char *what, int64_t inputs, int64_t differences)
{
    std::printf("%s: %" PRId64 " inputs, %" PRId64 " differences\n", what,
                inputs, differences);
    if (inputs == 0 || differences != 0)
        failures++;
}

float next(float x, int ulps)
{
    return ng_cuda_float_of(ng_cuda_bits_of(x) + (uint32_t)ulps);
}

/* b in [1, 2), from 1/b as the seed. */
void reciprocals()
{
    int64_t differences = 0;

    for (uint32_t bits = 0x3F800000; bits < 0x40000000; bits++) {
        const float b = ng_cuda_float_of(bits);

        differences += ng_cuda_reciprocal_from(1.0f / b, b) != 1.0f / b;
    }
    report("reciprocal", INT64_C(1) << 23, differences);
}

/* v in [1, 4), from the nearest seed. */
void roots()
{
    int64_t differences = 0;

    for (uint32_t bits = 0x3F800000; bits < 0x40800000; bits++) {
        const float v = ng_cuda_float_of(bits);
        const float seed = (float)(1 / std::sqrt((double)v));

        differences += ng_cuda_root_from(seed, v) != std::sqrt(v);
    }
    report("root", INT64_C(1) << 24, differences);
}

/* Quotients next to the midpoint of two numbers: a = RN(b m) for midpoints m,
 * and its neighbours; and whatever the generator gives (xorshift, Marsaglia
 * 2003). */
void quotients()
{
    const int64_t n = 3000000;
    uint64_t state = 88172645463325252;
    int64_t differences = 0;

    for (int64_t i = 0; i < n; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;

        const float b =
            ng_cuda_float_of(0x3F800000 | (uint32_t)(state & 0x7FFFFF));
        const double midpoint =
            1 + ((double)(state >> 23 & 0x7FFFFF) + 0.5) / 0x1p23;
        const float a =
            next((float)((double)b * midpoint), (int)(state >> 46 & 3) - 1);

        differences += ng_cuda_quotient(a, b, 1.0f / b) != a / b;
    }
    report("quotient", n, differences);
}

/* rho / M by the product with 1/M in two parts, as weights are merged: a low of
 * 1 has half an ulp of 2^-8. */
template <int FORM, int FIRST, int LAST> void shares(const char *name)
{
    ng_cuda_fast_weights<FORM, NG_SPLIT_FLASHOPTIM> weights = {};
    const int n = weights.bits;
    int64_t differences = 0;

    for (int i = 0; i < 4; i++)
        weights.low[i] = 0x3F803F80;
    for (int rho = FIRST; rho <= LAST; rho++) {
        const uint32_t bits = (uint32_t)rho & ((1u << n) - 1);
        float theta[NG_CUDA_OCTET];
        bool odd = false;

        for (int i = 0; i < n / 4; i++)
            weights.rho[i] = n == 8 ? bits * 0x01010101 : bits * 0x00010001;
        weights.merge(theta, odd);

        const float share = (float)rho / (n == 8 ? 127.0f : 32767.0f);

        for (int i = 0; i < NG_CUDA_OCTET; i++)
            differences += odd || theta[i] != 1.0f + share * 0x1p-8f;
    }
    report(name, LAST - FIRST + 1, differences);
}

} // namespace

int main()
{
    reciprocals();
    roots();
    quotients();
    shares<NG_CUDA_BF16_8, -128, 127>("share of 127");
    shares<NG_CUDA_BF16_16, -32768, 32767>("share of 32767");
    return failures != 0;
}
