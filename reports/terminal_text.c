/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/terminal_text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "reports/text_escape.h"

int ng_terminal_columns(FILE *out)
{
    struct winsize window;
    const int file = fileno(out);

    return isatty(file) && ioctl(file, TIOCGWINSZ, &window) == 0 ? window.ws_col
                                                                 : 0;
}

/* Columns of the first n bytes: all but those that continue a character. */
static int width(const char *text, size_t n)
{
    int columns = 0;

    for (size_t i = 0; i < n; i++)
        columns += ((unsigned char)text[i] & 0xC0) != 0x80;
    return columns;
}

void ng_print_wrapped(FILE *out, int columns, int indent, const char *text)
{
    int at = 0;

    while (*text != '\0') {
        /* A word, with the blanks before it. */
        const size_t blanks = strspn(text, " ");
        const size_t length = blanks + strcspn(text + blanks, " ");
        const int wide = width(text, length);

        if (columns > 0 && at > indent && at + wide > columns) {
            fprintf(out, "\n%*s%.*s", indent, "", (int)(length - blanks),
                    text + blanks);
            at = indent + wide - (int)blanks;
        } else {
            fwrite(text, 1, length, out);
            at += wide;
        }
        text += length;
    }
    fputc('\n', out);
}

void ng_print_paragraph(FILE *out, int indent, const char *format, ...)
{
    char *raw = NULL, *text = NULL;
    size_t size;
    va_list list;
    FILE *to = open_memstream(&raw, &size);

    if (to == NULL)
        return;
    va_start(list, format);
    vfprintf(to, format, list);
    va_end(list);
    fclose(to);
    to = open_memstream(&text, &size);
    if (to != NULL && raw != NULL) {
        ng_print_escaped(to, NG_TO_TERMINAL, raw);
        fclose(to);
        if (text != NULL)
            ng_print_wrapped(out, ng_terminal_columns(out), indent, text);
    }
    free(text);
    free(raw);
}
