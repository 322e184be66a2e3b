/* SPDX-License-Identifier: Apache-2.0
 *
 * Semantics section 3 on one block of exact reals; sections 3 and 7 share it.
 */
#ifndef NG_CONFORMANCE_ORACLE_MX_BLOCK_H
#define NG_CONFORMANCE_ORACLE_MX_BLOCK_H

#include "conformance/oracle/oracle_context.h"
#include "formats/options.h"

/* Whether all of element[0 .. n) are finite; *amax their largest magnitude. */
bool ng_oracle_amax(mpfr_ptr amax, const mpfr_t *element, int64_t n);

/* Raise *amax to what rule block.least says. */
void ng_oracle_amax_at_least(mpfr_ptr amax, int rule);

/* Quantize row r, columns first .. end - 1 (one block of at most 32), whose
 * exact values are context->element[0 ..], or make it a NaN block if is_nan or
 * if one of them is not finite. options is resolved. */
void ng_oracle_mxfp4_block(const ng_mxfp4 *y, int64_t r, int64_t first,
                           int64_t end, bool is_nan, const ng_options *options);

/* The same to MXFP8. */
void ng_oracle_mxfp8_block(const ng_mxfp8 *y, int64_t r, int64_t first,
                           int64_t end, const ng_options *options);

#endif
