/* SPDX-License-Identifier: Apache-2.0
 *
 * The one line that every file error is.
 */
#ifndef NG_FORMATS_FILES_FILE_ERROR_H
#define NG_FORMATS_FILES_FILE_ERROR_H

#include "formats/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Write into *error (which may be null) one line that names file and field:
 *   PATH: FIELD: what is wrong                     where tensor is null
 *   PATH: tensor "NAME": FIELD: what is wrong      elsewhere
 * A long path keeps its tail and a long name its head, so that the cause is
 * never what falls off the end. Returns status, as ng_fail does. */
ng_status ng_file_fail(ng_error *error, ng_status status, const char *path,
                       const char *tensor, const char *field,
                       const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 6, 7)))
#endif
    ;

#ifdef __cplusplus
}
#endif

#endif
