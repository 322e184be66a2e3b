/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/optim/ref_root.h"

/* floor(sqrt n) for n < 2^62, a bit at a time from the highest: a bit stays if
 * the square stays within n. */
static uint64_t integer_root(uint64_t n)
{
    uint64_t root = 0;

    for (uint64_t bit = UINT64_C(1) << 30; bit != 0; bit >>= 1)
        if ((root | bit) * (root | bit) <= n)
            root |= bit;
    return root;
}

/* v = n * 2^e with n in [2^60, 2^62) and e even: sqrt v is sqrt(n) * 2^(e/2),
 * its integer part has 31 bits, more than the rounding to 24 needs, and the
 * rest is sticky. */
ng_exact ng_ref_root_fp32(ng_exact v)
{
    unsigned events = 0;

    v.negative = false;
    if (v.significand == 0)
        return v;

    int shift = 60 - (ng_exact_floor_log2(v) - v.exponent);

    if ((v.exponent - shift) % 2 != 0)
        shift++;

    const uint64_t n = v.significand << shift;
    const uint64_t root = integer_root(n);

    v.significand = root;
    v.sticky = root * root != n;
    v.exponent = (v.exponent - shift) / 2;
    return ng_exact_round_fp32(v, &events);
}
