/* SPDX-License-Identifier: Apache-2.0
 *
 * Profiles: named sets of rules. The text of each lies in formats/profiles/,
 * a rule a line:
 *
 *     # words for people
 *     version   13.0
 *     source    where the facts come from
 *     e2m1.nan  max
 */
#ifndef NG_FORMATS_PROFILE_H
#define NG_FORMATS_PROFILE_H

#include <stddef.h>

#include "formats/rules.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ng_profile {
    char name[64];
    char version[64];
    char source[256];
    ng_rules rules;
    bool pinned[NG_N_RULES];    /* which rules the profile's text names */
} ng_profile;

/* Parse the text of a profile. where (a file or profile name) opens the error
 * line, which then names the line and the field. Returns NG_BAD_FILE on an
 * unknown or repeated rule, an unknown value, a line without a value, a field
 * too long, or a missing version or source; *profile is then untouched. */
ng_status ng_profile_parse(ng_profile *profile, const char *name,
                           const char *text, size_t size, const char *where,
                           ng_error *error);

/* Load a built-in profile by name, or a file where name holds a '/' or ends in
 * ".profile". Returns NG_BAD_FILE with one line in *error otherwise. */
ng_status ng_profile_load(ng_profile *profile, const char *name,
                          ng_error *error);

/* The built-in profiles by number; null past the last. */
const char *ng_profile_name(int i);

#ifdef __cplusplus
}
#endif

#endif
