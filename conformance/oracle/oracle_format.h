/* SPDX-License-Identifier: Apache-2.0
 *
 * The oracle's own description of each scalar format, restated from semantics
 * section 1, and the exact value of every code. Nothing here comes from
 * formats/format.c or reference/, so that a wrong fact there is seen.
 */
#ifndef NG_CONFORMANCE_ORACLE_FORMAT_H
#define NG_CONFORMANCE_ORACLE_FORMAT_H

#include <mpfr.h>
#include <stdbool.h>
#include <stdint.h>

#include "formats/format.h"

/* Holds, exactly: an FP32 number (24 bits), every value of every format (at
 * most 24), a code times an FP32 scale (4 + 24) and a code's value times such a
 * scale as a unit. One limb, for which MPFR is fast. Users check ternaries. */
enum { NG_ORACLE_BITS = 64 };

typedef struct ng_oracle_format {
    unsigned fraction_bits;
    int bias;
    bool has_zero;          /* exponent field 0 is zero and subnormals */
    bool only_saturates;    /* whatever the overflow rule */
    bool only_nearest_even; /* whatever the rounding */
    uint32_t sign;          /* bit of the sign; 0: |x| is what is encoded */
    uint32_t max;           /* code of the largest finite magnitude */
    uint32_t overflow;      /* what `ieee` writes: Inf, or NaN without one */
    uint32_t infinity;      /* 0 where the format has none */
    uint32_t first_nan;     /* the NaN codes, sign cleared, run from here ... */
    uint32_t last_nan;      /* ... to here; 0 where there is none; canonical */
} ng_oracle_format;

/* Indexed by ng_format_id. */
extern const ng_oracle_format ng_oracle_formats[NG_N_FORMATS];

/* The magnitudes of codes 0 .. max, and of max + 1 in the format continued
 * upward by one slot (E4M3 480, E2M1 8, UE8M0 2^128 ...), ascending. Built
 * once, thread-safe. Null for FP32, whose 2^31 values are not listed. */
const mpfr_t *ng_oracle_values(ng_format_id id);

/* Set x, of NG_ORACLE_BITS, to the exact value of a code: signed zeros,
 * infinities and NaN included. Bits above the format's width are ignored. */
void ng_oracle_value(mpfr_ptr x, ng_format_id id, uint32_t code);

#endif
