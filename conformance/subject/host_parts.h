/* SPDX-License-Identifier: Apache-2.0
 *
 * A host's inside, shared by host.c (the subject), host_call.c (one call of a
 * plug-in), host_process.c (its process) and host_exec*.c (a program).
 */
#ifndef NG_CONFORMANCE_SUBJECT_HOST_PARTS_H
#define NG_CONFORMANCE_SUBJECT_HOST_PARTS_H

#include <pthread.h>

#include "conformance/subject/host.h"
#include "conformance/subject/host_wire.h"
#include "conformance/subject/process.h"
#include "formats/files/tensor_file.h"

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
    char without_device[200];         /* why, if so; escaped */
    char operation[NG_HOST_MAX_TEXT]; /* the one that is counted: */
    int deaths, hangs, all_hangs;
    bool printed; /* it has printed in this operation */
};

/* Make the memory that both sides see, large enough for its header, or make it
 * hold `wanted` bytes. Returns false, errno set, where the system refuses. */
bool ng_host_make_arena(ng_host *host);
bool ng_host_grow_arena(ng_host *host, size_t wanted);

/* Start the subject's process, or its program, and have it load. Returns false,
 * *verdict set, if it cannot be used. */
bool ng_host_start(ng_host *host, ng_verdict *verdict);

/* Wait for the answer to message `sequence`. Returns false, *verdict set, if
 * none came in time or the process is gone; it is ended then. */
bool ng_host_receive(ng_host *host, ng_wire_answer *answer, uint32_t sequence,
                     ng_verdict *verdict);

/* The process is gone, or is made to be after `grace` seconds: how it ended and
 * where it was go to *verdict, which may be null. */
void ng_host_end(ng_host *host, double grace, ng_verdict *verdict);

/* Set a verdict of the environment: "WHAT: " and the words for an errno. */
void ng_host_environment(ng_verdict *verdict, const char *what, int number);

/* Start the program of host->command, greet it, and copy what it says of itself
 * to host->arena->facts. Returns false, *verdict set, if it cannot be used. */
bool ng_host_exec_start(ng_host *host, ng_verdict *verdict);

/* Read the answer to the greeting. Returns false, *verdict set, for a bad one. */
bool ng_host_exec_facts(ng_host_facts *facts, const ng_tensor_file *answer,
                        ng_verdict *verdict);

/* Perform one call: of a plug-in by the arena, of a program by ng_host_exec_ask.
 * The process is started if there is none. Returns what the subject did, NG_OK or
 * the refusal that was expected; or NG_NOT_COVERED, *verdict set. It may be set
 * beside NG_OK too: a write outside, or text on standard output. */
ng_status ng_host_ask(ng_host *host, const ng_call *call,
                      const ng_host_operation *operation, ng_verdict *verdict);

/* Perform one call by request and answer. */
ng_status ng_host_exec_ask(ng_host *host, const ng_call *call,
                           ng_verdict *verdict);

/* Close its pipes. */
void ng_host_exec_close(ng_host *host);

/* Whether "name=value|value" says something: of a rule its values, else types
 * or whole numbers. */
bool ng_host_take_is_known(const char *take);

#endif
