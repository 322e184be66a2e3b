/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/oracle/oracle_encode.h"

#include "conformance/oracle/oracle_round.h"
#include "formats/fp32.h"

uint32_t ng_oracle_encode(ng_format_id format, float x, const ng_rules *rules,
                          uint32_t random, unsigned *events)
{
    ng_oracle_context *c = ng_oracle_here();
    unsigned bits = 0;

    if (rules == NULL)
        rules = &ng_default_rules;
    ng_oracle_value(c->x, NG_FORMAT_FP32, ng_fp32_bits(x));

    uint32_t code =
        ng_oracle_round(&c->grid[format], c->x, rules, random, &bits);

    if (mpfr_nan_p(c->x)) /* MPFR's has no sign of its own */
        code = ng_oracle_nan(format, rules, ng_fp32_bits(x) >> 31 != 0);
    if (events != NULL)
        *events |= bits;
    return code;
}
