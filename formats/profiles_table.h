/* SPDX-License-Identifier: Apache-2.0
 *
 * The profiles of formats/profiles/ as text, sorted by name. The build writes
 * profiles_table.c from them (build-aux/embed_profiles.sh).
 */
#ifndef NG_FORMATS_PROFILES_TABLE_H
#define NG_FORMATS_PROFILES_TABLE_H

#include <stddef.h>

typedef struct ng_embedded {
    const char *name;   /* the file's, less its suffix */
    const char *text;
    size_t size;        /* bytes of text, its closing zero not counted */
} ng_embedded;

extern const ng_embedded ng_profile_texts[];
extern const int ng_n_profile_texts;

#endif
