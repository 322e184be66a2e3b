/* SPDX-License-Identifier: Apache-2.0
 *
 * Parts of the program that are opened on demand: shared objects beside it (as
 * built, or in a bundle), or where they were installed.
 */
#ifndef NG_CONFORMANCE_CLI_MODULE_H
#define NG_CONFORMANCE_CLI_MODULE_H

#include <stddef.h>

/* Open a module by its file's name, with dlopen's flags. The path it was opened
 * by goes to path (at least PATH_MAX bytes; may be null). Returns null, dlerror
 * set, if it is in none of those places. */
void *ng_module_open(const char *name, int flags, char *path, size_t size);

#endif
