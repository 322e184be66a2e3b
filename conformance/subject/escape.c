/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/subject/escape.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool is_harmless(unsigned char byte)
{
    return (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z')
           || (byte >= 'a' && byte <= 'z')
           || (byte != '\0' && strchr(" .,:;=+-/()_@%#'!?{}~^$", byte) != NULL);
}

void ng_escape(char *out, size_t size, const char *text, size_t n)
{
    static const char more[] = "...";
    size_t used = 0, fits = 0; /* fits: how much leaves room for `more` */

    for (size_t i = 0; i < n; i++) {
        const unsigned char byte = (unsigned char)text[i];
        const size_t wanted = is_harmless(byte) ? 1 : 4;

        if (used + wanted + 1 > size) {
            out[fits] = '\0';
            if (fits + sizeof more <= size)
                strcpy(out + fits, more);
            return;
        }
        if (wanted == 1)
            out[used] = (char)byte;
        else
            snprintf(out + used, 5, "\\x%02x", byte);
        used += wanted;
        if (used + sizeof more <= size)
            fits = used;
    }
    out[used] = '\0';
}
