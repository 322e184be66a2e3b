/* SPDX-License-Identifier: Apache-2.0
 *
 * What a subject outside of this process did instead of answering, or beside.
 */
#ifndef NG_CONFORMANCE_SUBJECT_VERDICT_H
#define NG_CONFORMANCE_SUBJECT_VERDICT_H

#include <stdbool.h>

typedef enum ng_verdict_kind {
    NG_VERDICT_NONE,
    /* It cannot be used. */
    NG_VERDICT_NOT_LOADED, /* no file, no library, symbols missing */
    NG_VERDICT_NO_ENTRY,   /* no function ng_plugin */
    NG_VERDICT_WRONG_ABI,
    NG_VERDICT_BAD_TABLE,  /* what it says of itself makes no sense */
    NG_VERDICT_CANNOT_RUN, /* it says: not on this machine */
    /* It failed in a call. */
    NG_VERDICT_CRASHED,
    NG_VERDICT_HUNG,
    NG_VERDICT_EXITED,
    NG_VERDICT_FAILED,     /* it says so itself */
    NG_VERDICT_REFUSED,    /* good input, within its limits */
    NG_VERDICT_LACKS,      /* an operation that its table lists */
    NG_VERDICT_BAD_STATUS, /* it returned, or sent, what means nothing */
    /* It answered, and did harm. */
    NG_VERDICT_OUTSIDE, /* it wrote outside of its buffers */
    NG_VERDICT_INPUT,   /* it wrote to an input */
    NG_VERDICT_PRINTED, /* it printed on standard output */
    /* Not its fault. */
    NG_VERDICT_GIVEN_UP,    /* it failed too often before: not asked */
    NG_VERDICT_ENVIRONMENT, /* no memory, no process to be had */
    NG_N_VERDICTS
} ng_verdict_kind;

typedef struct ng_verdict {
    ng_verdict_kind kind;
    char text[256]; /* a phrase, escaped (escape.h): "crashed: ..." */
} ng_verdict;

/* "crashed", "hung" ...: the keys of a report; never null. */
const char *ng_verdict_name(ng_verdict_kind kind);

/* Whether the subject failed to run (exit status 3), rather than gave a wrong
 * result (1). */
bool ng_verdict_is_failure(ng_verdict_kind kind);

/* Set a verdict; printf-style text, which names the kind. */
void ng_verdict_set(ng_verdict *verdict, ng_verdict_kind kind,
                    const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
