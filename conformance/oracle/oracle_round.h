/* SPDX-License-Identifier: Apache-2.0
 *
 * The one rounding of the oracle: an exact real to a code, semantics section 1.
 */
#ifndef NG_CONFORMANCE_ORACLE_ROUND_H
#define NG_CONFORMANCE_ORACLE_ROUND_H

#include "conformance/oracle/oracle_context.h"
#include "formats/events.h"
#include "formats/rules.h"

/* The values of a format as they are, or times a positive finite unit. Rounding
 * x to a scaled grid is rounding the exact quotient x / unit, which need not be
 * a binary fraction, to the format. Of the calling thread; a scaled grid stands
 * until the thread asks for the same format under another unit. FP32 has no
 * scaled grid. */
ng_oracle_grid *ng_oracle_grid_of(ng_format_id id);
ng_oracle_grid *ng_oracle_scaled_grid(ng_format_id id, mpfr_srcptr unit);

/* Round x (any real, infinity or NaN) to the grid's format.
 *   rules    rounding, overflow, nan, ue8m0 and those of E2M1
 *   random   32 random bits, for stochastic rounding only; the unit is then a
 *            power of two
 *   events   event bits are ORed in here
 * Returns the code. Aborts if the oracle itself would be inexact. */
uint32_t ng_oracle_round(ng_oracle_grid *grid, mpfr_srcptr x,
                         const ng_rules *rules, uint32_t random,
                         unsigned *events);

/* The code of a NaN of this sign (ng_oracle_round takes it for positive). */
uint32_t ng_oracle_nan(ng_format_id id, const ng_rules *rules, bool negative);

/* RN32: nearest even to FP32, overflowing to infinity, as the code and, in y
 * (which may be x), as its value. */
uint32_t ng_oracle_rn32(mpfr_ptr y, mpfr_srcptr x, unsigned *events);

/* Abort unless a ternary value says that a result was exact. */
void ng_oracle_require_exact(int ternary);

#endif
