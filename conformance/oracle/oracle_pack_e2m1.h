/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_CONFORMANCE_ORACLE_PACK_E2M1_H
#define NG_CONFORMANCE_ORACLE_PACK_E2M1_H

#include "formats/options.h"

/* Pack E2M1 codes, one a byte, to two a byte, the even element low; the spare
 * nibble of an odd row is 0. Bits above an input's low nibble are ignored.
 *   y        out  NG_E2M1X2 [rows, cols]
 *   x        in   NG_E2M1 [rows, cols]
 *   options  groups. A move has no events
 * Returns NG_OK, or NG_BAD_DTYPE or NG_BAD_SHAPE with y untouched. */
ng_status ng_oracle_pack_e2m1(const ng_matrix *y, const ng_matrix *x,
                              const ng_options *options);

#endif
