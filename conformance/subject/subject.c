/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/subject/subject.h"

#include <string.h>

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

static const ng_subject *const subjects[] = {
    &ng_subject_reference,
#ifdef HAVE_MPFR
    &ng_subject_oracle,
#endif
    &ng_subject_cuda_host,
#ifdef HAVE_NVCC
    &ng_subject_cuda,
#endif
#ifdef HAVE_CUDA_HEADERS
    &ng_subject_cuda_headers,
#endif
};

enum { N_SUBJECTS = sizeof subjects / sizeof *subjects };

const ng_subject *ng_subject_at(int i)
{
    return i >= 0 && i < N_SUBJECTS ? subjects[i] : NULL;
}

const ng_subject *ng_subject_find(const char *name)
{
    for (int i = 0; i < N_SUBJECTS; i++)
        if (strcmp(name, subjects[i]->name) == 0)
            return subjects[i];
    return NULL;
}
