/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/text_escape.h"

#include <string.h>

#include "formats/text.h"

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

        if (n == 0 || !ng_is_plain_character(c))
            fputs(medium == NG_TO_HTML ? "\xEF\xBF\xBD" : "?", out);
        else
            print_one(out, medium, c, text, n);
        text += n > 0 ? n : 1;
    }
}
