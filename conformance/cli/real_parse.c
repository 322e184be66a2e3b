/* SPDX-License-Identifier: Apache-2.0
 *
 * The forms in which a person writes a number, read without rounding.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "conformance/cli/code_text.h"
#include "conformance/cli/real_number.h"

/* With these the largest intermediate, a distance between a parsed number and
 * a neighbour, stays well within NG_NATURAL_BITS: a digit is at most 4 bits,
 * 10^2000 has 6644. */
enum { MAX_DIGITS = 1000, MAX_EXPONENT_10 = 2000, MAX_EXPONENT_2 = 6000 };

static int digit_value(char c)
{
    return isdigit((unsigned char)c) ? c - '0'
           : c >= 'a' && c <= 'f'    ? c - 'a' + 10
           : c >= 'A' && c <= 'F'    ? c - 'A' + 10
                                     : 99;
}

/* Read digits of a base, with a point among them if that is allowed. Returns
 * how many stand after the point, or -1 without any digit; *text moves on. */
static int read_digits(ng_natural *n, const char **text, int base, bool point,
                       int *n_digits)
{
    int after = -1;

    ng_natural_set(n, 0);
    for (*n_digits = 0; *n_digits <= MAX_DIGITS; (*text)++) {
        if (**text == '.' && point && after < 0) {
            after = 0;
            continue;
        }
        if (digit_value(**text) >= base)
            break;
        ng_natural_multiply_add(n, (uint32_t)base,
                                (uint32_t)digit_value(**text));
        (*n_digits)++;
        after += after >= 0;
    }
    return *n_digits == 0 ? -1 : after < 0 ? 0 : after;
}

/* Read "e-12", or nothing. Returns false if it is malformed or too large. */
static bool read_exponent(int *exponent, const char **text, char letter,
                          int limit)
{
    *exponent = 0;
    if (tolower((unsigned char)**text) != letter)
        return true;
    (*text)++;
    const bool negative = **text == '-';
    *text += **text == '-' || **text == '+';
    if (!isdigit((unsigned char)**text))
        return false;
    for (; isdigit((unsigned char)**text); (*text)++)
        if (*exponent <= limit)
            *exponent = 10 * *exponent + (**text - '0');
    if (negative)
        *exponent = -*exponent;
    return true;
}

static const char *parse_hex(ng_real *x, const char *text)
{
    int exponent, n_digits;
    const int after = read_digits(&x->top, &text, 16, true, &n_digits);

    if (n_digits > MAX_DIGITS)
        return "has more than 1000 digits";
    if (after < 0 || !read_exponent(&exponent, &text, 'p', MAX_EXPONENT_2)
        || *text != '\0')
        return "is no number";
    if (exponent > MAX_EXPONENT_2 || exponent < -MAX_EXPONENT_2)
        return "has an exponent beyond 6000";
    exponent -= 4 * after;
    ng_natural_shift_left(exponent >= 0 ? &x->top : &x->bottom,
                          exponent >= 0 ? exponent : -exponent);
    return NULL;
}

static const char *parse_decimal(ng_real *x, const char *text)
{
    int exponent, n_digits;
    const int after = read_digits(&x->top, &text, 10, true, &n_digits);

    if (n_digits > MAX_DIGITS)
        return "has more than 1000 digits";
    if (after == 0 && *text == '/' && text[-1] != '.') {
        text++;
        if (read_digits(&x->bottom, &text, 10, false, &n_digits) < 0
            || (*text != '\0' && n_digits <= MAX_DIGITS))
            return "is no fraction of two whole numbers";
        if (n_digits > MAX_DIGITS)
            return "has more than 1000 digits";
        return ng_natural_is_zero(&x->bottom) ? "divides by zero" : NULL;
    }
    if (after < 0 || !read_exponent(&exponent, &text, 'e', MAX_EXPONENT_10)
        || *text != '\0')
        return "is no number";
    if (exponent > MAX_EXPONENT_10 || exponent < -MAX_EXPONENT_10)
        return "has an exponent beyond 2000";
    exponent -= after;
    ng_natural_scale_ten(exponent >= 0 ? &x->top : &x->bottom,
                         exponent >= 0 ? exponent : -exponent);
    return NULL;
}

/* "fp32:3F800001": the value of that code. */
static const char *parse_bits(ng_real *x, const char *text, const char *colon)
{
    char name[16] = "";
    uint32_t code;

    if ((size_t)(colon - text) < sizeof name)
        memcpy(name, text, (size_t)(colon - text));
    const ng_format *format = ng_format_find(name);
    if (format == NULL)
        return "names no format before its colon (" NG_FORMAT_NAMES ")";
    const char *fault = ng_code_parse(&code, format, colon + 1);
    if (fault != NULL)
        return fault;
    ng_real_from_exact(x, ng_exact_decode(format, code));
    return NULL;
}

const char *ng_real_parse(ng_real *x, const char *text)
{
    x->kind = NG_EXACT_FINITE;
    text += strspn(text, " ");
    if (strchr(text, ':') != NULL)
        return parse_bits(x, text, strchr(text, ':'));
    x->negative = *text == '-';
    text += *text == '-' || *text == '+';
    ng_natural_set(&x->top, 0);
    ng_natural_set(&x->bottom, 1);
    if (strcasecmp(text, "nan") == 0)
        x->kind = NG_EXACT_NAN;
    else if (strcasecmp(text, "inf") == 0 || strcasecmp(text, "infinity") == 0)
        x->kind = NG_EXACT_INFINITE;
    else if (text[0] == '0' && tolower((unsigned char)text[1]) == 'x')
        return parse_hex(x, text + 2);
    else
        return parse_decimal(x, text);
    return NULL;
}
