/* SPDX-License-Identifier: Apache-2.0
 *
 * For hypotheses about elements and blocks: take what is right, and code each
 * element, or scale each block, in another way. Plain C in FP64, where every
 * product that is compared here is exact.
 */
#ifndef NG_CONFORMANCE_CHECKS_RECODING_H
#define NG_CONFORMANCE_CHECKS_RECODING_H

#include "conformance/checks/hypothesis.h"
#include "conformance/subject/elements.h"
#include "formats/format.h"

/* Where an exact tie goes, or that nothing is rounded. */
typedef enum ng_tie {
    NG_TIE_EVEN,
    NG_TIE_ODD,
    NG_TIE_TO_ZERO,
    NG_TIE_AWAY,
    NG_TIE_UP,
    NG_TIE_DOWN,
    NG_CUT
} ng_tie;

/* The code of v / s, s > 0, both finite: the nearest one, or below; past the
 * largest, the largest. v * 2^-k and codes times s must be exact in FP64. */
uint32_t ng_code_of_quotient(const ng_format *format, double v, double s,
                             ng_tie tie);

/* The format of a type of codes or numbers; of an integer, FP32's. */
const ng_format *ng_format_of(ng_dtype dtype);

/* The format that encode_FORMAT and decode_FORMAT are of, whatever type their
 * codes are stored in. Null: another operation. */
const ng_format *ng_format_of_codec(const ng_call *call);

/* RN32 and RNE to BF16 and FP16 of an FP64 number. */
double ng_rounded_to(ng_format_id id, double x);

/* One element of an encoder or a quantiser. */
typedef struct ng_element {
    const ng_call *call;
    const ng_format *format; /* of its code */
    double v, s;             /* its value and the scale; finite, s > 0 */
    uint32_t right;          /* the code that it has */
} ng_element;

/* Fill the outputs with what is right, then give every element that is finite,
 * under a finite scale, the code that recode returns. NG_NOT_COVERED where the
 * operation codes no elements. */
ng_status ng_recode(const ng_call *call, const ng_specification *right,
                    uint32_t (*recode)(const ng_element *));

/* The scale of one block of y by its values: n of them, cols a row, all finite.
 * Returns the scale (a power of two where UE8M0 is stored), or a negative
 * number to leave the block as it is. */
typedef struct ng_block_values {
    const ng_call *call;
    ng_format_id mx; /* E2M1 or E4M3 of an MX block; else NG_FORMAT_FP32 */
    const double *value;
    int64_t n, cols;
    double amax;
    double right; /* the scale that it has */
} ng_block_values;

ng_status ng_rescale(const ng_call *call, const ng_specification *right,
                     double (*scale)(const ng_block_values *));

/* The scale that the call's own rules give for an amax, by semantics 3 and 4.
 */
double ng_scale_of_amax(const ng_block_values *b, double amax);

#endif
