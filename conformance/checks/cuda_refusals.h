/* SPDX-License-Identifier: Apache-2.0
 *
 * What the tests of launchers share that need no GPU: the library of kernels,
 * whose launchers (LAUNCHERS, X(name) for each) become cuda_<name>, and calls
 * that must be refused.
 */
#ifndef NG_CONFORMANCE_CHECKS_CUDA_REFUSALS_H
#define NG_CONFORMANCE_CHECKS_CUDA_REFUSALS_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>

#include "formats/status.h"

#define POINTER(name) static __typeof__(&ng_cuda_##name) cuda_##name;
LAUNCHERS(POINTER)

static int failed, refused;

static inline void expect(ng_status got, ng_status want, const char *what)
{
    refused += got != NG_OK;
    if (got == want)
        return;
    fprintf(stderr, "FAIL %s: %s, not %s\n", what, ng_status_text(got),
            ng_status_text(want));
    failed = 1;
}

static inline bool find_launchers(void)
{
    void *library = dlopen("./libnarrowgauge-cuda.so", RTLD_NOW | RTLD_LOCAL);

    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return false;
    }
#define FIND(name)                                             \
    *(void **)&cuda_##name = dlsym(library, "ng_cuda_" #name); \
    if (cuda_##name == NULL) {                                 \
        fprintf(stderr, "no ng_cuda_" #name "\n");             \
        return false;                                          \
    }
    LAUNCHERS(FIND)
    return true;
}

#endif
