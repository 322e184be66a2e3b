/* SPDX-License-Identifier: Apache-2.0
 *
 * A number as a person writes it, taken exactly: 0.1 is one tenth, and is not
 * rounded to any format before it is asked for.
 */
#ifndef NG_CONFORMANCE_CLI_REAL_NUMBER_H
#define NG_CONFORMANCE_CLI_REAL_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

#include "conformance/cli/natural.h"
#include "reference/exact.h"

/* (-1)^negative * top / bottom where kind is finite; bottom is not zero, and
 * zero has a sign. */
typedef struct ng_real {
    ng_exact_kind kind;
    bool negative;
    ng_natural top, bottom;
} ng_real;

enum { NG_REAL_TEXT = 512 }; /* bytes that hold any text made below */

/* Read a decimal (-1.5e-3), a hex float (0x1.8p+1), a fraction of whole numbers
 * (1/3), inf, nan, or the bits of a format (fp32:3F800001, bf16:0b0...).
 * Returns null, or what is wrong as the rest of a sentence that begins with the
 * text ("is no number"); *x is then undefined. */
const char *ng_real_parse(ng_real *x, const char *text);

/* The value of an exact number that is not sticky. */
void ng_real_from_exact(ng_real *x, ng_exact exact);

/* The same number in the reference's form: cut to 62 bits or more, with a
 * sticky bit for what was cut. */
ng_exact ng_real_to_exact(const ng_real *x);

/* distance = |a - b|, both finite. */
void ng_real_distance(ng_real *distance, const ng_real *a, const ng_real *b);

/* The sign of |a| - |b|, both finite. */
int ng_real_compare_magnitude(const ng_real *a, const ng_real *b);

/* Write x in decimal: exactly where that takes at most max_digits significant
 * digits (up to 400), and else rounded to that many. Infinities and NaN are
 * "inf", "-inf", "nan". Returns whether it is exact. */
bool ng_real_decimal(char *text, size_t size, const ng_real *x, int max_digits);

/* Write x for people: its decimal where that is exact and short; else a hex
 * float and "about" a decimal where it is a double; else "about" alone. */
void ng_real_text(char *text, size_t size, const ng_real *x);

#endif
