/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/junit_file.h"

#include <stdlib.h>
#include <string.h>

#include "formats/files/atomic_write.h"

ng_status ng_junit_missing(const char *path, ng_error *error)
{
    return ng_fail(error, NG_NOT_COVERED,
                   "%s: JUnit: this build has no libxml2 (libxml2-dev)", path);
}

#ifdef HAVE_LIBXML2

/* A copy that XML can hold: control bytes and what is not ASCII as '?'. */
static char *plain(const char *text)
{
    char *copy = strdup(text != NULL ? text : "");

    for (char *c = copy; c != NULL && *c != '\0'; c++)
        if ((unsigned char)*c < 0x20 || (unsigned char)*c > 0x7E)
            *c = '?';
    return copy;
}

void ng_junit_attribute(xmlTextWriterPtr writer, const char *name,
                        const char *text)
{
    char *copy = plain(text);

    xmlTextWriterWriteAttribute(writer, BAD_CAST name,
                                BAD_CAST(copy != NULL ? copy : ""));
    free(copy);
}

void ng_junit_line(xmlTextWriterPtr writer, const char *text)
{
    char *copy = plain(text);

    if (copy != NULL)
        xmlTextWriterWriteFormatString(writer, "%s\n", copy);
    free(copy);
}

ng_status ng_junit_write(const char *path, xmlBufferPtr document,
                         ng_error *error)
{
    ng_atomic_file file = {0};
    ng_status status;

    if (document == NULL)
        return ng_fail(error, NG_NO_MEMORY, "%s: out of memory", path);
    status = ng_atomic_begin(&file, path, error);
    if (status == NG_OK) {
        status = ng_atomic_write(&file, xmlBufferContent(document),
                                 (size_t)xmlBufferLength(document), error);
        if (status == NG_OK)
            status = ng_atomic_commit(&file, error);
        else
            ng_atomic_abandon(&file);
    }
    xmlBufferFree(document);
    return status;
}

#endif
