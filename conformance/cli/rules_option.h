/* SPDX-License-Identifier: Apache-2.0
 *
 * Rules as text: the option --set, and the list in a header or a file.
 */
#ifndef NG_CONFORMANCE_CLI_RULES_OPTION_H
#define NG_CONFORMANCE_CLI_RULES_OPTION_H

#include <stddef.h>

#include "formats/rules.h"

/* Change the rule that "NAME=VALUE" names. Returns NG_BAD_RULES with one line
 * in *error, *rules untouched, if there is no such rule or value. */
ng_status ng_rules_apply(ng_rules *rules, const char *assignment,
                         ng_error *error);

/* Write "rounding=nearest-even overflow=saturate ...": all rules, or those that
 * differ from the default ("" if none does). */
void ng_rules_text(char *text, size_t size, const ng_rules *rules, bool all);

#endif
