/* SPDX-License-Identifier: Apache-2.0
 *
 * Semantics section 4 on one block of reals; sections 4 and 6 (general scales)
 * share it.
 */
#ifndef NG_CONFORMANCE_ORACLE_FP8_BLOCK_H
#define NG_CONFORMANCE_ORACLE_FP8_BLOCK_H

#include "conformance/oracle/oracle_context.h"
#include "formats/options.h"

/* The elements of one scale, rows r0 .. r1 - 1 by columns c0 .. c1 - 1, and
 * where that scale goes: number j of the n of a line. */
typedef struct ng_oracle_fp8_part {
    int64_t r0, r1, c0, c1;
    int64_t line, j, n;
    ng_format_id from; /* the type of the numbers */
} ng_oracle_fp8_part;

/* Where the values of the elements are, and the events of making them:
 * context->element and context->bits at this index. */
static inline int64_t ng_oracle_fp8_index(const ng_oracle_fp8_part *part,
                                          int64_t r, int64_t c)
{
    return (r - part->r0) * (part->c1 - part->c0) + (c - part->c0);
}

/* Whether section 4 takes these rules with scales of that type: stochastic
 * rounding and UE8M0 both need scale pow2. */
ng_status ng_oracle_fp8_rules(const ng_rules *rules, ng_dtype scales);

/* Quantize a part whose values are in the context. options is resolved. */
void ng_oracle_fp8_block(const ng_fp8 *y, const ng_oracle_fp8_part *part,
                         const ng_options *options);

#endif
