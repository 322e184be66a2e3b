/* SPDX-License-Identifier: Apache-2.0
 *
 * What JUnit documents share: text that XML can hold, and the file.
 */
#ifndef NG_REPORTS_JUNIT_FILE_H
#define NG_REPORTS_JUNIT_FILE_H

#include "formats/status.h"

/* What a build without libxml2 answers: NG_NOT_COVERED, with a line. */
ng_status ng_junit_missing(const char *path, ng_error *error);

#ifdef HAVE_LIBXML2

#include <libxml/xmlwriter.h>

/* Write an attribute, or a line of text, with control bytes and what is not
 * ASCII as '?'. */
void ng_junit_attribute(xmlTextWriterPtr writer, const char *name,
                        const char *text);
void ng_junit_line(xmlTextWriterPtr writer, const char *text);

/* Write a finished document, whole or not at all, and free it. A null one is
 * NG_NO_MEMORY. */
ng_status ng_junit_write(const char *path, xmlBufferPtr document,
                         ng_error *error);

#endif

#endif
