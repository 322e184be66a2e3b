/* SPDX-License-Identifier: Apache-2.0
 *
 * A process of a subject: started fresh (never a bare fork: threads and devices
 * do not survive one), in a group of its own so that nothing of it is left
 * behind, what it prints kept, its end put in words.
 */
#ifndef NG_CONFORMANCE_SUBJECT_PROCESS_H
#define NG_CONFORMANCE_SUBJECT_PROCESS_H

#include <stddef.h>
#include <sys/types.h>

#include "conformance/subject/verdict.h"

/* What came out of one of its descriptors. */
typedef struct ng_captured {
    int fd;   /* our end; -1: none */
    size_t n; /* bytes kept: the first ones */
    char text[512];
} ng_captured;

typedef struct ng_process {
    pid_t pid;                  /* 0: there is none */
    unsigned long long since;   /* started not before (orphans.h) */
    ng_captured output, errors; /* standard output (unless given), and error */
} ng_process;

/* A descriptor of ours that the process gets, and the number it has there. */
typedef struct ng_process_fd {
    int ours, theirs;
} ng_process_fd;

/* Start program (a path, argv[0] separately) with /dev/null as its standard
 * input unless one of the n descriptors is that; with its standard output
 * captured, unless likewise. n is at most 3. Returns 0, or an errno. */
int ng_process_start(ng_process *process, const char *program,
                     char *const argv[], const ng_process_fd *fds, int n);

typedef enum ng_process_event {
    NG_PROCESS_READY, /* fd can be read, or written */
    NG_PROCESS_LATE,  /* the deadline has passed */
    NG_PROCESS_ENDED  /* fd is closed at the other end, or the process
                         is gone and there is nothing left to read */
} ng_process_event;

/* Wait for fd to be readable (or writable), and keep what is printed meanwhile.
 * deadline is of ng_process_now. */
ng_process_event ng_process_wait(ng_process *process, int fd, bool to_write,
                                 double deadline);

/* Read what has been printed so far. */
void ng_process_drain(ng_process *process);

/* Seconds of the monotonic clock. */
double ng_process_now(void);

/* Make an end of it, if it has not come to one within `grace` seconds, and say
 * how it ended: crashed or exited; with what it wrote on standard error last.
 * verdict may be null. */
void ng_process_end(ng_process *process, double grace, ng_verdict *verdict);

#endif
