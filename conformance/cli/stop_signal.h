/* SPDX-License-Identifier: Apache-2.0
 *
 * SIGINT and SIGTERM of commands that end their work in order.
 */
#ifndef NG_CONFORMANCE_CLI_STOP_SIGNAL_H
#define NG_CONFORMANCE_CLI_STOP_SIGNAL_H

#include <signal.h>

/* Nonzero since the first SIGINT or SIGTERM after ng_stop_catch. */
extern volatile sig_atomic_t ng_stop;

/* From now on the first of these signals asks, the second one kills. */
void ng_stop_catch(void);

#endif
