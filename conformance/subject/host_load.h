/* SPDX-License-Identifier: Apache-2.0
 *
 * A plug-in's table, read by the process that has opened it. Nothing in it is
 * believed: counts and lengths are checked, and what cannot be checked (a
 * pointer) at worst ends this process.
 */
#ifndef NG_CONFORMANCE_SUBJECT_HOST_LOAD_H
#define NG_CONFORMANCE_SUBJECT_HOST_LOAD_H

#include "conformance/subject/host_wire.h"
#include "conformance/subject/plugin.h"

/* The table of the library that was loaded. */
extern ng_plugin_table ng_host_table;

/* Open the library and copy what it says of itself to *facts. Returns
 * NG_LOADED, or another of host_wire.h with one line in text. */
int32_t ng_host_load(ng_host_facts *facts, char *text, size_t size,
                     const char *library);

#endif
