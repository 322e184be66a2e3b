/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/text.h"

#include <string.h>

int ng_utf8_length(unsigned *character, const char *text)
{
    static const unsigned least[5] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *byte = (const unsigned char *)text;
    const int n = byte[0] < 0x80             ? 1
                  : (byte[0] & 0xE0) == 0xC0 ? 2
                  : (byte[0] & 0xF0) == 0xE0 ? 3
                  : (byte[0] & 0xF8) == 0xF0 ? 4
                                             : 0;
    unsigned code = n == 1 ? byte[0] : byte[0] & (0x7Fu >> n);

    for (int i = 1; i < n; i++) {
        if ((byte[i] & 0xC0) != 0x80) /* the terminator too */
            return 0;
        code = code << 6 | (byte[i] & 0x3Fu);
    }
    *character = code;
    return n > 0 && code >= least[n] && code <= 0x10FFFF
                   && (code < 0xD800 || code > 0xDFFF)
               ? n
               : 0;
}

bool ng_is_utf8(const char *text)
{
    unsigned character;
    int n = 1;

    for (; *text != '\0' && n > 0; text += n)
        n = ng_utf8_length(&character, text);
    return n > 0;
}

bool ng_is_plain_character(unsigned c)
{
    return !(c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x061C
             || (c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E)
             || (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF
             || (c >= 0xFFF9 && c <= 0xFFFB) || (c & 0xFFFE) == 0xFFFE
             || (c >= 0xE0000 && c <= 0xE0FFF));
}

bool ng_is_plain_text(const char *text)
{
    unsigned character = ' ';
    int n = 1;

    for (; *text != '\0'; text += n) {
        n = ng_utf8_length(&character, text);
        if (n == 0 || !ng_is_plain_character(character))
            return false;
    }
    return true;
}

void ng_make_plain_text(char *text)
{
    char *to = text;

    while (*text != '\0') {
        unsigned character = 0;
        const int n = ng_utf8_length(&character, text);

        if (n > 0 && ng_is_plain_character(character)) {
            memmove(to, text, (size_t)n);
            to += n;
        } else {
            *to++ = '?';
        }
        text += n > 0 ? n : 1;
    }
    *to = '\0';
}
