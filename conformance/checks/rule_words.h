/* SPDX-License-Identifier: Apache-2.0
 *
 * What a subject does that follows a rule's value, in words: "ties go away from
 * zero".
 */
#ifndef NG_CONFORMANCE_CHECKS_RULE_WORDS_H
#define NG_CONFORMANCE_CHECKS_RULE_WORDS_H

#include <stddef.h>

#include "formats/rules.h"

/* Write the words for that value of the rule, where `asked` is the value that
 * was asked for (under nearest-even, nearest-away differs in ties alone). */
void ng_rule_words(char *text, size_t size, ng_rule rule, int asked, int value);

#endif
