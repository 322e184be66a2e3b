/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_CONFORMANCE_ORACLE_DEQUANTIZE_H
#define NG_CONFORMANCE_ORACLE_DEQUANTIZE_H

#include "conformance/oracle/oracle_context.h"
#include "formats/options.h"

/* Decode one element into (r, c) of y and count its events: the value of a code
 * of format id times the exact scale, to FP32 and then to y's type. */
void ng_oracle_dequantize(const ng_matrix *y, int64_t r, int64_t c,
                          ng_format_id id, uint32_t code, mpfr_srcptr scale,
                          const ng_options *options);

#endif
