/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_CONFORMANCE_ORACLE_UNPACK_E2M1_H
#define NG_CONFORMANCE_ORACLE_UNPACK_E2M1_H

#include "formats/options.h"

/* Unpack E2M1 codes, two a byte, to one a byte, its high nibble 0.
 *   y        out  NG_E2M1 [rows, cols]
 *   x        in   NG_E2M1X2 [rows, cols]
 *   options  groups. A move has no events
 * Returns NG_OK, or NG_BAD_DTYPE or NG_BAD_SHAPE with y untouched. */
ng_status ng_oracle_unpack_e2m1(const ng_matrix *y, const ng_matrix *x,
                                const ng_options *options);

#endif
