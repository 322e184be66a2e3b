/* SPDX-License-Identifier: Apache-2.0
 *
 * A host's inside, shared by host.c (plug-ins) and host_exec.c (programs).
 */
#ifndef NG_CONFORMANCE_SUBJECT_HOST_PARTS_H
#define NG_CONFORMANCE_SUBJECT_HOST_PARTS_H

#include <pthread.h>

#include "conformance/subject/host.h"
#include "conformance/subject/host_wire.h"
#include "conformance/subject/process.h"

struct ng_host {
    ng_subject subject;
    char name[2 * NG_HOST_MAX_TEXT * 4];
    char *library;
    double timeout;
    pthread_mutex_t mutex;
    pthread_cond_t turned;
    int64_t turn; /* whose it is; under a mutex of its own: */
    pthread_mutex_t turn_mutex;
    ng_process process;
    int socket, arena_fd;
    char *command; /* of a program; then these are used: */
    int to, from;  /* its standard input and output */
    uint32_t sequence;
    ng_arena *arena;
    size_t arena_bytes;
    ng_host_facts facts;              /* of the first loading */
    char operation[NG_HOST_MAX_TEXT]; /* the one that is counted: */
    int deaths, hangs, all_hangs;
    bool printed; /* it has printed in this operation */
};

/* Start the program of host->command, greet it, and copy what it says of itself
 * to host->arena->facts. Returns false, *verdict set, if it cannot be used. */
bool ng_host_exec_start(ng_host *host, ng_verdict *verdict);

/* Perform one call by request and answer. */
ng_status ng_host_exec_ask(ng_host *host, const ng_call *call,
                           ng_verdict *verdict);

/* Close its pipes. */
void ng_host_exec_close(ng_host *host);

/* Whether "name=value|value" says something: of a rule its values, else types
 * or whole numbers. */
bool ng_host_take_is_known(const char *take);

#endif
