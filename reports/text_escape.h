/* SPDX-License-Identifier: Apache-2.0
 *
 * Text from outside on its way to a medium. A result may come back from a file
 * that anyone wrote: markup, escape sequences of terminals, bytes that are no
 * UTF-8 and marks that reverse the direction of writing all become harmless.
 */
#ifndef NG_REPORTS_TEXT_ESCAPE_H
#define NG_REPORTS_TEXT_ESCAPE_H

#include <stdio.h>

typedef enum ng_medium {
    NG_TO_TERMINAL, /* control bytes become '?'; one line */
    NG_TO_MARKDOWN, /* of a table's cell or a paragraph; one line */
    NG_TO_CODE,     /* of a fenced block in Markdown; one line */
    NG_TO_HTML      /* of an element or a quoted attribute */
} ng_medium;

/* Print text (null: nothing) so that the medium shows it and does no more. What
 * cannot be shown becomes '?' or, in HTML, U+FFFD. */
void ng_print_escaped(FILE *out, ng_medium medium, const char *text);

#endif
