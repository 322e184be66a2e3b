/* SPDX-License-Identifier: Apache-2.0
 *
 * Paragraphs on a terminal. In a pipe a paragraph is one line, for programs that
 * read lines; on a terminal it is wrapped between words.
 */
#ifndef NG_REPORTS_TERMINAL_TEXT_H
#define NG_REPORTS_TERMINAL_TEXT_H

#include <stdio.h>

/* The columns of the terminal that out writes to; 0 where it is none, or where
 * the terminal does not say. */
int ng_terminal_columns(FILE *out);

/* Print text and an end of line. With columns > 0 no line is longer, unless a
 * word alone is; what follows the first line stands indent blanks in. Characters
 * of UTF-8 count as one column each. */
void ng_print_wrapped(FILE *out, int columns, int indent, const char *text);

/* printf's text as such a paragraph, harmless (text_escape.h), at the width of the
 * terminal that out writes to; in a pipe one line. */
__attribute__((format(printf, 3, 4))) void
ng_print_paragraph(FILE *out, int indent, const char *format, ...);

#endif
