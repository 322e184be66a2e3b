/* SPDX-License-Identifier: Apache-2.0
 *
 * From a plug-in's call back to this project's own: for plug-ins made of the
 * reference.
 */
#ifndef NG_CONFORMANCE_FAULTS_PLUGIN_CALL_H
#define NG_CONFORMANCE_FAULTS_PLUGIN_CALL_H

#include "conformance/subject/call.h"
#include "conformance/subject/plugin.h"

/* Returns false where the call is none that this project makes. */
bool ng_plugin_call_read(ng_call *call, const ng_plugin_call *from);

#endif
