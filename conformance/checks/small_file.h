/* SPDX-License-Identifier: Apache-2.0
 *
 * A small case as a safetensors file, for `verify --replay FILE`: its inputs by
 * name, dense; in the metadata which case of the suite it was made from, every
 * rule, sizes, attributes, the random stream, and how it failed.
 * docs/subjects.md describes it for those who read one.
 */
#ifndef NG_CONFORMANCE_CHECKS_SMALL_FILE_H
#define NG_CONFORMANCE_CHECKS_SMALL_FILE_H

#include "conformance/checks/small_case.h"

#define NG_SMALL_FORMAT "narrowgauge-case-1"

/* Write it, the folder that path lies in made where it is missing. Returns
 * NG_OK, NG_NO_MEMORY or NG_BAD_FILE with a line in *error. */
ng_status ng_small_write(const char *path, const char *folder,
                         const ng_small *small, const ng_failure *failure,
                         const ng_variant *variant, const ng_profile *profile,
                         ng_error *error);

/* Read one, taken to be hostile: no more is believed than that elements are
 * elements. *profile is overwritten, with every rule of the file pinned; it
 * numbers variants, and *id and *variant go by it. Returns NG_OK, NG_NO_MEMORY,
 * or NG_BAD_FILE with one line in *error, nothing to be freed. */
ng_status ng_small_read(ng_small *small, ng_case_id *id, ng_variant *variant,
                        ng_profile *profile, const char *path, ng_error *error);

#endif
