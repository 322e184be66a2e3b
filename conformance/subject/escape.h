/* SPDX-License-Identifier: Apache-2.0
 *
 * Text from outside (a subject's name, what it printed, a file's metadata) on
 * its way to a terminal, JSON, Markdown, JUnit or HTML.
 */
#ifndef NG_CONFORMANCE_SUBJECT_ESCAPE_H
#define NG_CONFORMANCE_SUBJECT_ESCAPE_H

#include <stddef.h>

/* Copy n bytes into out (of `size` bytes, > 0), ended by a zero. Letters,
 * digits, blanks and harmless marks stay; every other byte, and whatever has a
 * meaning in one of those media (\ ` < > & | * [ ] "), becomes \xNN. So the
 * result is plain text in all of them. Cut text ends in "...". */
void ng_escape(char *out, size_t size, const char *text, size_t n);

#endif
