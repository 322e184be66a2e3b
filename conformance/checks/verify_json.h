/* SPDX-License-Identifier: Apache-2.0
 *
 * The results of a verify run as JSON (reports/schema/verify.schema.json): what
 * is printed, written, sent between ranks and merged is this one form.
 */
#ifndef NG_CONFORMANCE_CHECKS_VERIFY_JSON_H
#define NG_CONFORMANCE_CHECKS_VERIFY_JSON_H

#include <jansson.h>

#include "conformance/checks/verify.h"

/* A new object, or null without memory. */
json_t *ng_verify_json(const ng_operation_result *result, int n,
                       const ng_verify_plan *plan, double seconds);

/* Add the counts and failures of another shard of the same run to *sum, and
 * judge anew. */
void ng_verify_json_merge(json_t *sum, const json_t *part);

/* A number that may be NaN or infinite: then the string "nan", "inf", "-inf". */
json_t *ng_number_json(double x);
double ng_number_of_json(const json_t *value);

/* Whether the subject crashed, hung, refused ... in any case. */
bool ng_verify_json_subject_failed(const json_t *run);

/* Whether a case could not be asked for want of memory, a process, a device's
 * memory (exit status 4). */
bool ng_verify_json_environment_failed(const json_t *run);

/* Whether the run passed: no difference, nothing claimed and not met. */
bool ng_verify_json_passed(const json_t *run);

#endif
