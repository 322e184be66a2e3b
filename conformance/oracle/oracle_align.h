/* SPDX-License-Identifier: Apache-2.0
 *
 * Hierarchical scale alignment, semantics sections 5 and 6: elements under
 * several power-of-two scales come under one.
 */
#ifndef NG_CONFORMANCE_ORACLE_ALIGN_H
#define NG_CONFORMANCE_ORACLE_ALIGN_H

#include "conformance/oracle/oracle_round.h"
#include "formats/options.h"

/* Set *common to 2^(E - headroom), E the largest exponent of those among n
 * scales that are not NaN; 1 if all are. Where the scales' type is UE8M0, not
 * below 2^-127. */
void ng_oracle_aligned_scale(mpfr_ptr common, const mpfr_t *scale, int64_t n,
                             int headroom, ng_dtype dtype);

/* The E4M3 code under the common scale, by which the grid is scaled, of a code
 * of format id under its own scale. Counts the element's events. */
uint8_t ng_oracle_aligned_code(ng_oracle_grid *grid, ng_format_id id,
                               uint32_t code, mpfr_srcptr scale,
                               const ng_options *options);

#endif
