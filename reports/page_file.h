/* SPDX-License-Identifier: Apache-2.0
 *
 * The files of a report made from one JSON document: each is written whole or
 * not at all, and gnuplot draws what a script of them says.
 */
#ifndef NG_REPORTS_PAGE_FILE_H
#define NG_REPORTS_PAGE_FILE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "formats/status.h"

/* Print a document as one of the report's files. */
typedef void ng_page_printer(FILE *out, const json_t *document);

/* Write directory/name by `print`, atomically. Returns NG_OK; NG_BAD_FILE with
 * the file and the cause in *error where the name is too long or the disk does
 * not take it, the file untouched. */
ng_status ng_page_write(const char *directory, const char *name,
                        ng_page_printer *print, const json_t *document,
                        ng_error *error);

/* Run gnuplot over a script, in the script's directory. Returns false where it
 * is missing or fails. */
bool ng_page_plot(const char *directory, const char *script);

#endif
