/* SPDX-License-Identifier: Apache-2.0
 *
 * Codes of the scalar formats as people read them: fields, class, neighbours.
 */
#ifndef NG_CONFORMANCE_CLI_CODE_TEXT_H
#define NG_CONFORMANCE_CLI_CODE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/format.h"

#define NG_FORMAT_NAMES "e2m1 e4m3 ue8m0 ue6m10 bf16 fp16 fp32"

enum { NG_CODE_TEXT = 48 }; /* bytes that hold a code, or its fields */

/* Read a code: hexadecimal (0x7E or 7E) or binary (0b01111110).
 * Returns null, or what is wrong as the rest of a sentence that begins with the
 * text. */
const char *ng_code_parse(uint32_t *code, const ng_format *format,
                          const char *text);

/* Write "0x7E", with the digits that the format's width takes. */
void ng_code_print(char *text, const ng_format *format, uint32_t code);

/* Write the fields in binary, "0 1111 110": sign, exponent, significand. */
void ng_code_print_fields(char *text, const ng_format *format, uint32_t code);

/* "zero", "subnormal", "normal", "Inf" or "NaN". */
const char *ng_code_class(const ng_format *format, uint32_t code);

/* The fields as numbers. */
int ng_code_exponent(const ng_format *format, uint32_t code);
uint32_t ng_code_fraction(const ng_format *format, uint32_t code);

/* The code of the next value above or below, infinities included; +0 and -0
 * have the same. Returns false where there is none: past the ends, and of NaN.
 */
bool ng_code_next(uint32_t *next, const ng_format *format, uint32_t code,
                  bool above);

/* k where 2^k is the distance to the next larger magnitude of the same binade:
 * the unit in the last place of a finite code. */
int ng_code_ulp_log2(const ng_format *format, uint32_t code);

#endif
