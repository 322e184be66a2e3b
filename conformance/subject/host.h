/* SPDX-License-Identifier: Apache-2.0
 *
 * A subject that lives in another process: a plug-in (plugin.h), or a program
 * that was started by a command line. One call at a time; a process that died,
 * or had to be killed, is replaced by a fresh one for the next call.
 */
#ifndef NG_CONFORMANCE_SUBJECT_HOST_H
#define NG_CONFORMANCE_SUBJECT_HOST_H

#include "conformance/subject/subject.h"

typedef struct ng_host ng_host;

/* Load a plug-in. timeout: seconds that one call, or loading, may take. Returns
 * null, the reason in *verdict, if it cannot be used. */
ng_host *ng_host_open(const char *library, double timeout, ng_verdict *verdict);

/* Start a program that answers calls on its standard input and output
 * (docs/subjects.md), by a command line for the shell. Otherwise as above. */
ng_host *ng_host_open_command(const char *command, double timeout,
                              ng_verdict *verdict);

/* End its process and free all. Null is allowed. */
void ng_host_close(ng_host *host);

/* The subject to verify; it wants call->foreign. Its name is "NAME VERSION", as
 * the plug-in gives them, escaped. */
const ng_subject *ng_host_subject(const ng_host *host);

/* What a subject does may depend on what it did before, so threads that share
 * one take turns 1, 2, 3 ...: each works on its case, waits for its turn, asks
 * as often as it likes, and ends the turn, asked or not. Null hosts are allowed
 * and cost nothing. */
void ng_host_restart_turns(ng_host *host);
void ng_host_await_turn(ng_host *host, int64_t turn);
void ng_host_end_turn(ng_host *host, int64_t turn);

/* The plug-in's file; null of a program, which is a command line. */
const char *ng_host_library(const ng_host *host);

/* Why operations that want device memory cannot have any, escaped; "" where
 * none does, or all is well. */
const char *ng_host_without_device(const ng_host *host);

/* Whether its operation of that name may be asked for a rule's value: true where
 * its table says nothing of the rule. */
bool ng_host_takes_rule(const ng_host *host, const char *operation,
                        ng_rule rule, int value);

/* The name of its i-th operation, escaped, or null past the last. */
const char *ng_host_operation_name(const ng_host *host, int i);

#endif
