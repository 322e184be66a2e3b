/* SPDX-License-Identifier: Apache-2.0
 *
 * Text from outside, before it is believed or shown: whether it is UTF-8, and
 * whether a terminal would show it and do no more.
 */
#ifndef NG_FORMATS_TEXT_H
#define NG_FORMATS_TEXT_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The bytes of the UTF-8 character at text (1 to 4) and its number; 0 where
 * there is none: a stray byte, a surrogate, a form longer than needed. */
int ng_utf8_length(unsigned *character, const char *text);

/* Whether all of a text is UTF-8. */
bool ng_is_utf8(const char *text);

/* Whether a character is shown and does no more: none that steers a terminal
 * (U+0080 to U+009F do as well as those below a blank), ends a line, turns the
 * direction of writing, hides, or is no character at all. */
bool ng_is_plain_character(unsigned character);

/* Whether a text is UTF-8 of such characters. */
bool ng_is_plain_text(const char *text);

/* Make it so, in its own place: a '?' for every other character, and for every
 * byte that is part of none. */
void ng_make_plain_text(char *text);

#ifdef __cplusplus
}
#endif

#endif
