/* SPDX-License-Identifier: Apache-2.0
 *
 * Section 3 of the semantics: the scale and the codes of one MX block. The rule
 * is one; MXFP4 and MXFP8 differ in the format of their elements.
 */
#ifndef NG_REFERENCE_CONVERT_REF_MX_CODING_H
#define NG_REFERENCE_CONVERT_REF_MX_CODING_H

#include <stdint.h>

#include "formats/format.h"
#include "formats/options.h"
#include "reference/exact.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the rule asks of the format of the elements, and which of the caller's
 * rules chooses the scale. */
typedef struct ng_ref_mx {
    ng_format_id element;
    int emax; /* the exponent of its largest binade */
    int fraction_bits;
    unsigned largest;   /* its largest number: 6, 448 */
    ng_rule scale_rule; /* a value of ng_mx_scale */
} ng_ref_mx;

extern const ng_ref_mx ng_ref_mxfp4, ng_ref_mxfp8;

/* The UE8M0 scale of a block with this amax (ref_amax.h), 0xFF where it is NaN.
 *   amax    any exact magnitude with a significand below 2^32
 *   mode    ng_mx_scale
 * Source: semantics.md 3, and 7 for what lies beyond FP32. */
uint32_t ng_ref_mx_scale(const ng_ref_mx *mx, ng_exact amax, int mode);

/* Quantize block `block` of row `row` of y, which starts at column 32 * block:
 * write its scale and its codes, count its events. Blocks of a row are written
 * in ascending order.
 *   v       the n exact values, 1 <= n <= 32, significands below 2^32; NaN and
 *           infinities make a NaN block: scale 0xFF, codes 0 in MXFP4 and 0x7F
 *           in MXFP8
 *   options rules->rounding, overflow (MXFP8), the scale rule, block_nan,
 *           block_least, mxfp4_byte_0 and random are read */
void ng_ref_store_mxfp4_block(const ng_mxfp4 *y, int64_t row, int64_t block,
                              const ng_exact *v, int n,
                              const ng_options *options, ng_events *events);
void ng_ref_store_mxfp8_block(const ng_mxfp8 *y, int64_t row, int64_t block,
                              const ng_exact *v, int n,
                              const ng_options *options, ng_events *events);

#ifdef __cplusplus
}
#endif

#endif
