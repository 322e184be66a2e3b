/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/files/file_error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* ng_error holds 512 bytes: these leave about 200 for the field and cause. */
enum { MAX_PATH_SHOWN = 200, MAX_NAME_SHOWN = 64 };

static bool continues(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

ng_status ng_file_fail(ng_error *error, ng_status status, const char *path,
                       const char *tensor, const char *field,
                       const char *format, ...)
{
    char cause[256];
    const char *cut = "";
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(cause, sizeof cause, format, arguments);
    va_end(arguments);

    const size_t length = strlen(path);
    if (length > MAX_PATH_SHOWN) {
        path += length - MAX_PATH_SHOWN;
        while (continues(*path))
            path++;
        cut = "...";
    }
    if (tensor == NULL)
        return ng_fail(error, status, "%s%s: %s: %s", cut, path, field, cause);

    int shown = (int)strnlen(tensor, MAX_NAME_SHOWN + 1);
    const bool whole = shown <= MAX_NAME_SHOWN;
    if (!whole)
        do
            shown--;
        while (shown > 0 && continues(tensor[shown]));
    return ng_fail(error, status, "%s%s: tensor \"%.*s%s\": %s: %s", cut, path,
                   shown, tensor, whole ? "" : "...", field, cause);
}
