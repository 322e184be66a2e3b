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

/* Print, for each operation that fails, what it does wrong and the smallest input
 * that shows it; a table of the operations; failures, at most max_failures an
 * operation, each a line that can be replayed; the verdict. On a terminal all but
 * those lines is wrapped to its width. folder: where the report lies (null:
 * nowhere), and with it the small cases. */
void ng_verify_report_print(FILE *out, const json_t *run, int max_failures,
                            const char *folder);

/* Make the folder of a report if it is not there. */
ng_status ng_verify_report_folder(const char *folder, ng_error *error);

/* What became of an operation: "equal", or of a bounded one its largest
 * error over its bound, "DIFFERS", "not covered" ... Returns a string or text. */
const char *ng_verify_verdict(char text[64], const json_t *operation);

/* Write folder/verify.json, .md and .html; of a shard verify-I-of-N.json and so
 * on. Each appears whole or not at all. */
ng_status ng_verify_report_write(const char *folder, const json_t *run,
                                 ng_error *error);

/* Write stem.md and stem.html from a run's JSON, which may come from a file. */
ng_status ng_verify_report_pages(const char *stem, const json_t *run,
                                 ng_error *error);

/* Write JUnit XML: a test case an operation. Control bytes and bad UTF-8 in
 * texts are replaced. */
ng_status ng_verify_report_junit(const char *path, const json_t *run,
                                 ng_error *error);

#endif
