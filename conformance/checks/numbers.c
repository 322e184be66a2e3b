/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/checks/numbers.h"

#include <math.h>

const ng_format *ng_number_format(ng_dtype dtype)
{
    return &ng_formats[dtype == NG_FP32   ? NG_FORMAT_FP32
                       : dtype == NG_BF16 ? NG_FORMAT_BF16
                                          : NG_FORMAT_FP16];
}

double ng_number_value(const ng_format *format, uint32_t code)
{
    const int p = format->fraction_bits;
    const int field = (int)(code >> p);
    const double fraction = code & ((UINT32_C(1) << p) - 1);

    if (field == 0)
        return ldexp(fraction, 1 - format->bias - p);
    return ldexp(fraction + ldexp(1, p), field - format->bias - p);
}

uint32_t ng_number_below(const ng_format *format, double x)
{
    const uint32_t sign = signbit(x) ? ng_format_sign(format) : 0;
    const int p = format->fraction_bits;
    const double magnitude = fabs(x);

    if (magnitude < ng_number_value(format, 1))
        return sign;
    if (magnitude >= ng_number_value(format, format->max_finite))
        return sign | format->max_finite;

    const int least = 1 - format->bias;
    const int exponent = ilogb(magnitude) > least ? ilogb(magnitude) : least;
    const uint32_t significand =
        (uint32_t)floor(ldexp(magnitude, p - exponent));

    /* The implicit one, where there is one, raises the field by one. */
    return sign | (((uint32_t)(exponent - least) << p) + significand);
}

uint32_t ng_number_step(const ng_format *format, uint32_t code, int steps)
{
    const uint32_t sign = code & ng_format_sign(format);
    const int64_t next = (int64_t)(code ^ sign) + steps;

    if (next < 0)
        return sign;
    return sign | (next > format->max_finite ? format->max_finite
                                             : (uint32_t)next);
}

int ng_number_least(const ng_format *format)
{
    return 1 - format->bias - format->fraction_bits;
}

int ng_number_most(const ng_format *format)
{
    return ilogb(ng_number_value(format, format->max_finite));
}

double ng_case_normal(ng_case *c)
{
    const uint64_t bits = ng_case_random(c);
    double sum = -2 * 65535.0;

    for (int i = 0; i < 4; i++)
        sum += (double)(bits >> 16 * i & 0xFFFF);
    return sum / 65535 * sqrt(3);       /* four times the variance 1/12 */
}

uint32_t ng_number_power(int k)
{
    return k >= -126 ? (uint32_t)(k + 127) << 23 : UINT32_C(1) << (k + 149);
}
