/* SPDX-License-Identifier: Apache-2.0
 *
 * What people and pipelines read of a verify run. The input is the run's JSON
 * (reports/schema/verify.schema.json) and nothing else, so that a report can be
 * made again from the file.
 */
#ifndef NG_REPORTS_VERIFY_REPORT_H
#define NG_REPORTS_VERIFY_REPORT_H

#include <stdio.h>

#include <jansson.h>

#include "formats/status.h"

/* Print a table of the operations, then the failures, at most max_failures an
 * operation, each a line that can be replayed, then the verdict. */
void ng_verify_report_print(FILE *out, const json_t *run, int max_failures);

/* Make the folder of a report if it is not there. */
ng_status ng_verify_report_folder(const char *folder, ng_error *error);

/* Write folder/verify.json and folder/verify.md; of a shard
 * verify-I-of-N.json and .md. Each appears whole or not at all. */
ng_status ng_verify_report_write(const char *folder, const json_t *run,
                                 ng_error *error);

/* Write JUnit XML: a test case an operation. Control bytes and bad UTF-8 in
 * texts are replaced. */
ng_status ng_verify_report_junit(const char *path, const json_t *run,
                                 ng_error *error);

#endif
