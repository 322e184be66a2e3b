/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a call lies within what a plug-in says it takes (plugin.h). One that
 * does not is never made, and counts as not covered.
 */
#ifndef NG_CONFORMANCE_SUBJECT_HOST_LIMITS_H
#define NG_CONFORMANCE_SUBJECT_HOST_LIMITS_H

#include "conformance/subject/host_wire.h"

/* By rules, types and attributes alone: what the whole variant shares. */
bool ng_host_takes(const ng_host_operation *operation, const ng_call *call);

/* Whether a rule may have that value: true where nothing is said of it. */
bool ng_host_takes_value(const ng_host_operation *operation, ng_rule rule,
                         int value);

/* All limits, the numbers in the inputs included. */
bool ng_host_within_limits(const ng_host_operation *operation,
                           const ng_call *call);

#endif
