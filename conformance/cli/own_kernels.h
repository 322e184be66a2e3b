/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels of the user's own for training (ng_own_kernels of backend.h): the
 * operations of subjects, plug-ins in a process of their own as verify has them.
 */
#ifndef NG_CONFORMANCE_CLI_OWN_KERNELS_H
#define NG_CONFORMANCE_CLI_OWN_KERNELS_H

#include "conformance/cli/subject_option.h"
#include "reference/backend.h"

typedef struct ng_own_subjects {
    ng_own_kernels table; /* for the backend */
    double timeout;       /* seconds of a call */
    struct ng_own_subject *subjects;
    struct ng_own_opened *kernels;
    int n_subjects, n_kernels;
} ng_own_subjects;

/* Begin without any; what this returns lives as long as *own. Arrays are the
 * host's, so it is for a backend whose memory is. From one thread. */
const ng_own_kernels *ng_own_subjects_begin(ng_own_subjects *own,
                                            double timeout);

/* End their processes and free all. Zero bytes are allowed. */
void ng_own_subjects_end(ng_own_subjects *own);

#endif
