/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_CONFORMANCE_ORACLE_DECODE_H
#define NG_CONFORMANCE_ORACLE_DECODE_H

#include "formats/format.h"
#include "formats/rules.h"

/* The FP32 value of a code; every value of every format is exact there.
 *   code    bits above the format's width are ignored
 *   rules   nan: 0x7FFFFFFF, or bf16-widened: BF16's 16 bits above zeros,
 *           UE8M0's 0x7FFF0000; null: ng_default_rules
 */
float ng_oracle_decode(ng_format_id format, uint32_t code,
                       const ng_rules *rules);

#endif
