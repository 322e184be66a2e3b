/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/cli/code_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char no_code[] =
    "is no code: write hexadecimal (0x7E) or binary (0b1111110)";

/* "0b10" is binary, but also how a zero-padded print of 16 bits shows 0x0B10:
 * where the length allows both readings, neither is taken. */
static const char *find_base(int *base, const char **digits,
                             const ng_format *format, const char *text)
{
    const int prefix = text[0] == '0' ? tolower((unsigned char)text[1]) : 0;
    const size_t n = strlen(text);

    *base = 16;
    *digits = prefix == 'x' ? text + 2 : text;
    if (prefix == 'b' && n > 2 && strspn(text + 2, "01") == n - 2) {
        if (n == (size_t)(format->bits + 3) / 4)
            return "can be read as hexadecimal and as binary: begin it with 0x,"
                   " or give binary another number of digits";
        *base = 2;
        *digits = text + 2;
    }
    return **digits == '\0' ? no_code : NULL;
}

const char *ng_code_parse(uint32_t *code, const ng_format *format,
                          const char *text)
{
    int base;
    const char *fault = find_base(&base, &text, format, text);
    uint64_t value = 0;

    for (; fault == NULL && *text != '\0'; text++) {
        static const char digits[] = "0123456789abcdef";
        const char *digit = strchr(digits, tolower((unsigned char)*text));

        if (digit == NULL || digit - digits >= base)
            return no_code;
        value = (uint64_t)base * value + (uint64_t)(digit - digits);
        if (value >> format->bits != 0)
            return "is wider than a code of the format";
    }
    *code = (uint32_t)value;
    return fault;
}

void ng_code_print(char *text, const ng_format *format, uint32_t code)
{
    snprintf(text, NG_CODE_TEXT, "0x%0*" PRIX32, (format->bits + 3) / 4, code);
}

void ng_code_print_fields(char *text, const ng_format *format, uint32_t code)
{
    for (int bit = format->bits - 1; bit >= 0; bit--) {
        *text++ = (char)('0' + (code >> bit & 1));
        if ((format->is_signed && bit == format->bits - 1)
            || (bit == format->fraction_bits && bit > 0))
            *text++ = ' ';
    }
    *text = '\0';
}

static uint32_t magnitude_of(const ng_format *format, uint32_t code)
{
    return code & ~ng_format_sign(format);
}

int ng_code_exponent(const ng_format *format, uint32_t code)
{
    return (int)(magnitude_of(format, code) >> format->fraction_bits);
}

uint32_t ng_code_fraction(const ng_format *format, uint32_t code)
{
    return code & ((UINT32_C(1) << format->fraction_bits) - 1);
}

const char *ng_code_class(const ng_format *format, uint32_t code)
{
    const uint32_t magnitude = magnitude_of(format, code);

    if (magnitude > format->max_finite)
        return (int64_t)magnitude == format->infinity ? "Inf" : "NaN";
    if (!format->has_subnormals)
        return "normal";
    return magnitude == 0                            ? "zero"
           : magnitude >> format->fraction_bits == 0 ? "subnormal"
                                                     : "normal";
}

bool ng_code_next(uint32_t *next, const ng_format *format, uint32_t code,
                  bool above)
{
    const uint32_t sign = ng_format_sign(format);
    const uint32_t magnitude = magnitude_of(format, code);
    const uint32_t last = format->infinity != NG_NO_CODE
                              ? (uint32_t)format->infinity
                              : format->max_finite;
    const bool away = magnitude == 0 || above == ((code & sign) == 0);

    if (magnitude > last || (away && magnitude == last))
        return false;
    if (magnitude == 0) { /* of either sign */
        if (!above && sign == 0)
            return false;
        *next = above ? 1 : sign | 1;
        return true;
    }
    *next = (code & sign) | (away ? magnitude + 1 : magnitude - 1);
    return true;
}

int ng_code_ulp_log2(const ng_format *format, uint32_t code)
{
    const int field = ng_code_exponent(format, code);

    return (field == 0 && format->has_subnormals ? 1 : field) - format->bias
           - format->fraction_bits;
}
