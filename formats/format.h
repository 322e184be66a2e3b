/* SPDX-License-Identifier: Apache-2.0
 *
 * One descriptor a scalar format: field widths, bias and special codes, from
 * which the value of every code follows. Facts only; semantics: docs/semantics.md
 * section 1.
 *
 *   code    [s] e...e f...f, right-aligned; s only where is_signed
 *   value   (-1)^s * 2^(e - bias) * (1 + f/2^fraction_bits)     e > 0
 *           (-1)^s * 2^(1 - bias) *  f/2^fraction_bits          e = 0
 * except UE8M0, which has no subnormals: its e = 0 is 2^-127 like any other.
 */
#ifndef NG_FORMATS_FORMAT_H
#define NG_FORMATS_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ng_format_id {
    NG_FORMAT_E2M1, NG_FORMAT_E4M3, NG_FORMAT_UE8M0, NG_FORMAT_UE6M10,
    NG_FORMAT_BF16, NG_FORMAT_FP16, NG_FORMAT_FP32,
    NG_N_FORMATS
} ng_format_id;

enum { NG_NO_CODE = -1 };

typedef struct ng_format {
    const char *name;           /* "e2m1" ... */
    int bits;                   /* width of a code, the sign included */
    int exponent_bits;
    int fraction_bits;
    int bias;
    bool is_signed;
    bool has_subnormals;        /* exponent field 0 has no implicit one */
    uint32_t max_finite;        /* code of the largest finite magnitude */
    int64_t infinity;           /* code of +Inf, or NG_NO_CODE */
    int64_t nan;                /* canonical NaN, or NG_NO_CODE */
} ng_format;

extern const ng_format ng_formats[NG_N_FORMATS];

/* Find a format by name. Returns null if there is none. */
const ng_format *ng_format_find(const char *name);

/* The sign bit of a code, 0 where the format has none. */
static inline uint32_t ng_format_sign(const ng_format *format)
{
    return format->is_signed ? UINT32_C(1) << (format->bits - 1) : 0;
}

#ifdef __cplusplus
}
#endif

#endif
