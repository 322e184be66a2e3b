/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts that the build embeds (build-aux/embed_profiles.sh), sorted by name:
 * the schemas of reports/schema/, by their file's name less ".schema.json", and
 * the style sheet and script of the pages, by their file's name.
 */
#ifndef NG_REPORTS_TEXTS_TABLE_H
#define NG_REPORTS_TEXTS_TABLE_H

#include "formats/profiles_table.h"

extern const ng_embedded ng_schema_texts[];
extern const int ng_n_schema_texts;
extern const ng_embedded ng_asset_texts[];
extern const int ng_n_asset_texts;

#endif
