/* SPDX-License-Identifier: Apache-2.0
 *
 * The other side of a host: the process that has the plug-in.
 */
#ifndef NG_CONFORMANCE_SUBJECT_HOST_CHILD_H
#define NG_CONFORMANCE_SUBJECT_HOST_CHILD_H

/* What `narrowgauge subject-process LIBRARY` does, with a socket and the arena
 * as descriptors (host_wire.h): load the library, then answer calls until the
 * socket closes. Returns the exit status. */
int ng_host_child(const char *library);

#endif
