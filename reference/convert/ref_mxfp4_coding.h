/* SPDX-License-Identifier: Apache-2.0
 *
 * Section 3 of the semantics: the scale and the codes of one MXFP4 block.
 */
#ifndef NG_REFERENCE_CONVERT_REF_MXFP4_CODING_H
#define NG_REFERENCE_CONVERT_REF_MXFP4_CODING_H

#include <stdint.h>

#include "formats/options.h"
#include "reference/exact.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The UE8M0 scale of a block with this amax (ref_amax.h), 0xFF where it is NaN.
 *   amax    any exact magnitude with a significand below 2^32
 *   mode    ng_mxfp4_scale
 * Source: semantics.md 3, and 7 for what lies beyond FP32. */
uint32_t ng_ref_mxfp4_scale(ng_exact amax, int mode);

/* Quantize block `block` of row `row` of y, which starts at column 32 * block:
 * write its scale and its codes, count its events. Blocks of a row are written
 * in ascending order.
 *   v       the n exact values, 1 <= n <= 32, significands below 2^32; NaN and
 *           infinities make a NaN block: scale 0xFF, codes 0
 *   options rules->rounding, rules->mxfp4_scale and random are read */
void ng_ref_store_mxfp4_block(const ng_mxfp4 *y, int64_t row, int64_t block,
                              const ng_exact *v, int n,
                              const ng_options *options, ng_events *events);

#ifdef __cplusplus
}
#endif

#endif
