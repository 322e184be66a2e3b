/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/convert/ref_options.h"

#include <stddef.h>

#include "reference/convert/ref_philox.h"

ng_status ng_ref_check_options(const ng_options *options, int64_t rows,
                               int64_t cols)
{
    if (rows < 0 || cols < 0)
        return NG_BAD_SHAPE;
    if (!ng_rules_valid(ng_ref_rules(options)))
        return NG_BAD_RULES;
    return ng_groups_check(ng_ref_groups(options), rows);
}

const ng_rules *ng_ref_rules(const ng_options *options)
{
    return options != NULL && options->rules != NULL ? options->rules
                                                     : &ng_default_rules;
}

const ng_groups *ng_ref_groups(const ng_options *options)
{
    return options != NULL ? options->groups : NULL;
}

int64_t ng_ref_rows(const ng_options *options, int64_t rows)
{
    return ng_groups_rows(ng_ref_groups(options), rows);
}

uint32_t ng_ref_random(const ng_options *options, int64_t row, int64_t col,
                       int64_t cols)
{
    if (ng_ref_rules(options)->rounding != NG_STOCHASTIC)
        return 0;
    return ng_ref_philox(options->random.seed, options->random.stream,
                         (uint64_t)row * (uint64_t)cols + (uint64_t)col);
}
