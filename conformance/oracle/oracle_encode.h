/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_CONFORMANCE_ORACLE_ENCODE_H
#define NG_CONFORMANCE_ORACLE_ENCODE_H

#include "formats/format.h"
#include "formats/rules.h"

/* Round an FP32 number to a format: the oracle's writing of ng_ref_encode_*.
 *   x        any FP32 number; UE8M0 and UE6M10 encode |x|
 *   rules    rounding, overflow, e2m1_nan; null: ng_default_rules. UE6M10 is
 *            nearest-even and saturating whatever they say
 *   random   32 random bits, read by stochastic rounding only
 *   events   event bits (1u << NG_EVENT_...) are ORed in; may be null
 * A NaN gives the format's canonical one, also where the target is FP32.
 * Returns the code, right-aligned. */
uint32_t ng_oracle_encode(ng_format_id format, float x, const ng_rules *rules,
                          uint32_t random, unsigned *events);

#endif
