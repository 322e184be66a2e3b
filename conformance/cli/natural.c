/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/cli/natural.h"

#include <stdlib.h>

static void append(ng_natural *a, uint32_t limb)
{
    if (a->n == NG_NATURAL_LIMBS)
        abort();
    a->limb[a->n++] = limb;
}

static void trim(ng_natural *a)
{
    while (a->n > 0 && a->limb[a->n - 1] == 0)
        a->n--;
}

void ng_natural_set(ng_natural *a, uint64_t value)
{
    a->n = 0;
    for (; value != 0; value >>= 32)
        append(a, (uint32_t)value);
}

bool ng_natural_is_zero(const ng_natural *a)
{
    return a->n == 0;
}

int ng_natural_bits(const ng_natural *a)
{
    int bits = 32 * (a->n - 1);

    if (a->n == 0)
        return 0;
    for (uint32_t top = a->limb[a->n - 1]; top != 0; top >>= 1)
        bits++;
    return bits;
}

int ng_natural_compare(const ng_natural *a, const ng_natural *b)
{
    if (a->n != b->n)
        return a->n < b->n ? -1 : 1;
    for (int i = a->n - 1; i >= 0; i--)
        if (a->limb[i] != b->limb[i])
            return a->limb[i] < b->limb[i] ? -1 : 1;
    return 0;
}

void ng_natural_multiply_add(ng_natural *a, uint32_t factor, uint32_t addend)
{
    uint64_t carry = addend;

    for (int i = 0; i < a->n; i++) {
        carry += (uint64_t)a->limb[i] * factor;
        a->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry != 0)
        append(a, (uint32_t)carry);
    trim(a);
}

void ng_natural_scale_ten(ng_natural *a, int exponent)
{
    for (; exponent >= 9; exponent -= 9)
        ng_natural_multiply_add(a, 1000000000, 0);
    for (; exponent > 0; exponent--)
        ng_natural_multiply_add(a, 10, 0);
}

void ng_natural_shift_left(ng_natural *a, int bits)
{
    const int limbs = bits / 32;

    if (a->n == 0)
        return;
    ng_natural_multiply_add(a, UINT32_C(1) << bits % 32, 0);
    for (int i = 0; i < limbs; i++)
        append(a, 0);
    for (int i = a->n - 1; limbs > 0 && i >= 0; i--)
        a->limb[i] = i >= limbs ? a->limb[i - limbs] : 0;
}

void ng_natural_subtract(ng_natural *a, const ng_natural *b)
{
    int64_t borrow = 0;

    for (int i = 0; i < a->n; i++) {
        int64_t difference =
            (int64_t)a->limb[i] - (i < b->n ? b->limb[i] : 0) + borrow;

        borrow = difference < 0 ? -1 : 0;
        a->limb[i] = (uint32_t)difference;
    }
    trim(a);
}

void ng_natural_multiply(ng_natural *product, const ng_natural *a,
                         const ng_natural *b)
{
    if (a->n + b->n > NG_NATURAL_LIMBS)
        abort();
    product->n = a->n + b->n;
    for (int i = 0; i < product->n; i++)
        product->limb[i] = 0;
    for (int i = 0; i < a->n; i++) {
        uint64_t carry = 0;

        for (int j = 0; j < b->n || carry != 0; j++) {
            carry += product->limb[i + j];
            if (j < b->n)
                carry += (uint64_t)a->limb[i] * b->limb[j];
            product->limb[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
    }
    trim(product);
}
