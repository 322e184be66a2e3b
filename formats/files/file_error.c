/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/files/file_error.h"

#include <stdarg.h>
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

bool ng_is_utf8(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;

    while (*at != '\0') {
        static const unsigned long least[4] = {0, 0x80, 0x800, 0x10000};
        const unsigned lead = *at++;
        const int more = lead < 0x80   ? 0
                         : lead < 0xC0 ? -1     /* a continuation first */
                         : lead < 0xE0 ? 1
                         : lead < 0xF0 ? 2
                         : lead < 0xF8 ? 3
                                       : -1;

        if (more < 0)
            return false;
        unsigned long code = more == 0 ? lead : lead & (0x3Fu >> more);
        for (int i = 0; i < more; i++, at++) {
            if ((*at & 0xC0) != 0x80)           /* the terminator too */
                return false;
            code = code << 6 | (*at & 0x3F);
        }
        if (code < least[more] || code > 0x10FFFF
            || (code >= 0xD800 && code <= 0xDFFF))
            return false;
    }
    return true;
}
