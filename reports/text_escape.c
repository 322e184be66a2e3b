/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/text_escape.h"

#include <stdbool.h>
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
        if ((byte[i] & 0xC0) != 0x80)
            return 0;
        code = code << 6 | (byte[i] & 0x3Fu);
    }
    *character = code;
    return n > 0 && code >= least[n] && code <= 0x10FFFF
                   && (code < 0xD800 || code > 0xDFFF)
               ? n
               : 0;
}

/* Controls of both kinds, line and paragraph separators, marks of direction,
 * and what is no character at all. */
static bool is_unsafe(unsigned c)
{
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x061C
           || (c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E)
           || (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF
           || (c >= 0xFFF9 && c <= 0xFFFB) || (c & 0xFFFE) == 0xFFFE
           || (c >= 0xE0000 && c <= 0xE0FFF);
}

static const char *markup(unsigned c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

static void print_one(FILE *out, ng_medium medium, unsigned c, const char *text,
                      int n)
{
    const char *entity = markup(c);

    if (medium == NG_TO_HTML && entity != NULL)
        fputs(entity, out);
    else if (medium == NG_TO_MARKDOWN && (c == '&' || c == '<' || c == '>'))
        fputs(entity, out);
    else if (medium == NG_TO_MARKDOWN && c < 0x80
             && strchr("\\`*[]|~", (int)c) != NULL)
        fprintf(out, "\\%c", (int)c);
    else if (medium == NG_TO_CODE && c == '`')
        fputc('\'', out);
    else
        fwrite(text, 1, (size_t)n, out);
}

void ng_print_escaped(FILE *out, ng_medium medium, const char *text)
{
    while (text != NULL && *text != '\0') {
        unsigned c = 0;
        const int n = ng_utf8_length(&c, text);

        if (n == 0 || is_unsafe(c))
            fputs(medium == NG_TO_HTML ? "\xEF\xBF\xBD" : "?", out);
        else
            print_one(out, medium, c, text, n);
        text += n > 0 ? n : 1;
    }
}
