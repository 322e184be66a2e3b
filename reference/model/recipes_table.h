/* SPDX-License-Identifier: Apache-2.0
 *
 * The recipes of configs/recipes/ as text, sorted by name. The build writes
 * recipes_table.c from them (build-aux/embed_profiles.sh).
 */
#ifndef NG_REFERENCE_MODEL_RECIPES_TABLE_H
#define NG_REFERENCE_MODEL_RECIPES_TABLE_H

#include "formats/profiles_table.h"

extern const ng_embedded ng_recipe_texts[];
extern const int ng_n_recipe_texts;

#endif
