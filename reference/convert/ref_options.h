/* SPDX-License-Identifier: Apache-2.0
 *
 * What an operation reads from its options, defaults filled in.
 */
#ifndef NG_REFERENCE_CONVERT_REF_OPTIONS_H
#define NG_REFERENCE_CONVERT_REF_OPTIONS_H

#include <stdint.h>

#include "formats/options.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Check the logical shape, the rules and the groups of a call.
 * Returns NG_BAD_SHAPE (rows or cols negative), NG_BAD_RULES, or what
 * ng_groups_check says. options may be null. */
ng_status ng_ref_check_options(const ng_options *options, int64_t rows,
                               int64_t cols);

/* The rules, ng_default_rules if none are given; never null. */
const ng_rules *ng_ref_rules(const ng_options *options);

/* The groups, null for a dense tensor. */
const ng_groups *ng_ref_groups(const ng_options *options);

/* How many rows take part. The others are never read and never written. */
int64_t ng_ref_rows(const ng_options *options, int64_t rows);

/* The random word of element (row, col) of a tensor of cols columns, counted
 * row-major whatever the layout. 0 unless the rounding is stochastic. */
uint32_t ng_ref_random(const ng_options *options, int64_t row, int64_t col,
                       int64_t cols);

#ifdef __cplusplus
}
#endif

#endif
