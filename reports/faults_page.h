/* SPDX-License-Identifier: Apache-2.0
 *
 * What became of the planted faults: faults.json and its page.
 */
#ifndef NG_REPORTS_FAULTS_PAGE_H
#define NG_REPORTS_FAULTS_PAGE_H

#include <jansson.h>
#include <stdio.h>

#include "formats/status.h"

/* rows: [{fault, kind, case, detected, named, level, seconds, operation,
 * called, diagnosis, shrunk}], as `narrowgauge faults` has them. */

/* Print a table and one line that sums it up. */
void ng_faults_print(FILE *out, const json_t *rows);

/* Write faults.json and faults.md into a directory. Returns NG_OK; NG_BAD_FILE,
 * the file and the cause in *error. */
ng_status ng_faults_page_write(const char *directory, const json_t *rows,
                               ng_error *error);

/* The cases of docs/cases.md of which no fault is planted, with the reason;
 * null past the last. */
const char *ng_faults_not_here(int i);

#endif
