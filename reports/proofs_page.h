/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NG_REPORTS_PROOFS_PAGE_H
#define NG_REPORTS_PROOFS_PAGE_H

#include <jansson.h>

#include "formats/status.h"

/* Write the entries of reports/proofs.json as a page of Markdown: each claim
 * with the inputs tried, the differences and the command that repeats it. The
 * file appears whole or not at all. */
ng_status ng_proofs_page_write(const char *path, const json_t *proofs,
                               ng_error *error);

#endif
