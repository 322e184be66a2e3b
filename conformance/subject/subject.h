/* SPDX-License-Identifier: Apache-2.0
 *
 * Something that performs operations and is held against the specification.
 */
#ifndef NG_CONFORMANCE_SUBJECT_SUBJECT_H
#define NG_CONFORMANCE_SUBJECT_SUBJECT_H

#include <stdbool.h>

#include "conformance/subject/bounds.h"
#include "conformance/subject/call.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ng_subject {
    const char *name;
    const char *description;
    bool counts_events;         /* whether call->events is filled */
    bool trusted;               /* one of this project's own two writings */

    /* Whether the subject offers this operation under these rules. A call that
     * it does not cover is counted as such, never as passed. */
    bool (*covers)(const ng_call *call);

    /* Perform the call. Thread-safe. Returns NG_NOT_COVERED as above. */
    ng_status (*run)(const ng_call *call);

    /* Fill bounds[i] of every output i that has arrays there, and leave units
     * that the operation does not write. Returns what run would. Null: the
     * subject derives no bounds (all but the oracle). */
    ng_status (*bounds)(const ng_call *call, ng_bounds *bounds);

    /* Called once before anything else, by one thread; null: nothing to do.
     * Returns NG_NO_DEVICE, a line in *error, where the subject cannot run on
     * this machine, or what else went wrong. */
    ng_status (*open)(ng_error *error);
} ng_subject;

/* This project's reference and its MPFR oracle. */
extern const ng_subject ng_subject_reference;
extern const ng_subject ng_subject_oracle;          /* with MPFR */

/* NVIDIA's conversion headers on the host. */
extern const ng_subject ng_subject_cuda_headers;    /* with the CUDA headers */

/* This project's kernels: on the GPU, and their element functions on the host. */
extern const ng_subject ng_subject_cuda;            /* with nvcc */
extern const ng_subject ng_subject_cuda_host;

/* Find a built-in subject by name. Returns null if this build has none. */
const ng_subject *ng_subject_find(const char *name);

/* The built-in subjects by number; null past the last. */
const ng_subject *ng_subject_at(int i);

#ifdef __cplusplus
}
#endif

#endif
