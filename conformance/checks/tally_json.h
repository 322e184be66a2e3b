/* SPDX-License-Identifier: Apache-2.0
 *
 * Part of verify_json.h: what an operation's result says beyond its counts.
 */
#ifndef NG_CONFORMANCE_CHECKS_TALLY_JSON_H
#define NG_CONFORMANCE_CHECKS_TALLY_JSON_H

#include <jansson.h>

#include "conformance/checks/verify.h"

/* An object with the members "strata", "axes" and those of
 * ng_measurement_json. Null without memory. */
json_t *ng_tally_json(const ng_operation_result *result);

/* Add those members of another shard's operation to *sum's. */
void ng_tally_json_merge(json_t *sum, const json_t *part);

#endif
